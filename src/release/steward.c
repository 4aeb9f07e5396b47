/* The process that asks: see steward.h. */
#include "release/steward.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "release/row_engine.h"
#include "release/post.h"
#include "release/release.h"
#include "release/release_int.h"

/* Idle children; and one ends, with whatever it has gathered. */
enum { STAYING = 8, ANSWERS = 2000 };

struct steward {
    const struct prepared *base;
    int engine;              /* descriptor; 0: none */
    struct kept_ledger kept; /* in each child */
    void *known; /* shared with all children: fingerprints (validity.h) */
};

/* PRIVACY: what the helpers share says what is durable and what was checked;
 * no process that has rows can write there. */
static void share(const struct steward *st, bool yes)
{
    ledger_group_inherit(st->kept.group, yes);
    validity_known_inherit(st->known, yes);
}

/* --- in the steward ------------------------------------------------------- */

/* False: there is another one, which the children do not know. */
static bool keep_engine(void *ctx, struct str request)
{
    struct steward *st = ctx;
    struct err why;
    (void)request;
    if (post_alive(st->engine))
        return true;
    if (st->engine > 0)
        close(st->engine);
    share(st, false);
    if (engine_start(st->base, &st->engine, &why) != OK)
        st->engine = 0; /* then each worker loads for itself */
    share(st, true);
    return false;
}

static struct child_limits limits(void *ctx, struct str request)
{
    (void)ctx;
    (void)request;
    return (struct child_limits){.detached = true};
}

static enum status ask_with(struct session *s, struct bytes *b,
                            struct result *r, struct str *out, struct err *err)
{
    struct sb bytes;
    TRY(option_read(&s->opt, b, err));
    struct str query = bytes_str(b);
    r->error_columns = bytes_u64(b);
    if (b->failed)
        return err_internal(err, "steward: a question that is not whole");
    TRY(ask_release(s, query, r, err));
    sb_init(&bytes, &s->arena);
    result_write(&bytes, r);
    *out = sb_view(&bytes);
    return bytes.failed || result_failed(r) ? err_nomem(err) : OK;
}

static enum status answer_question(struct session *s, struct bytes *b,
                                   struct str *out, struct err *err)
{
    struct result *r = result_new();
    enum status st = r ? ask_with(s, b, r, out, err) : err_nomem(err);
    result_free(r);
    return st;
}

static enum status answer_as(struct session *s, struct steward *st,
                             struct str request, int asker, struct str *out,
                             struct err *err)
{
    unsigned threads;
    s->opt = st->base->session->opt;
    s->base = st->base;
    s->engine = st->engine;
    s->asker = asker;
    s->detached = true;
    s->kept = &st->kept;
    s->known = st->known;
    TRY(session_limits(s, &threads, err));
    struct bytes b = {&s->arena, request, false};
    return answer_question(s, &b, out, err);
}

/* In a child that answers many: what this question took is given back, but for
 * the message, which the request's arena takes. */
static enum status answer(void *ctx, struct arena *a, struct str request,
                          int asker, struct str *out, struct err *err)
{
    struct session *s = NULL;
    struct str text = {0};
    TRY(session_new(&s, err));
    s->arena.wipe = true;
    share(ctx, false); /* its own children are workers */
    enum status r = answer_as(s, ctx, request, asker, &text, err);
    if (r == OK && !(*out = str_copy(a, text)).p)
        r = err_nomem(err);
    session_free(s);
    return r;
}

enum status steward_start(const struct prepared *base, int *out,
                          struct err *err)
{
    struct steward *st = NEW(base->schema.arena, struct steward);
    if (!st)
        return err_nomem(err);
    st->base = base;
    st->known = validity_known_new();
    mem_init(&st->kept.mem, 0);
    st->kept.group = ledger_group_new();
    struct post_server s = {.name = "dpcount-steward",
                            .ctx = st,
                            .prepare = keep_engine,
                            .limits = limits,
                            .answer = answer,
                            .keep = &st->engine,
                            .n_keep = 1,
                            .staying = STAYING,
                            .answers = ANSWERS};
    enum status r = post_start(&s, out, err);
    validity_known_free(st->known); /* the steward has them */
    ledger_group_free(st->kept.group);
    return r;
}

/* --- in the program ------------------------------------------------------- */

static int go_on(void *session)
{
    return session_cancelled(session) ? -1 : 100;
}

static enum status ask(struct session *s, struct str query, struct result *out,
                       struct arena *a, struct err *err)
{
    struct sb b;
    struct str bytes;
    struct child_limits l = {
        .most = SIZE_MAX / 2, .wait = go_on, .ctx = s, .detached = true};
    sb_init(&b, a);
    option_write(&b, &s->opt);
    bytes_put_str(&b, query);
    bytes_put_u64(&b, out->error_columns);
    if (b.failed)
        return err_nomem(err);
    enum status st = post_ask(s->steward, a, sb_view(&b), &l, &bytes, err);
    if (st == E_CANCELLED || st == E_CHILD)
        return release_detached(err);
    return st == OK ? result_read(out, bytes, err) : st;
}

enum status steward_release(struct session *s, struct str query,
                            struct result *out, struct err *err)
{
    struct arena a;
    arena_init(&a, &s->mem);
    session_begin(s);
    s->discreet = true;
    enum status st = ask(s, query, out, &a, err);
    s->discreet = false;
    arena_fini(&a);
    return st;
}
