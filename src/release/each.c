/*
 * Several COUNTs in one SELECT: each is a question of its own, with its own
 * price, answered in the order of the list as {"counts": [...]}.
 *
 * The question is put as usual first; reading a query with several counts
 * fails there, before anything is charged, and leaves their number in the
 * session. Then every count is quoted, so that what fails for public reasons
 * fails before the first charge, and asked. A failure in between ends the
 * call: what was paid until then is in the ledger and free to ask for again.
 */
#include "base/json.h"
#include "release/release.h"

static enum status take(struct result *one, size_t i, size_t n,
                        struct result *all, struct json *j, struct err *err)
{
    if (one->json.failed || one->text.failed)
        return err_nomem(err);
    json_raw(j, sb_view(&one->json));
    sb_printf(&all->text, "%scount %zu of %zu\n%.*s", i ? "\n" : "", i + 1, n,
              PSTR(one->text.p ? sb_view(&one->text) : STR("")));
    for (size_t k = 0; k < one->keys.n; k++) {
        struct str copy = str_copy(&all->arena, one->keys.p[k]);
        if (!copy.p || !VEC_PUSH(&all->arena, &all->keys, copy))
            return err_nomem(err);
    }
    for (size_t k = 0; k < one->answers.n; k++) {
        struct str copy = str_copy(&all->arena, one->answers.p[k]);
        if (!copy.p || !VEC_PUSH(&all->arena, &all->answers, copy))
            return err_nomem(err);
    }
    return OK;
}

/* `j` NULL: only to see whether it works. */
static enum status ask_all(struct session *s, ask_fn *fn, struct str query,
                           struct result *all, struct json *j, struct err *err)
{
    enum status st = OK;
    for (size_t i = 0, n = s->n_counts; st == OK && i < n; i++) {
        struct result *one = result_new();
        if (!one)
            return err_nomem(err);
        s->count_index = i;
        st = fn(s, query, one, err);
        if (st == OK && j)
            st = take(one, i, n, all, j, err);
        result_free(one);
    }
    return st;
}

static enum status each(struct session *s, ask_fn *first, ask_fn *fn,
                        struct str query, struct result *out, struct err *err)
{
    struct json j;
    s->n_counts = 0;
    enum status st = fn(s, query, out, err);
    if (st == OK || s->n_counts < 2)
        return st;
    s->one_of_many = true;
    json_init(&j, &out->json);
    json_begin(&j, '{');
    json_key(&j, "counts");
    json_begin(&j, '[');
    st = first ? ask_all(s, first, query, out, NULL, err) : OK;
    if (st == OK)
        st = ask_all(s, fn, query, out, &j, err);
    json_end(&j, ']');
    json_end(&j, '}');
    s->one_of_many = false;
    return st;
}

enum status each_analyze(struct session *s, struct str query,
                         struct result *out, struct err *err)
{
    return each(s, NULL, ask_analyze, query, out, err);
}

enum status each_quote(struct session *s, struct str query, struct result *out,
                       struct err *err)
{
    return each(s, NULL, ask_quote, query, out, err);
}

enum status each_release(struct session *s, struct str query,
                         struct result *out, struct err *err)
{
    return each(s, ask_quote, ask_release, query, out, err);
}

enum status each_count(struct session *s, struct str query, struct result *out,
                       struct err *err)
{
    return each(s, NULL, ask_count, query, out, err);
}

/* A picture shows one query; several are refused, with their number. */
enum status each_explain(struct session *s, struct str query,
                         struct result *out, struct err *err)
{
    return s->opt.dot ? ask_explain(s, query, out, err)
                      : each(s, NULL, ask_explain, query, out, err);
}

enum status each_sensitivity(struct session *s, struct str query,
                             struct result *out, struct err *err)
{
    return each(s, NULL, ask_sensitivity, query, out, err);
}
