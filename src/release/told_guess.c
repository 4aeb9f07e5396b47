/*
 * --guess earlier: a threshold that an earlier answer told this analyst, for a
 * question of the same form, which is the query with other constants. It is
 * public to them, so that it costs nothing. PRIVACY: taken from released
 * answers alone, of this analyst alone.
 */
#include "release/release_int.h"

#include <ctype.h>

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' ||
           ((unsigned char)c & 0x80);
}

/* The end of a quoted text that begins at i; '' inside is a quote. */
static size_t skip_text(struct str s, size_t i)
{
    char quote = s.p[i++];
    for (; i < s.n; i++)
        if (s.p[i] == quote && (i + 1 == s.n || s.p[++i] != quote))
            return s.p[i - 1] == quote ? i : i + 1;
    return s.n;
}

/* The query's text with ? for every constant. */
static struct str form_of(struct arena *a, struct str s)
{
    struct sb b;
    sb_init(&b, a);
    for (size_t i = 0; i < s.n;) {
        size_t start = i;
        bool quoted = s.p[i] == '\'' || s.p[i] == '"';
        if (quoted)
            i = skip_text(s, i);
        else if (in_word(s.p[i]))
            while (i < s.n && in_word(s.p[i]))
                i++;
        else
            i++;
        if (s.p[start] == '\'' || isdigit((unsigned char)s.p[start]))
            sb_char(&b, '?');
        else
            sb_add(&b, s.p + start, i - start);
    }
    return b.failed ? (struct str){0} : sb_view(&b);
}

struct telling {
    struct release *r;
    struct str form;
    uint32_t scale; /* of a sum: thresholds are in units of its last digit */
    u128 told;
};

static enum status look_at(void *ctx, const struct ledger_entry *e,
                           struct err *err)
{
    struct telling *x = ctx;
    struct arena *a = &x->r->p.arena;
    struct answer answer = {0};
    u128 t;
    if (!e->committed || !str_is(e->mechanism, "election") ||
        !str_eq(e->analyst, x->r->session->opt.analyst))
        return OK;
    struct str form = form_of(a, e->query);
    if (!form.p)
        return err_nomem(err);
    if (!str_eq(form, x->form))
        return OK;
    TRY(answer_read(a, e->answer, &answer, err));
    u128 most = 0;
    for (size_t i = 0; i < answer.thresholds.n; i++)
        if (u128_read(answer.thresholds.p[i].p, answer.thresholds.p[i].n, &t) &&
            t > most)
            most = t;
    for (uint32_t i = 0; i < x->scale; i++)
        most = most / 10 + (most % 10 > 0);
    x->told = most ? most : x->told; /* the newest */
    return OK;
}

/* The largest over the counts of the request. */
static enum status look_back(struct release *r, struct ledger *l, u128 *out,
                             struct err *err)
{
    for (size_t i = 0; i < r->p.n_counts; i++) {
        struct count *q = &r->p.counts[i];
        struct telling x = {r, form_of(&r->p.arena, prepare_count_text(q)),
                            q->scale, 0};
        if (!x.form.p)
            return err_nomem(err);
        TRY(ledger_history(l, r->session->opt.dataset, look_at, &x, err));
        *out = x.told > *out ? x.told : *out;
    }
    return OK;
}

enum status release_told_guess(struct release *r, struct err *err)
{
    struct options *o = &r->session->opt;
    struct ledger_access access = {.anchor = o->anchor.p,
                                   .busy = r->session->detached};
    struct ledger *l = NULL;
    char text[U128_DIGITS];
    u128 told = 0;
    if (!str_is(o->guess, "earlier") || !o->ledger.n)
        return OK;
    TRY(ledger_open(&r->session->mem, o->ledger.p, &access, &l, err));
    enum status st = look_back(r, l, &told, err);
    ledger_close(l);
    if (st == OK && told)
        o->guess = str_copy(&r->session->arena, str_of(u128_text(told, text)));
    return st != OK ? st : o->guess.p ? OK : err_nomem(err);
}
