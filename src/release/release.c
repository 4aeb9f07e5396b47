/*
 * The release, on one screen: read `run` below.
 *
 *   parse -> policy -> normalise -> bound -> keys -> choose -> quote
 *     everything that can fail for public reasons fails here, uncharged;
 *   load
 *     files that are no database (malformed) fail here, uncharged, with one
 *     fixed message: no neighbouring database has such a file;
 *   hold -> check constraints -> evaluate -> draw -> commit
 *     PRIVACY: from here on a failure may depend on private rows. It is one
 *     fixed message, it is charged, and its reason goes to the owner's log.
 *
 * With --deadline the hold comes before the load, and the commit and the
 * answer (or the fixed failure) when the deadline passes, not before, so
 * their times say nothing. docs/threat-model.md.
 */
#include "release/release.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "release/answer.h"
#include "release/evaluate.h"

struct release {
    struct session *session;
    struct prepared p;
    struct group_keys keys;
    struct choice choice;
    struct ledger *ledger;
    struct ledger_request request;
    struct evaluated data;
    struct answer answer;
};

/* --- before the hold ------------------------------------------------------ */

static enum status open_ledger(struct release *r, struct err *err)
{
    const struct options *o = &r->session->opt;
    if (r->choice.exact)
        return OK;
    if (!o->ledger.n) {
        err_set(err, E_USAGE, "no ledger was given");
        err_hint(err, "Name it with --ledger FILE; the owner makes it with: "
                      "dpcount budget init --ledger FILE --epsilon E");
        return E_USAGE;
    }
    TRY(ledger_open(&r->session->mem, o->ledger.p, &r->ledger, err));
    TRY(ledger_balance(r->ledger, o->dataset, o->analyst, &r->answer.balance,
                       err));
    if (r->answer.balance.composition == COMPOSE_SUM)
        choose_price_for_sums(&r->choice);
    return OK;
}

static void print_found(struct sb *b, const struct release *r)
{
    sb_cstr(b, "; groups found, one-sided ");
    sb_u128(b, r->p.bound.upper);
    sb_cstr(b, ", threshold ");
    char *text =
        arena_alloc(b->arena, mpz_sizeinbase(r->choice.threshold, 10) + 2);
    if (!text) {
        b->failed = true;
        return;
    }
    sb_cstr(b, mpz_get_str(text, 10, r->choice.threshold));
    for (size_t c = 0; c < r->keys.n_cols; c++)
        for (size_t i = 0; i < r->keys.only[c].n; i++) {
            if (i)
                sb_cstr(b, ", ");
            else /* which column: the same list may be of another */
                sb_printf(b, "; key %zu among ", c + 1);
            value_print(b, &r->keys.only[c].vals[i]);
        }
}

/* Everything that decides the law of the answer, so that a stored answer is
 * given again only for the very same question. */
static struct str settings(struct release *r)
{
    struct sb b;
    const struct choice *c = &r->choice;
    sb_init(&b, &r->p.arena);
    sb_str(&b, prepare_neighbours_text(&r->p));
    sb_cstr(&b, "; sensitivity ");
    if (c->noise.smooth) {
        sb_cstr(&b, "residual, beta ");
        rat_print(&b, c->beta);
        sb_cstr(&b, r->p.filters_exact ? ", filters exact" : "");
        sb_cstr(&b, ", error estimate ");
        rat_print(&b, c->error_epsilon);
    } else {
        sb_u128(&b, r->p.bound.l1_upper);
    }
    for (size_t i = 0; i < r->keys.n * r->keys.n_cols; i++) {
        sb_cstr(&b, i ? ", " : "; groups ");
        value_print(&b, &r->keys.vals[i]);
    }
    if (r->keys.found)
        print_found(&b, r);
    for (size_t t = 0; t < r->p.schema.tables.n; t++) {
        const struct table *d = &r->p.schema.tables.p[t];
        for (size_t i = 0; i < d->degrees.n; i++) {
            sb_cstr(&b, "; ");
            degree_print(&b, d, &d->degrees.p[i]);
        }
    }
    sb_cstr(&b, "; ");
    cq_print(&b, r->p.normal);
    return b.failed ? (struct str){0} : sb_view(&b);
}

static enum status make_request(struct release *r, struct err *err)
{
    const struct options *o = &r->session->opt;
    r->request = (struct ledger_request){
        .dataset = o->dataset,
        .analyst = o->analyst,
        .query = cq_text(&r->p.arena, r->p.query),
        .mechanism = str_of(noise_name(r->choice.noise.kind)),
        .settings = settings(r),
        .version = source_version(r->p.source, &r->p.arena),
    };
    return r->request.query.p && r->request.settings.p ? OK : err_nomem(err);
}

static enum status stored_answer(struct release *r, bool *out_found,
                                 struct err *err)
{
    struct str text, receipt;
    *out_found = false;
    if (r->session->opt.fresh || r->choice.exact)
        return OK;
    TRY(ledger_find(r->ledger, &r->p.arena, &r->request, &r->choice.price,
                    &text, &receipt, err));
    if (!text.p)
        return OK;
    TRY(answer_read(&r->p.arena, text, &r->answer, err));
    size_t n = r->keys.found         ? r->answer.keys.n
               : r->p.query->n_group ? r->keys.n
                                     : 1;
    if (r->answer.numbers.n != n || (r->answer.keys.n && !r->keys.found))
        return err_set(err, E_LEDGER,
                       "the ledger holds an answer to another question");
    r->answer.receipt = receipt;
    r->answer.repeated = true;
    *out_found = true;
    return OK;
}

/* --- after the hold ------------------------------------------------------- */

static enum status push_number(struct release *r, mpz_srcptr v, struct err *err)
{
    struct arena *a = &r->p.arena;
    char *text = arena_alloc(a, mpz_sizeinbase(v, 10) + 2);
    if (!text)
        return err_nomem(err);
    mpz_get_str(text, 10, v);
    return VEC_PUSH(a, &r->answer.numbers, str_of(text)) ? OK : err_nomem(err);
}

static enum status draw_number(struct release *r, u128 count,
                               const struct secret_rat *s, struct entropy *rng,
                               mpz_t out, struct err *err)
{
    struct secret_int n;
    secret_int_init(&n);
    secret_int_set_u128(&n, count);
    enum status st = OK;
    if (r->choice.exact)
        mpz_set(out, secret_int_open(&n));
    else
        st = noise_answer(&r->choice.noise, &n, s, rng, out, err);
    secret_int_fini(&n);
    return st;
}

static enum status draw_one(struct release *r, u128 count,
                            const struct secret_rat *s, struct entropy *rng,
                            struct err *err)
{
    mpz_t out;
    mpz_init(out);
    enum status st = draw_number(r, count, s, rng, out, err);
    if (st == OK)
        st = push_number(r, out, err);
    mpz_clear(out);
    return st;
}

/* --- keys that are found in the data (PROOF.md) --------------------------- */

enum { KEYS_PER_POLL = 1024 };

static enum status push_key(struct release *r, const struct value *vals,
                            struct err *err)
{
    struct sb b;
    struct json j;
    sb_init(&b, &r->p.arena);
    json_init(&j, &b);
    json_key_values(&j, vals, r->keys.n_cols);
    if (b.failed || !VEC_PUSH(&r->p.arena, &r->answer.keys, sb_view(&b)))
        return err_nomem(err);
    return OK;
}

/* How many keys there are is secret, so drawing ends at the deadline too. */
static enum status in_time(struct release *r, struct err *err)
{
    return session_cancelled(r->session)
               ? err_set(err, E_CANCELLED, "cancelled")
               : OK;
}

/* PRIVACY: a key is shown only if its noisy count reaches the threshold. The
 * draw comes first and is the same for every key. */
static enum status draw_found(struct release *r, const struct found_keys *keys,
                              struct entropy *rng, struct err *err)
{
    mpz_t out;
    enum status st = OK;
    mpz_init(out);
    for (size_t i = 0; st == OK && i < keys->list.n; i++) {
        const struct found_key *k = &keys->list.p[i];
        if (i % KEYS_PER_POLL == 0)
            st = in_time(r, err);
        if (st == OK)
            st = draw_number(r, k->count, NULL, rng, out, err);
        if (st != OK ||
            (r->choice.thresholded && mpz_cmp(out, r->choice.threshold) < 0))
            continue;
        st = push_key(r, k->vals, err);
        if (st == OK)
            st = push_number(r, out, err);
    }
    mpz_wipe_clear(out);
    answer_public_error(&r->choice, &r->answer);
    return st;
}

static enum status evaluate_keys(struct release *r, struct err *err)
{
    struct found_keys keys = {0};
    struct entropy *rng = NULL;
    struct arena a; /* given back before the deadline */
    TRY(evaluate_valid(&r->p, &r->data, err));
    arena_init(&a, &r->session->mem);
    a.wipe = true;
    enum status st = evaluate_found(&r->p, &r->data, &r->keys, &a, &keys, err);
    if (st == OK)
        st = entropy_open(&rng, err);
    if (st == OK)
        st = draw_found(r, &keys, rng, err);
    entropy_close(rng);
    arena_fini(&a);
    return st;
}

/* --- keys that are public, or none ---------------------------------------- */

/* Everything secret is computed before the first random bit is used. */
static enum status draw(struct release *r, const u128 *counts, size_t n,
                        struct secret_rat *s, struct secret_rat *s_error,
                        struct entropy *rng, struct err *err)
{
    const struct choice *c = &r->choice;
    bool smooth = c->noise.smooth, estimate = mpq_sgn(c->error_epsilon) != 0;
    if (smooth)
        TRY(evaluate_smooth(&r->p, &r->data, c->beta, c->factor, s, err));
    if (smooth && estimate)
        TRY(evaluate_smooth(&r->p, &r->data, c->error_beta, c->factor, s_error,
                            err));
    for (size_t i = 0; i < n; i++)
        TRY(draw_one(r, counts[i], smooth ? s : NULL, rng, err));
    if (!smooth)
        answer_public_error(c, &r->answer);
    else if (estimate)
        TRY(answer_estimate_error(c, s_error, rng, &r->answer, err));
    return OK;
}

static enum status evaluate(struct release *r, struct err *err)
{
    size_t n = r->p.query->n_group ? r->keys.n : 1;
    struct secret_rat s, s_error;
    struct entropy *rng = NULL;
    u128 *counts = NEWS(&r->p.arena, u128, n + 1);
    if (!counts)
        return err_nomem(err);
    TRY(evaluate_valid(&r->p, &r->data, err));
    TRY(evaluate_join(&r->p, r->p.normal, &r->data, err));
    if (r->choice.noise.smooth)
        TRY(evaluate_prepare(&r->p, &r->data, err));
    TRY(evaluate_counts(&r->p, &r->data, &r->keys, counts, err));
    TRY(entropy_open(&rng, err));
    secret_rat_init(&s);
    secret_rat_init(&s_error);
    enum status st = draw(r, counts, n, &s, &s_error, rng, err);
    secret_rat_fini(&s);
    secret_rat_fini(&s_error);
    entropy_close(rng);
    return st;
}

/* --- failures ------------------------------------------------------------- */

static void log_for_owner(const struct session *s, struct str receipt,
                          const struct err *e)
{
    if (!s->opt.owner_log.n)
        return;
    int fd = open(s->opt.owner_log.p,
                  O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    dprintf(fd, "%.*s: %s: %s. %s\n", PSTR(receipt), status_code(e->status),
            e->message, e->detail);
    close(fd);
}

static void log_engine(const struct release *r)
{
    struct err note = {.status = OK};
    snprintf(note.message, sizeof note.message, "auto chose the engine %s",
             evaluated_engine(&r->data));
    log_for_owner(r->session, r->answer.receipt, &note);
}

/* PRIVACY: one text for every reason. */
static enum status withhold(struct release *r, const struct err *why,
                            struct err *err)
{
    log_for_owner(r->session, r->answer.receipt, why);
    err_set(err, E_WITHHELD, "the release failed after it was charged");
    err_detail(err,
               "The reason may depend on private rows, so it is not "
               "shown. Receipt %.*s.",
               PSTR(r->answer.receipt));
    err_hint(err, "The owner finds it in the file of --owner-log, or with "
                  "dpcount check.");
    return E_WITHHELD;
}

/* Is what stopped the loading a property of the files rather than of a
 * database in them? */
static bool not_a_database(enum status s)
{
    return s == E_SOURCE || s == E_DATA || s == E_NAME || s == E_TYPE ||
           s == E_SYNTAX || s == E_UNSUPPORTED;
}

static enum status refuse_load(struct release *r, const struct err *why,
                               struct err *err)
{
    log_for_owner(r->session, STR("not charged"), why);
    if (status_visibility(why->status) == ANALYST) {
        *err = *why;
        return why->status;
    }
    err_set(err, why->status, "the data could not be read");
    err_detail(err, "A file is malformed. Nothing was charged.");
    err_hint(err, "The owner finds the place with dpcount check.");
    return why->status;
}

/* --- the pipeline --------------------------------------------------------- */

/* PRIVACY: everything whose time depends on rows is done before, giving back
 * their memory included. */
static void wait_for_deadline(struct session *s)
{
    struct timespec until = {.tv_sec = (time_t)(s->deadline_ns / 1000000000),
                             .tv_nsec = s->deadline_ns % 1000000000};
    if (s->deadline_ns)
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) ==
               EINTR)
            ;
    s->deadline_ns = 0;
}

static enum status quote(struct release *r, struct str text, struct err *err)
{
    TRY(prepare_schema(&r->p, SOURCE_REQUIRED, err));
    TRY(prepare_query(&r->p, text, err));
    TRY(prepare_bound(&r->p, false, err));
    TRY(group_keys(&r->p, &r->keys, err));
    TRY(choose(&r->p, &r->keys, &r->choice, err));
    TRY(open_ledger(r, err));
    return make_request(r, err);
}

static enum status hold(struct release *r, struct err *err)
{
    if (r->choice.exact)
        return OK;
    return ledger_hold(r->ledger, &r->p.arena, &r->request, &r->choice.price,
                       &r->answer.receipt, err);
}

static enum status commit(struct release *r, struct err *err)
{
    struct str text;
    if (r->choice.exact)
        return OK;
    TRY(answer_write(&r->p.arena, &r->answer, &text, err));
    return ledger_commit(r->ledger, r->answer.receipt, text, err);
}

/* An exact answer that private tables take part in: no row of them changes
 * it, and without rows it is 0. PRIVACY: they are not read, for a failure
 * while reading would be an answer that nobody paid for. */
static enum status constant_answer(struct release *r, bool *out_found,
                                   struct err *err)
{
    const struct cq *q = r->p.query;
    size_t n = q->n_group ? r->keys.n : 1;
    *out_found = r->choice.exact && cq_private_atoms(q);
    for (size_t i = 0; *out_found && i < n; i++)
        if (!VEC_PUSH(&r->p.arena, &r->answer.numbers, STR("0")))
            return err_nomem(err);
    if (*out_found)
        answer_public_error(&r->choice, &r->answer);
    return OK;
}

/* Load and hold. PRIVACY: anybody can see in the ledger when a charge was
 * made. With a deadline it is made before loading, whose time depends on rows,
 * and then pays for files that are no database too. *s: how the loading
 * ended. */
static enum status load_and_hold(struct release *r, enum status *s,
                                 struct err *why, struct err *err)
{
    bool early = r->session->deadline_ns && !r->choice.exact;
    *s = evaluate_engine(&r->p, r->p.query, &r->data, why);
    if (early && *s == OK)
        TRY(hold(r, err));
    if (*s == OK)
        *s = evaluate_load(&r->p, r->p.query, &r->data, why);
    if (!r->answer.receipt.n && not_a_database(*s))
        return refuse_load(r, why, err);
    return r->answer.receipt.n ? OK : hold(r, err);
}

static enum status run(struct release *r, struct str text, struct err *err)
{
    struct err why;
    enum status s;
    bool found;
    TRY(quote(r, text, err));
    TRY(stored_answer(r, &found, err));
    if (!found)
        TRY(constant_answer(r, &found, err));
    if (found)
        return OK;
    if (!r->choice.exact)
        TRY(ledger_afford(r->ledger, &r->request, &r->choice.price, err));
    TRY(load_and_hold(r, &s, &why, err));
    /* PRIVACY: nothing below is uncharged, and nothing is drawn above. */
    if (s == OK && str_is(r->session->opt.engine, "auto"))
        log_engine(r);
    if (s == OK)
        s = r->keys.found ? evaluate_keys(r, &why) : evaluate(r, &why);
    evaluated_fini(&r->data);
    wait_for_deadline(r->session); /* the ledger tells when the commit was */
    if (s == OK)
        s = commit(r, &why);
    return s == OK ? OK : withhold(r, &why, err);
}

/* --- around it ------------------------------------------------------------ */

static enum status read_deadline(struct session *s, struct err *err)
{
    struct timespec now;
    mpq_t v;
    struct str text = s->opt.deadline;
    s->deadline_ns = 0;
    if (!text.n)
        return OK;
    mpq_init(v);
    enum status st = rat_read(text, "deadline", v, err);
    double seconds = mpq_get_d(v); /* display: no privacy hangs on it */
    mpq_clear(v);
    TRY(st);
    if (!(seconds > 0 && seconds <= 86400))
        return err_set(err, E_VALUE,
                       "the deadline must be a number of seconds up to 86400");
    clock_gettime(CLOCK_MONOTONIC, &now);
    s->deadline_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec +
                     (int64_t)(seconds * 1e9);
    return OK;
}

/* The answer is paid for and stored: that the balance cannot be read now does
 * not take it away. */
static void budget_now(struct release *r)
{
    struct err why;
    r->answer.has_balance =
        r->ledger &&
        ledger_balance(r->ledger, r->request.dataset, r->request.analyst,
                       &r->answer.balance, &why) == OK;
}

static enum status timed(struct release *r, struct str text, struct err *err)
{
    TRY(read_deadline(r->session, err));
    enum status s = run(r, text, err);
    if (s == OK)
        budget_now(r);
    return s;
}

enum status ask_release(struct session *s, struct str query, struct result *out,
                        struct err *err)
{
    struct release r = {.session = s};
    prepared_init(&r.p, s);
    s->discreet = true;
    r.p.arena.wipe = true;
    choice_init(&r.choice);
    balance_init(&r.answer.balance);
    enum status st = timed(&r, query, err);
    if (st == OK)
        report_release(&r.p, &r.choice, &r.keys, &r.answer, out);
    evaluated_fini(&r.data);
    ledger_close(r.ledger);
    balance_fini(&r.answer.balance);
    choice_fini(&r.choice);
    prepared_fini(&r.p);
    wait_for_deadline(s);
    s->discreet = false;
    return st;
}
