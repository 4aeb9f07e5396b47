/* Contributions to groups: see entity_groups.h. */
#include "entity/entity_groups.h"

#include <string.h>

/* PRIVACY: what an entity has left when a group comes depends on its own
 * results and on the order of the groups' keys, on nothing else. */
enum status entity_cut_groups(struct mem *m, const struct pack_input *in,
                              const uint32_t *group, size_t n, uint64_t t,
                              u128 *out, struct err *err)
{
    size_t size = ((size_t)in->entities + 1) * sizeof(uint64_t);
    if (in->k != 1 || in->answer || in->floor)
        return err_internal(err, "entity_cut_groups");
    uint64_t *left = mem_alloc(m, size);
    if (!left)
        return err_nomem(err);
    for (uint32_t u = 0; u < in->entities; u++)
        left[u] = t;
    memset(out, 0, n * sizeof *out);
    for (size_t i = 0; i < in->n; i++) {
        uint64_t *may = &left[in->ids[i]];
        u128 w = in->weight ? in->weight[i] : 1;
        uint64_t part = w < *may ? (uint64_t)w : *may;
        *may -= part;
        out[group[i]] += part;
    }
    mem_wipe(left, size);
    mem_free(m, left, size);
    return OK;
}

/* --- one group ------------------------------------------------------------ */

enum status entity_parts_init(struct entity_parts *x, struct mem *m,
                              const struct pack_input *whole, struct err *err)
{
    *x = (struct entity_parts){.mem = m,
                               .n_ids = (size_t)whole->entities + 1,
                               .n_answers = (size_t)whole->answers + 1};
    arena_init(&x->arena, m);
    x->arena.wipe = true;
    x->id = mem_alloc(m, x->n_ids * sizeof *x->id);
    x->answer = mem_alloc(m, x->n_answers * sizeof *x->answer);
    if (!x->id || !x->answer)
        return err_nomem(err);
    memset(x->id, 0xff, x->n_ids * sizeof *x->id);
    memset(x->answer, 0xff, x->n_answers * sizeof *x->answer);
    return OK;
}

void entity_parts_fini(struct entity_parts *x)
{
    if (!x->mem)
        return;
    arena_fini(&x->arena);
    mem_free(x->mem, x->id, x->n_ids * sizeof *x->id);
    mem_free(x->mem, x->answer, x->n_answers * sizeof *x->answer);
    *x = (struct entity_parts){0};
}

/* The first tuple of a group that is at least g. */
static size_t first_of(const uint32_t *group, size_t n, uint64_t g)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (group[mid] < g)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* What stands in `from` by numbers from 0 on, in the order of appearance. */
static uint32_t number(const uint32_t *from, size_t n, uint32_t *known,
                       uint32_t *to)
{
    uint32_t next = 0;
    for (size_t i = 0; i < n; i++) {
        to[i] = PACK_NONE;
        if (from[i] == PACK_NONE)
            continue;
        if (known[from[i]] == PACK_NONE)
            known[from[i]] = next++;
        to[i] = known[from[i]];
    }
    for (size_t i = 0; i < n; i++)
        if (from[i] != PACK_NONE)
            known[from[i]] = PACK_NONE;
    return next;
}

enum status entity_part_of(struct entity_parts *x,
                           const struct pack_input *whole,
                           const uint32_t *group, uint32_t g,
                           struct pack_input *out, struct err *err)
{
    size_t from = first_of(group, whole->n, g);
    size_t n = first_of(group, whole->n, (uint64_t)g + 1) - from;
    arena_fini(&x->arena);
    arena_init(&x->arena, x->mem);
    x->arena.wipe = true;
    *out = *whole;
    out->n = n;
    uint32_t *ids = NEWS(&x->arena, uint32_t, n * whole->k + 1);
    uint32_t *answer = NEWS(&x->arena, uint32_t, n + 1);
    if (!ids || !answer)
        return err_nomem(err);
    out->ids = ids;
    out->entities =
        number(whole->ids + from * whole->k, n * whole->k, x->id, ids);
    if (whole->weight)
        out->weight = whole->weight + from;
    if (!whole->answer)
        return OK;
    out->answer = answer;
    out->answers = number(whole->answer + from, n, x->answer, answer);
    return OK;
}
