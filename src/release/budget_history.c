/*
 * budget history: every charge, oldest first, with the question as it was
 * asked; of one analyst, of a time. As JSON, as a table for people and as the
 * rows of the result, which programs write as CSV. Reads only.
 */
#include <string.h>

#include "release/budget.h"
#include "release/release.h"

struct history {
    struct json json;
    struct result *out;
    struct str analyst; /* only of this one; empty: of all */
    struct str since, until;
    bool datasets, analysts; /* does an entry have one? */
};

enum { NUMBERS_SHOWN = 6 };
enum { HISTORY_COLUMNS = 10 };
static const struct {
    const char *name;
    enum type type;
} columns[HISTORY_COLUMNS] = {
    {"time", T_TIMESTAMP}, {"analyst", T_TEXT}, {"dataset", T_TEXT},
    {"epsilon", T_DEC},    {"delta", T_DEC},    {"rho", T_DEC},
    {"state", T_TEXT},     {"answer", T_TEXT},  {"receipt", T_TEXT},
    {"query", T_TEXT},
};

/* What it gave: its numbers, or how many. */
static void entry_answer(struct sb *b, const struct ledger_entry *e)
{
    struct answer x = {0};
    struct err ignored;
    err_clear(&ignored);
    if (!e->committed)
        sb_cstr(b, str_is(e->state, "held")     ? "held without an answer"
                   : str_is(e->state, "locked") ? "failed and locked"
                                                : "without an answer");
    else if (answer_read(b->arena, e->answer, &x, &ignored) != OK)
        sb_cstr(b, "answered");
    else if (!x.keys.n && x.numbers.n && x.numbers.n <= NUMBERS_SHOWN)
        for (size_t i = 0; i < x.numbers.n; i++)
            sb_printf(b, "%s%.*s", i ? ", " : "", PSTR(x.numbers.p[i]));
    else
        sb_printf(b, "%zu answers", x.numbers.n);
}

/* As it was asked, with its line ends and control characters as blanks. */
static void one_line(struct sb *b, struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        sb_char(b, (unsigned char)s.p[i] < ' ' || s.p[i] == 127 ? ' ' : s.p[i]);
}

/* 2026-03-01, 2026-03-01 12:30 or with a T: compared as far as it goes. */
static enum status read_moment(struct arena *a, struct str text,
                               const char *option, struct str *out,
                               struct err *err)
{
    static const char form[] = "0000-00-00T00:00:00";
    char *p = text.n ? arena_strdup(a, text.p, text.n) : NULL;
    bool ok = text.n >= 10 && text.n < sizeof form;
    *out = (struct str){p, text.n};
    if (!text.n)
        return OK;
    if (!p)
        return err_nomem(err);
    if (text.n > 10 && p[10] == ' ')
        p[10] = 'T';
    for (size_t i = 0; ok && i < text.n; i++)
        ok = form[i] == '0' ? p[i] >= '0' && p[i] <= '9' : p[i] == form[i];
    if (ok)
        return OK;
    err_set(err, E_VALUE, "--%s must be a day or a time, not \"%.*s\"", option,
            PSTR(text));
    err_hint(err, "Write 2026-03-01 or '2026-03-01 12:30'; times are UTC.");
    return E_VALUE;
}

/* Its time against a moment, as far as that goes. */
static int order(struct str held_at, struct str moment)
{
    size_t n = moment.n < held_at.n ? moment.n : held_at.n;
    return memcmp(held_at.p, moment.p, n);
}

static bool wanted(const struct history *h, const struct ledger_entry *e)
{
    return (!h->analyst.n || str_eq(h->analyst, e->analyst)) &&
           (!h->since.n || order(e->held_at, h->since) >= 0) &&
           (!h->until.n || order(e->held_at, h->until) <= 0);
}

static void add_row(struct history *h, const struct ledger_entry *e,
                    const struct sb *answered)
{
    bool rho = !str_is(e->rho, "0");
    const struct str row[HISTORY_COLUMNS] = {
        e->held_at,
        e->analyst,
        e->dataset,
        rho ? STR("") : e->epsilon,
        rho ? STR("") : e->delta,
        rho ? e->rho : STR(""),
        e->state,
        sb_view(answered),
        e->receipt,
        e->sql.n ? e->sql : e->query,
    };
    h->out->failed |= answered->failed;
    h->analysts |= e->analyst.n > 0;
    h->datasets |= e->dataset.n > 0;
    result_add_row(h->out, row, HISTORY_COLUMNS);
}

static enum status add_entry(void *ctx, const struct ledger_entry *e,
                             struct err *err)
{
    struct history *h = ctx;
    struct json *j = &h->json;
    struct sb answered;
    if (!wanted(h, e))
        return OK;
    const struct {
        const char *key;
        struct str v;
    } texts[] = {
        {"receipt", e->receipt},     {"dataset", e->dataset},
        {"analyst", e->analyst},     {"sql", e->sql},
        {"query", e->query},         {"version", e->version},
        {"mechanism", e->mechanism}, {"epsilon", e->epsilon},
        {"delta", e->delta},         {"rho", e->rho},
        {"held_at", e->held_at},     {"committed_at", e->committed_at},
    };
    json_begin(j, '{');
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        json_key(j, texts[i].key);
        json_str(j, texts[i].v);
    }
    json_key(j, "state");
    json_str(j, e->state);
    json_key(j, "hold");
    json_u128(j, e->hold);
    json_key(j, "answer");
    if (e->answer.n)
        json_raw(j, e->answer);
    else
        json_null(j);
    sb_init(&answered, &h->out->arena);
    entry_answer(&answered, e);
    json_key(j, "answered");
    json_str(j, sb_view(&answered));
    json_end(j, '}');
    add_row(h, e, &answered);
    return result_failed(h->out) ? err_nomem(err) : OK;
}

/* --- for people ----------------------------------------------------------- */

static bool is_shown(const struct history *h, size_t column)
{
    const char *name = columns[column].name;
    return strcmp(name, "state") && strcmp(name, "rho") &&
           strcmp(name, "delta") && (h->analysts || strcmp(name, "analyst")) &&
           (h->datasets || strcmp(name, "dataset"));
}

/* The cell as it is shown: the price whole, the question in one line. */
static struct str shown(const struct history *h, size_t row, size_t column)
{
    const struct str *cells = &h->out->cells.p[row * HISTORY_COLUMNS];
    struct sb b;
    sb_init(&b, &h->out->arena);
    one_line(&b, cells[column]);
    if (!strcmp(columns[column].name, "epsilon")) {
        struct str delta = cells[column + 1], rho = cells[column + 2];
        if (rho.n)
            sb_printf(&b, "rho %.*s", PSTR(rho));
        else if (!str_is(delta, "0"))
            sb_printf(&b, ", delta %.*s", PSTR(delta));
    }
    h->out->failed |= b.failed;
    return sb_view(&b);
}

static size_t width_of(const struct history *h, size_t column)
{
    size_t most = strlen(columns[column].name);
    for (size_t r = 0; r < h->out->n_rows; r++) {
        size_t n = shown(h, r, column).n;
        most = n > most ? n : most;
    }
    return most;
}

static void print_column(struct sb *b, struct str s, size_t width, bool last)
{
    if (last)
        sb_printf(b, "%.*s\n", PSTR(s));
    else
        sb_printf(b, "%.*s%*s  ", PSTR(s), (int)(width - s.n), "");
}

static void print_table(const struct history *h)
{
    size_t width[HISTORY_COLUMNS];
    struct sb *b = &h->out->text;
    for (size_t c = 0; c < HISTORY_COLUMNS; c++)
        width[c] = width_of(h, c);
    for (size_t r = 0; r <= h->out->n_rows; r++)
        for (size_t c = 0; c < HISTORY_COLUMNS; c++)
            if (is_shown(h, c))
                print_column(b,
                             r ? shown(h, r - 1, c) : str_of(columns[c].name),
                             width[c], c + 1 == HISTORY_COLUMNS);
}

enum status ask_budget_history(struct session *s, struct str query,
                               struct result *out, struct err *err)
{
    struct ledger *l = NULL;
    struct history h = {.out = out, .analyst = s->opt.analyst};
    (void)query;
    TRY(read_moment(&out->arena, s->opt.since, "since", &h.since, err));
    TRY(read_moment(&out->arena, s->opt.until, "until", &h.until, err));
    TRY(budget_open(s, true, &l, err));
    json_init(&h.json, &out->json);
    json_begin(&h.json, '{');
    json_key(&h.json, "history");
    json_begin(&h.json, '[');
    for (size_t i = 0; i < HISTORY_COLUMNS; i++)
        result_add_column(out, columns[i].name, columns[i].type);
    enum status st = ledger_history(l, s->opt.dataset, add_entry, &h, err);
    json_end(&h.json, ']');
    json_end(&h.json, '}');
    if (out->n_rows)
        print_table(&h);
    else
        sb_cstr(&out->text, h.since.n || h.until.n || h.analyst.n
                                ? "nothing of that was spent\n"
                                : "nothing was spent yet\n");
    ledger_close(l);
    return st;
}
