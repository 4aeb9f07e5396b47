/*
 * The public snapshot of a data set, from anywhere: an import never crashes or
 * leaks and an error has a message; bytes that were changed are refused, and
 * those that were not can be described and asked.
 *
 * An input that starts with '=' is places and bytes (three bytes each) that are
 * changed in a sound snapshot; any other follows its first line.
 */
#include <stdbool.h>
#include <stdint.h>

#include "fuzz/public_set.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void say(dpc_status s, dpc_error *e)
{
    if (s != DPC_OK && (!e || !*dpc_error_message(e)))
        abort();
    dpc_error_free(e);
}

static void look(const dpc_dataset *d)
{
    dpc_table t;
    dpc_column c;
    dpc_link l;
    for (size_t i = 0; dpc_table_at(d, i, &t); i++) {
        for (size_t k = 0; dpc_column_at(d, i, k, &c); k++)
            if (!c.name)
                abort();
        for (size_t k = 0; dpc_key_at(d, i, k, &l); k++)
            for (size_t j = 0; j < l.n; j++)
                if (l.columns[j] >= t.n_columns)
                    abort();
        for (size_t k = 0; dpc_reference_at(d, i, k, &l); k++)
            if (!l.table)
                abort();
        for (size_t k = 0; dpc_owner_at(d, i, k, &l); k++)
            if (!l.table)
                abort();
    }
}

static void ask(dpc_dataset *d, const char *sql)
{
    dpc_question *q = NULL;
    dpc_error *e = NULL;
    dpc_result *r = NULL;
    if (dpc_question_new(sql, &q) != DPC_OK)
        return;
    dpc_status s = dpc_question_set(q, "epsilon", "1", &e);
    if (s == DPC_OK)
        s = dpc_quote(d, q, &r, &e);
    say(s, e);
    dpc_result_free(r);
    dpc_question_free(q);
}

static void *sound;
static size_t n_sound;

static uint8_t *changed(const uint8_t *data, size_t size, size_t *n)
{
    if (!sound)
        public_set_bytes(&sound, &n_sound);
    const char *line = memchr(sound, '\n', n_sound);
    size_t head = (size_t)(line - (char *)sound) + 1;
    bool edit = size && data[0] == '=';
    *n = edit ? n_sound : head + size;
    uint8_t *out = malloc(*n);
    if (!out)
        exit(1);
    memcpy(out, sound, edit ? n_sound : head);
    if (!edit && size)
        memcpy(out + head, data, size);
    for (size_t i = 1; edit && i + 2 < size; i += 3)
        out[((size_t)data[i] << 8 | data[i + 1]) % n_sound] = data[i + 2];
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dpc_dataset *d = NULL;
    dpc_error *e = NULL;
    size_t n;
    uint8_t *bytes = changed(data, size, &n);
    dpc_status s = dpc_dataset_import(bytes, n, &d, &e);
    if ((s == DPC_OK) != (n == n_sound && !memcmp(bytes, sound, n)))
        abort();
    free(bytes);
    say(s, e);
    if (s != DPC_OK)
        return 0;
    look(d);
    ask(d, "SELECT COUNT(*) FROM visit v JOIN person p ON v.p = p.id "
           "WHERE v.cost > 3");
    ask(d, "SELECT kind, COUNT(*) FROM visit GROUP BY kind");
    dpc_dataset_free(d);
    return 0;
}
