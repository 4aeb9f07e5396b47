/* The keys of GROUP BY: see group_keys.h. */
#include "release/group_keys.h"

#include <stdlib.h>
#include <string.h>

#include "store/store.h"

typedef VEC(struct value) value_list;

static int compare(const void *a, const void *b)
{
    return value_cmp(a, b);
}

size_t group_keys_sort(struct value *v, size_t n_all)
{
    size_t n = 0;
    if (n_all)
        qsort(v, n_all, sizeof *v, compare);
    for (size_t i = 0; i < n_all; i++)
        if (!n || !value_eq(&v[n - 1], &v[i]))
            v[n++] = v[i];
    return n;
}

static bool contains(const value_list *l, const struct value *v)
{
    for (size_t i = 0; i < l->n; i++)
        if (value_eq(&l->p[i], v))
            return true;
    return false;
}

static enum status add_value(struct count *q, value_list *l, struct value v,
                             struct err *err)
{
    if (contains(l, &v))
        return OK;
    return VEC_PUSH(&q->p->arena, l, v) ? OK : err_nomem(err);
}

/* --- declared keys -------------------------------------------------------- */

static struct str key_name(const struct count *q, uint32_t col)
{
    if (col < q->p->n_group_names)
        return q->p->group_names[col];
    const struct term *t = &q->query->outs[col];
    return t->kind == TERM_VAR ? q->query->vars[t->id].name : STR("");
}

enum type group_key_type(const struct count *q, uint32_t col)
{
    const struct term *t = &q->query->outs[col];
    return t->kind == TERM_VAR ? q->query->vars[t->id].type
                               : q->query->consts[t->id].type;
}

static enum status read_value(struct count *q, struct str text, enum type t,
                              struct value *out, struct err *err)
{
    text = str_trim(text);
    if (text.n >= 2 && text.p[0] == '\'' && text.p[text.n - 1] == '\'')
        text = (struct str){text.p + 1, text.n - 2};
    if (t == T_UNKNOWN) {
        if (!value_parse_number(&q->p->arena, text, out))
            *out = value_text(text);
        return OK;
    }
    if (!value_parse(&q->p->arena, text, t, out))
        return err_set(err, E_VALUE, "group key \"%.*s\" is not of type %s",
                       PSTR(text), type_name(t));
    return OK;
}

static enum status read_list(struct count *q, struct str text, enum type t,
                             value_list *out, struct err *err)
{
    while (true) {
        const char *comma = text.n ? memchr(text.p, ',', text.n) : NULL;
        struct str one = {text.p, comma ? (size_t)(comma - text.p) : text.n};
        struct value v;
        TRY(read_value(q, one, t, &v, err));
        TRY(add_value(q, out, v, err));
        if (!comma)
            return OK;
        text.n -= one.n + 1;
        text.p = comma + 1;
    }
}

/* "sex=F,M" is for the column sex; a list without a name for the next. */
static enum status declared(struct count *q, uint32_t col, value_list *out,
                            struct err *err)
{
    const str_list *groups = &q->p->session->opt.groups;
    struct str name = key_name(q, col);
    size_t unnamed = 0;
    for (size_t i = 0; i < groups->n; i++) {
        struct str g = groups->p[i];
        const char *eq = g.n ? memchr(g.p, '=', g.n) : NULL;
        struct str left = {g.p, eq ? (size_t)(eq - g.p) : 0};
        bool mine = eq ? str_eq_nocase(str_trim(left), name) : unnamed++ == col;
        if (eq)
            g = (struct str){eq + 1, g.n - left.n - 1};
        if (mine)
            TRY(read_list(q, g, group_key_type(q, col), out, err));
    }
    return OK;
}

/* --- keys of a public table ----------------------------------------------- */

static bool public_column(const struct count *q, uint32_t var,
                          uint32_t *out_table, uint32_t *out_col)
{
    const struct cq *body = q->query;
    for (uint32_t a = 0; a < body->n_atoms; a++) {
        if (table_is_private(&q->p->schema.tables.p[body->atoms[a].table]))
            continue;
        for (uint32_t c = 0; c < body->atoms[a].n_args; c++) {
            const struct term *t = &body->atoms[a].args[c];
            if (t->kind == TERM_VAR && t->id == var) {
                *out_table = body->atoms[a].table;
                *out_col = c;
                return true;
            }
        }
    }
    return false;
}

/* Loads one column of one public table and nothing else; of more values than
 * there may be groups, enough to see that. */
static enum status load_column(struct count *q, uint32_t var, uint32_t table,
                               uint32_t col, struct store **out,
                               struct err *err)
{
    struct cq one = *q->query;
    struct atom at = {.table = table, .rowid = -1};
    at.n_args = (uint32_t)q->p->schema.tables.p[table].n_cols;
    at.args = NEWS(&q->p->arena, struct term, at.n_args);
    if (!at.args)
        return err_nomem(err);
    at.args[col] = (struct term){TERM_VAR, var};
    one.atoms = &at;
    one.n_atoms = 1;
    one.n_preds = one.n_calcs = 0;
    TRY(store_new(&q->p->session->mem, &q->p->schema, out, err));
    return source_load_once(q->p->source, &one, MAX_GROUPS + 1, *out, err);
}

static enum status copy_values(struct count *q, const struct store_column *c,
                               size_t n, value_list *out, struct err *err)
{
    for (size_t row = 0; row < n; row++) {
        struct value v = column_value(c, row);
        if (v.is_null)
            continue;
        if (out->n && value_eq(&out->p[out->n - 1], &v))
            continue;
        if (v.s.p && !(v.s = str_copy(&q->p->arena, v.s)).p)
            return err_nomem(err);
        if (!VEC_PUSH(&q->p->arena, out, v))
            return err_nomem(err);
    }
    out->n = group_keys_sort(out->p, out->n);
    return OK;
}

static enum status read_column(struct count *q, uint32_t var, uint32_t table,
                               uint32_t col, value_list *out, struct err *err)
{
    struct store *st = NULL;
    enum status s = load_column(q, var, table, col, &st, err);
    if (s == OK) {
        const struct store_table *t = &st->tables[table];
        s = copy_values(q, &t->cols[col], t->n_rows, out, err);
    }
    store_free(st);
    return s;
}

static const struct public_column *column_read(const struct prepared *p,
                                               uint32_t table, uint32_t col)
{
    for (size_t i = 0; p && i < p->columns_read.n; i++) {
        const struct public_column *c = &p->columns_read.p[i];
        if (c->table == table && c->col == col)
            return c;
    }
    return NULL;
}

/* Read once for all counts of the request, if not before for all questions;
 * *known is false where there is nothing to read from. */
static enum status from_table(struct count *q, uint32_t var, uint32_t table,
                              uint32_t col, value_list *out, bool *known,
                              struct err *err)
{
    struct prepared *p = q->p;
    const struct public_column *had = column_read(p, table, col);
    if (!had)
        had = column_read(p->session->base, table, col);
    if (had) {
        *out = (value_list){had->vals, had->n, had->n};
        return OK;
    }
    TRY(prepare_source(p, err));
    if (!p->source) {
        *known = false;
        return OK;
    }
    TRY(read_column(q, var, table, col, out, err));
    struct public_column c = {table, col, out->p, out->n};
    return VEC_PUSH(&p->arena, &p->columns_read, c) ? OK : err_nomem(err);
}

/* --- keys of the policy --------------------------------------------------- */

/* The values that the policy lists for a column the key stands in. */
static enum status from_policy(struct count *q, uint32_t var, value_list *out,
                               struct err *err)
{
    const struct cq *body = q->query;
    for (uint32_t a = 0; a < body->n_atoms; a++) {
        const struct table *t = &q->p->schema.tables.p[body->atoms[a].table];
        for (uint32_t c = 0; c < body->atoms[a].n_args; c++) {
            const struct term *at = &body->atoms[a].args[c];
            if (at->kind != TERM_VAR || at->id != var || t->cols[c].own_domain)
                continue;
            for (size_t i = 0; i < t->cols[c].n_domain; i++)
                TRY(add_value(q, out, t->cols[c].domain[i], err));
            if (out->n)
                return OK;
        }
    }
    return OK;
}

/* --- all of them ---------------------------------------------------------- */

static enum status private_keys(struct count *q, uint32_t col, struct err *err)
{
    struct str name = key_name(q, col);
    err_set(err, E_UNSUPPORTED,
            "the keys of GROUP BY \"%.*s\" would come from private rows",
            PSTR(name));
    err_detail(err, "Which keys occur is private, and nobody paid for it.");
    err_hint(err,
             "Name the keys: --groups '%.*s=A,B,C' (each is answered, "
             "also with no row), join a public table that lists them, or "
             "offer --delta D, far below one over the number of rows (say "
             "1e-9): then keys with large counts are found in the data.",
             PSTR(name));
    return E_UNSUPPORTED;
}

static bool offers_delta(const struct count *q)
{
    return q->p->owner_counts || (q->p->delta.n && !str_is(q->p->delta, "0"));
}

/* What public facts say of the keys of one column. */
struct key_column {
    value_list keys;
    bool has_table, private_;
    uint32_t table, col; /* has_table: where the keys stand */
    bool null;           /* has_table: NULL is a key too */
};

/* What needs no declaration. A public table in the query restricts the keys,
 * so it comes first; that of a reference last, for it has to be read. */
static enum status by_itself(struct count *q, uint32_t var,
                             struct key_column *out, struct err *err)
{
    struct key_list list;
    out->has_table = public_column(q, var, &out->table, &out->col);
    if (out->has_table)
        return OK;
    TRY(key_domain(q, var, &list, err));
    out->keys = (value_list){list.vals, list.n, list.n};
    if (list.n)
        return OK;
    out->has_table = key_reference(q, var, &out->table, &out->col);
    out->null = out->has_table && !cq_var_nonnull(q->query, var);
    return OK;
}

/* What public facts say of them in one query; private_: nothing. */
static enum status known_keys(struct count *q, uint32_t col,
                              struct key_column *out, struct err *err)
{
    const struct term *t = &q->query->outs[col];
    if (t->kind == TERM_CONST)
        return add_value(q, &out->keys, q->query->consts[t->id], err);
    TRY(from_policy(q, t->id, &out->keys, err));
    if (out->keys.n)
        return OK;
    TRY(by_itself(q, t->id, out, err));
    out->private_ = !out->has_table && !out->keys.n;
    return OK;
}

/* Keys of two branches: of one table, or two lists. NULL next to a table is
 * what stands for its columns where there is no partner. */
static enum status unite_keys(struct count *q, struct key_column *x,
                              const struct key_column *y, struct err *err)
{
    bool null = !y->has_table && y->keys.n == 1 && y->keys.p[0].is_null;
    x->private_ |= y->private_;
    if (x->has_table && null) {
        x->null = true;
        return OK;
    }
    if (x->has_table || y->has_table) {
        x->private_ |= x->has_table != y->has_table || x->table != y->table ||
                       x->col != y->col;
        x->null |= y->null;
        return OK;
    }
    for (size_t i = 0; i < y->keys.n; i++)
        TRY(add_value(q, &x->keys, y->keys.p[i], err));
    return OK;
}

/* Branches of a union or of an outer join have keys of their own. */
static enum status branch_keys(struct count *q, uint32_t col,
                               struct key_column *out, struct err *err)
{
    TRY(known_keys(q, col, out, err));
    for (size_t i = 1; q->tree && i < q->tree->n_branches; i++) {
        struct count other = *q;
        struct key_column more = {0};
        struct cq *path;
        aset own;
        TRY(tree_path(&q->p->arena, q->tree->branches[i], 0, &path, &own, err));
        other.query = path;
        TRY(known_keys(&other, col, &more, err));
        TRY(unite_keys(q, out, &more, err));
    }
    if (out->private_)
        *out = (struct key_column){.private_ = true};
    return OK;
}

static enum status column_keys(struct count *q, uint32_t col,
                               struct key_column *out, struct err *err)
{
    bool many = q->tree && q->tree->n_branches > 1;
    if (many || q->query->outs[col].kind != TERM_CONST)
        TRY(declared(q, col, &out->keys, err));
    if (out->keys.n)
        return OK;
    TRY(branch_keys(q, col, out, err));
    return !out->private_ || offers_delta(q) ? OK : private_keys(q, col, err);
}

/* Appends every combination of what is there with the values of one more
 * column. */
static enum status product(struct count *q, struct group_keys *k,
                           const value_list *col, struct err *err)
{
    size_t old = k->n_cols ? k->n : 1, cols = k->n_cols + 1;
    if (old * col->n > MAX_GROUPS)
        return err_set(err, E_TOO_LARGE, "there are more than %d groups",
                       MAX_GROUPS);
    struct value *v = NEWS(&q->p->arena, struct value, old * col->n * cols);
    if (!v)
        return err_nomem(err);
    for (size_t i = 0; i < old; i++)
        for (size_t j = 0; j < col->n; j++) {
            struct value *row = v + (i * col->n + j) * cols;
            if (k->n_cols)
                memcpy(row, k->vals + i * k->n_cols, k->n_cols * sizeof *row);
            row[cols - 1] = col->p[j];
        }
    k->vals = v;
    k->n = old * col->n;
    k->n_cols = cols;
    return OK;
}

/* Every combination of public keys. */
static enum status all_keys(struct count *q, struct key_column *cols,
                            struct group_keys *out, struct err *err)
{
    for (uint32_t i = 0; i < q->query->n_group; i++) {
        struct key_column *c = &cols[i];
        if (c->has_table)
            TRY(from_table(q, q->query->outs[i].id, c->table, c->col, &c->keys,
                           &out->known, err));
        if (c->null && !VEC_PUSH(&q->p->arena, &c->keys, value_null()))
            return err_nomem(err);
        TRY(product(q, out, &c->keys, err));
    }
    return OK;
}

/* The database counts given keys and lists none: said before the charge. */
static enum status check_engine(struct count *q, struct err *err)
{
    if (!str_is(q->p->session->opt.engine, "sql"))
        return OK;
    err_set(err, E_UNSUPPORTED,
            "the database cannot find the keys of GROUP BY in private rows");
    err_hint(err, "Use --engine embedded, or name the keys with --groups.");
    return E_UNSUPPORTED;
}

/* PRIVACY: a threshold on a noisy sum hides no key: a row of weight 0 brings
 * one about that no number tells of. With entities who adds nothing is not
 * there, and what one adds is cut (entity/PROOF.md, claim 11). */
static enum status check_sum(const struct count *q, struct err *err)
{
    bool cut = q->p->schema.has_entities && !q->half;
    if (!q->is_sum || q->p->owner_counts || cut)
        return OK;
    err_set(err, E_UNSUPPORTED,
            "the keys of a SUM or AVG cannot be found in private rows");
    err_hint(err, "Name the keys with --groups or values: in the policy, or "
                  "find them with COUNT(*) first.");
    return E_UNSUPPORTED;
}

/* Keys to be found: what was declared of single columns only restricts them,
 * and what stands in a public table is there by the join. */
static enum status found_keys(struct count *q, const struct key_column *cols,
                              struct group_keys *out, struct err *err)
{
    TRY(check_engine(q, err));
    TRY(check_sum(q, err));
    out->n_cols = q->query->n_group;
    out->known = false;
    out->found = q->p->keys_found = true;
    out->only = NEWS(&q->p->arena, struct key_list, out->n_cols);
    if (!out->only)
        return err_nomem(err);
    for (size_t i = 0; i < out->n_cols; i++)
        out->only[i] = (struct key_list){cols[i].keys.p, cols[i].keys.n};
    return OK;
}

enum status group_keys(struct count *q, struct group_keys *out, struct err *err)
{
    *out = (struct group_keys){.known = true};
    uint32_t n = q->query->n_group;
    bool found = false;
    struct key_column *cols = NEWS(&q->p->arena, struct key_column, n + 1);
    if (!cols)
        return err_nomem(err);
    for (uint32_t col = 0; col < n; col++) {
        TRY(column_keys(q, col, &cols[col], err));
        found = found || cols[col].private_;
    }
    return found ? found_keys(q, cols, out, err) : all_keys(q, cols, out, err);
}
