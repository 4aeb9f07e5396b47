/* Results over several counts: see counts.h. */
#include "release/counts.h"

void counts_begin(struct counts_out *w, size_t n, struct result *out)
{
    *w = (struct counts_out){.text = &out->text, .n = n, .several = n > 1};
    json_init(&w->json, &out->json);
    json_begin(&w->json, '{');
    if (!w->several)
        return;
    json_key(&w->json, "counts");
    json_begin(&w->json, '[');
}

void counts_next(struct counts_out *w, struct str label)
{
    w->i++;
    if (!w->several)
        return;
    if (w->i > 1)
        json_end(&w->json, '}');
    json_begin(&w->json, '{');
    sb_printf(w->text, "%scount %zu of %zu", w->i > 1 ? "\n" : "", w->i, w->n);
    if (label.n && !str_is(label, "count"))
        sb_printf(w->text, ": %.*s", PSTR(label));
    sb_char(w->text, '\n');
}

void counts_list_end(struct counts_out *w)
{
    if (w->several && !w->listed) {
        json_end(&w->json, '}');
        json_end(&w->json, ']');
    }
    w->listed = true;
}

void counts_end(struct counts_out *w)
{
    counts_list_end(w);
    json_end(&w->json, '}');
}
