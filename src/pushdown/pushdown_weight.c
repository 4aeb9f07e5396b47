/*
 * Weights as DuckDB computes them. Its widest integers have 127 bits and fail
 * when they overflow, on some rows and not on others; PRIVACY: so nothing here
 * can. Every relation has a bound on the bits of its weights, found from the
 * text of the query alone: a count has 42 (more rows than that are not counted
 * in a day), a sum 42 more than what it adds up, a product the sum of its
 * factors'. Up to 126 bits numbers are exact. Beyond that they saturate at
 * 2^127 - 1, which commutes with sums, products and maxima (TOTAL: counts are
 * clamped there), but not with subtraction, which is not written then.
 */
#include "pushdown/pushdown_gen.h"

enum { COUNT_BITS = 42, EXACT_BITS = 126, MOST_BITS = 127, MAX_WIDE = 4 };

const unsigned gen_count_bits = COUNT_BITS;

#define MOST "170141183460469231731687303715884105727::hugeint"
#define LOW "9223372036854775807::hugeint"   /* 2^63 - 1 */
#define HALF "9223372036854775808::hugeint"  /* 2^63 */
#define HIGH "18446744073709551615::hugeint" /* 2^64 - 1 */

bool gen_subtracts(unsigned bits)
{
    return bits + 2 * COUNT_BITS <= EXACT_BITS;
}

bool gen_adds(unsigned bits)
{
    return bits + COUNT_BITS <= EXACT_BITS;
}

static enum status text(struct gen *g, struct str s, struct gen_weight *out)
{
    out->sql = s;
    return s.p ? OK : err_nomem(g->err);
}

/* No factor of the last product can make it overflow: one is 0 then. */
static enum status saturated(struct gen *g, const struct gen_weight *a,
                             const struct gen_weight *b, struct gen_weight *out)
{
    struct str x = a->sql, y = b->sql;
    out->bits = MOST_BITS;
    return text(
        g,
        str_printf(g->pool->arena,
                   "(CASE WHEN %.*s = 0 THEN 0::hugeint WHEN %.*s > " MOST
                   " // %.*s THEN " MOST " ELSE (CASE WHEN %.*s = "
                   "0 THEN 0::hugeint WHEN %.*s > " MOST
                   " // %.*s THEN 0::hugeint ELSE %.*s END) * %.*s END)",
                   PSTR(y), PSTR(x), PSTR(y), PSTR(y), PSTR(x), PSTR(y),
                   PSTR(x), PSTR(y)),
        out);
}

static enum status exact(struct gen *g, const struct gen_weight *a,
                         const struct gen_weight *b, struct gen_weight *out)
{
    out->bits = a->bits + b->bits;
    return text(
        g,
        str_printf(g->pool->arena, "(%.*s * %.*s)", PSTR(a->sql), PSTR(b->sql)),
        out);
}

static enum status too_wide(struct gen *g)
{
    err_set(g->err, E_UNSUPPORTED,
            "DuckDB cannot multiply so many counts exactly");
    err_hint(g->err, "Use --engine embedded for this query.");
    return E_UNSUPPORTED;
}

/* What fits is multiplied first: the text grows with the wide ones. */
enum status gen_product(struct gen *g, const struct gen_weight *list, size_t n,
                        struct gen_weight *out)
{
    struct gen_weight wide[MAX_WIDE] = {{.bits = 0}};
    size_t n_wide = 0;
    if (n == 1) {
        *out = list[0];
        return OK;
    }
    for (size_t i = 0; i < n; i++) {
        struct gen_weight one = {.bits = list[i].bits};
        TRY(text(g,
                 str_printf(g->pool->arena, "%.*s::hugeint", PSTR(list[i].sql)),
                 &one));
        size_t k = 0;
        while (k < n_wide && wide[k].bits + one.bits > EXACT_BITS)
            k++;
        if (k < n_wide)
            TRY(exact(g, &wide[k], &one, &wide[k]));
        else if (n_wide == MAX_WIDE)
            return too_wide(g);
        else
            wide[n_wide++] = one;
    }
    *out = wide[0];
    for (size_t i = 1; i < n_wide; i++)
        TRY(saturated(g, out, &wide[i], out));
    return OK;
}

/* Halves of 63 and 64 bits are added up; neither sum comes near 127. */
static enum status saturated_sum(struct gen *g, struct gen_weight *w)
{
    struct str x = w->sql;
    struct str low = str_printf(g->pool->arena, "sum(%.*s & " LOW ")", PSTR(x));
    struct str high =
        low.p ? str_printf(g->pool->arena, "(sum(%.*s >> 63) + (%.*s >> 63))",
                           PSTR(x), PSTR(low))
              : low;
    if (!high.p)
        return err_nomem(g->err);
    w->bits = MOST_BITS;
    return text(g,
                str_printf(g->pool->arena,
                           "(CASE WHEN %.*s > " HIGH " THEN " MOST
                           " ELSE least(%.*s, " HIGH ") * " HALF
                           " + (%.*s & " LOW ") END)",
                           PSTR(high), PSTR(high), PSTR(low)),
                w);
}

enum status gen_sum(struct gen *g, struct gen_weight *w)
{
    if (w->bits + COUNT_BITS > EXACT_BITS)
        return saturated_sum(g, w);
    w->bits += COUNT_BITS;
    return text(g, str_printf(g->pool->arena, "sum(%.*s)", PSTR(w->sql)), w);
}
