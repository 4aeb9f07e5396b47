/* What a quote says of --error: the price, or prices for counts of several
 * sizes. */
#include "release/answer.h"

#include <math.h>

enum { COLUMN = 38 }; /* where prices begin */
static const double sizes[] = {100, 1000, 10000, 100000, 1000000};

static bool price_for(struct prepared *p, const struct priced *c, double size,
                      struct str *out)
{
    unsigned i;
    if (choose_epsilon_for(p, c, floor(size * p->wish.value / 100), &i, NULL) !=
            OK ||
        i == CHOOSE_EPSILONS)
        return false;
    *out = choose_epsilon_text(&p->arena, i);
    return out->p != NULL;
}

static void list_prices(struct json *j, struct sb *b, struct prepared *p,
                        const struct priced *c)
{
    sb_printf(b,
              "for an error of %g %% (95 %% of answers); above of a count of "
              "1,000:\n",
              p->wish.value);
    json_begin(j, '[');
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct str price;
        if (!price_for(p, c, sizes[i], &price))
            continue;
        size_t begins = b->n;
        sb_cstr(b, "            of a count of ");
        text_number(b, sizes[i], 0);
        sb_printf(b, "%*sepsilon %.*s\n", (int)(begins + COLUMN - b->n), "",
                  PSTR(price));
        json_begin(j, '{');
        json_key(j, "count");
        json_double(j, sizes[i]);
        json_key(j, "epsilon");
        json_raw(j, price);
        json_end(j, '}');
    }
    json_end(j, ']');
}

void report_wish(struct json *j, struct sb *b, struct prepared *p,
                 const struct priced *c)
{
    const struct error_wish *w = &p->wish;
    if (!w->given)
        return;
    json_key(j, "for_error");
    if (w->percent) {
        list_prices(j, b, p, c);
        return;
    }
    sb_printf(b,
              w->at_least
                  ? "for an error of %g (95 %% of answers) at least epsilon "
                    "%.*s, and more by what the data are\n"
                  : "for an error of %g (95 %% of answers): epsilon %.*s\n",
              w->value, PSTR(p->epsilon));
    json_begin(j, '{');
    json_key(j, "p95");
    json_double(j, w->value);
    json_key(j, w->at_least ? "epsilon_at_least" : "epsilon");
    json_raw(j, p->epsilon);
    json_end(j, '}');
}
