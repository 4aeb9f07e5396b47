/* Results: see result.h. */
#include "release/result.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "ledger/ledger.h"
#include "num/rat.h"
#include "release/answer.h"
#include "release/answer_table.h"

struct result *result_new(void)
{
    struct mem boot; /* the block that holds the budget is not in it */
    mem_init(&boot, 0);
    struct result *r = mem_alloc(&boot, sizeof *r);
    if (!r)
        return NULL;
    mem_init(&r->mem, 0);
    arena_init(&r->arena, &r->mem);
    sb_init(&r->json, &r->arena);
    sb_init(&r->text, &r->arena);
    return r;
}

void result_free(struct result *r)
{
    if (!r)
        return;
    r->arena.wipe = true; /* owners' results hold private numbers */
    arena_fini(&r->arena);
    struct mem boot;
    mem_init(&boot, 0);
    mem_free(&boot, r, sizeof *r);
}

bool result_failed(const struct result *r)
{
    return r->failed || r->json.failed || r->text.failed;
}

static struct str keep(struct result *r, struct str s)
{
    struct str copy = str_copy(&r->arena, s);
    r->failed |= !copy.p;
    return copy;
}

static void add(struct result *r, str_list *to, struct str s)
{
    r->failed |= !VEC_PUSH(&r->arena, to, s);
}

/* --- columns -------------------------------------------------------------- */

static bool counts_in(const struct expr *e, size_t n_keys)
{
    if (e->op == X_VAR)
        return e->var >= n_keys;
    for (uint32_t i = 0; i < e->n_args; i++)
        if (counts_in(e->args[i], n_keys))
            return true;
    return false;
}

static bool is_number(enum type t)
{
    return t == T_INT || t == T_DEC || t == T_REAL;
}

/* A noisy number has its error behind it, if that was asked for. */
static bool has_error(const struct result *r, const struct result_column *c)
{
    return r->error_columns && c->role == RESULT_COUNT && is_number(c->type);
}

static void add_column(struct result *r, struct result_column c)
{
    r->failed |= !VEC_PUSH(&r->arena, &r->columns, c);
}

void result_set_columns(struct result *r, const struct sql_after *after,
                        size_t n_keys)
{
    for (size_t i = 0; i < after->n_columns; i++) {
        const struct sql_column *from = &after->columns[i];
        struct result_column c = {keep(r, from->name), from->e->type,
                                  counts_in(from->e, n_keys) ? RESULT_COUNT
                                                             : RESULT_KEY};
        add_column(r, c);
        if (!has_error(r, &c))
            continue;
        c.name = str_printf(&r->arena, "%.*s_error95", PSTR(from->name));
        r->failed |= !c.name.p;
        c.role = RESULT_ERROR;
        add_column(r, c);
    }
}

void result_add_column(struct result *r, const char *name, enum type type)
{
    add_column(r, (struct result_column){str_of(name), type, RESULT_KEY});
}

void result_add_row(struct result *r, const struct str *cells, size_t n)
{
    for (size_t i = 0; i < n; i++)
        add(r, &r->cells, keep(r, cells[i]));
    r->n_rows++;
}

/* --- cells ---------------------------------------------------------------- */

/* As PostgreSQL writes it. */
static struct str cell(struct result *r, const struct value *v)
{
    struct sb b;
    if (v->is_null)
        return (struct str){0};
    sb_init(&b, &r->arena);
    if (v->type == T_BOOL)
        sb_char(&b, v->i ? 't' : 'f');
    else
        value_plain(&b, v);
    sb_cstr(&b, ""); /* an empty text is a text */
    r->failed |= b.failed;
    return b.p ? sb_view(&b) : STR("");
}

/* Of whole numbers a whole number; both rounded up. */
static struct str error_cell(struct result *r, double error, enum type type)
{
    if (!(error >= 0) || !isfinite(error))
        return (struct str){0};
    struct str s = type == T_INT ? str_printf(&r->arena, "%.0f", ceil(error))
                                 : str_printf(&r->arena, "%.6g", error);
    r->failed |= !s.p;
    return s;
}

void result_set_table(struct result *r, const struct answer_table *t)
{
    result_set_columns(r, t->after, t->n_keys);
    r->n_rows = t->n_rows;
    for (size_t row = 0; !r->failed && row < t->n_rows; row++)
        for (size_t c = 0, at = 0; c < t->n_cols; c++, at++) {
            size_t i = row * t->n_cols + c;
            add(r, &r->cells, cell(r, &t->cells[i]));
            if (r->failed || !has_error(r, &r->columns.p[at]))
                continue;
            add(r, &r->cells,
                error_cell(r, t->errors[i], r->columns.p[at].type));
            at++;
        }
}

/* --- what was paid -------------------------------------------------------- */

static struct str number(struct result *r, mpq_srcptr v)
{
    struct sb b;
    sb_init(&b, &r->arena);
    text_rat(&b, v, true);
    r->failed |= b.failed;
    return b.failed ? (struct str){0} : sb_view(&b);
}

void result_set_price(struct result *r, const struct price *p)
{
    if (mpq_sgn(p->rho)) {
        r->rho = number(r, p->rho);
        return;
    }
    r->epsilon = number(r, p->epsilon);
    r->delta = number(r, p->delta);
}

void result_add_guarantee(struct result *r, struct str sentence)
{
    add(r, &r->guarantees, keep(r, sentence));
}

void result_add_receipt(struct result *r, struct str receipt)
{
    add(r, &r->receipts, keep(r, receipt));
}

/* --- as bytes ------------------------------------------------------------- */

static void put_list(struct sb *b, const str_list *l)
{
    bytes_put_u64(b, l->n);
    for (size_t i = 0; i < l->n; i++)
        bytes_put_str(b, l->p[i]);
}

void result_write(struct sb *b, const struct result *r)
{
    bytes_put_str(b, sb_view(&r->json));
    bytes_put_str(b, sb_view(&r->text));
    bytes_put_u64(b, r->columns.n);
    for (size_t i = 0; i < r->columns.n; i++) {
        bytes_put_str(b, r->columns.p[i].name);
        bytes_put_u64(b, r->columns.p[i].type);
        bytes_put_u64(b, r->columns.p[i].role);
    }
    bytes_put_u64(b, r->n_rows);
    put_list(b, &r->cells);
    bytes_put_str(b, r->epsilon);
    bytes_put_str(b, r->delta);
    bytes_put_str(b, r->rho);
    put_list(b, &r->guarantees);
    put_list(b, &r->receipts);
    bytes_put_u64(b, r->repeated);
}

static void take_list(struct result *r, struct bytes *b, str_list *l)
{
    size_t n = bytes_count(b, sizeof(uint64_t));
    for (size_t i = 0; !b->failed && i < n; i++)
        add(r, l, bytes_str(b));
}

static void take_columns(struct result *r, struct bytes *b)
{
    size_t n = bytes_count(b, sizeof(uint64_t));
    for (size_t i = 0; !b->failed && i < n; i++) {
        struct result_column c = {.name = bytes_str(b)};
        c.type = (enum type)bytes_u64(b);
        c.role = (enum result_role)bytes_u64(b);
        b->failed |= c.type > T_UUID || c.role > RESULT_ERROR || !c.name.p;
        add_column(r, c);
    }
}

/* As many cells as rows and columns; a product of foreign numbers may wrap. */
static bool is_table(const struct result *r)
{
    size_t n = r->columns.n;
    return n ? r->cells.n % n == 0 && r->cells.n / n == r->n_rows
             : !r->n_rows && !r->cells.n;
}

enum status result_read(struct result *r, struct str bytes, struct err *err)
{
    struct bytes b = {&r->arena, bytes, false};
    sb_str(&r->json, bytes_str(&b));
    sb_str(&r->text, bytes_str(&b));
    take_columns(r, &b);
    r->n_rows = (size_t)bytes_u64(&b);
    take_list(r, &b, &r->cells);
    r->epsilon = bytes_str(&b);
    r->delta = bytes_str(&b);
    r->rho = bytes_str(&b);
    take_list(r, &b, &r->guarantees);
    take_list(r, &b, &r->receipts);
    r->repeated = bytes_u64(&b);
    bool whole = !b.failed && !b.left.n && is_table(r);
    return whole ? OK : err_internal(err, "a result that is not whole");
}
