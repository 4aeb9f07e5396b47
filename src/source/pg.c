#include "source/internal.h"
enum status pg_open(struct source *src, const char *conninfo, struct err *err)
{
    (void)src;
    (void)conninfo;
    return err_set(err, E_UNSUPPORTED,
                   "PostgreSQL sources are not supported yet");
}
void pg_close(struct source *src)
{
    (void)src;
}
enum status pg_load(struct source *src, const struct src_table *t,
                    struct store_loader *l, const struct progress *p,
                    struct err *err)
{
    (void)src;
    (void)t;
    (void)l;
    (void)p;
    return err_internal(err, "pg_load");
}
void pg_version(struct source *src, struct sb *b)
{
    (void)src;
    (void)b;
}
