/* Questions and answers as messages: see reply.h. */
#include "serve/reply.h"

#include <stdlib.h>
#include <string.h>

/* --- questions --------------------------------------------------------------
 */

bool question_read(struct wire_in *in, struct question_text *out)
{
    *out = (struct question_text){.sql = ""};
    uint8_t flags = wire_get8(in);
    out->spend = flags & QUESTION_FLAG_SPEND;
    out->error_columns = wire_get8(in);
    out->sql = wire_get_text(in);
    out->n_settings = wire_get16(in);
    if (out->n_settings > QUESTION_SETTINGS_MOST)
        return false;
    for (size_t i = 0; i < out->n_settings; i++) {
        out->settings[i].name = wire_get_text(in);
        out->settings[i].value = wire_get_text(in);
    }
    out->n_parameters = wire_get16(in);
    if (out->n_parameters > QUESTION_PARAMETERS_MOST)
        return false;
    for (size_t i = 0; i < out->n_parameters; i++) {
        bool null = wire_get8(in);
        const char *text = wire_get_text(in);
        out->parameters[i] = null ? NULL : text;
    }
    return wire_at_end(in);
}

void question_write(struct wire_out *out, const struct question_text *q)
{
    wire_put8(out, q->spend ? QUESTION_FLAG_SPEND : 0);
    wire_put8(out, q->error_columns);
    wire_put_text(out, q->sql);
    wire_put16(out, (uint16_t)q->n_settings);
    for (size_t i = 0; i < q->n_settings; i++) {
        wire_put_text(out, q->settings[i].name);
        wire_put_text(out, q->settings[i].value);
    }
    wire_put16(out, (uint16_t)q->n_parameters);
    for (size_t i = 0; i < q->n_parameters; i++) {
        wire_put8(out, !q->parameters[i]);
        wire_put_text(out, q->parameters[i] ? q->parameters[i] : "");
    }
}

/* PRIVACY: dpc_question_set takes an analyst's options only, so whatever a
 * front says, nothing of the owner's can be said here. */
dpc_question *question_make(const struct question_text *q, dpc_error **err)
{
    dpc_question *out = NULL;
    bool ok = !dpc_question_new(q->sql, &out);
    for (size_t i = 0; ok && i < q->n_settings; i++)
        ok = !dpc_question_set(out, q->settings[i].name, q->settings[i].value,
                               err);
    for (size_t i = 0; ok && i < q->n_parameters; i++)
        ok = !dpc_question_param(out, i + 1, q->parameters[i], err);
    if (ok) {
        dpc_question_error_columns(out, q->error_columns);
        return out;
    }
    dpc_question_free(out);
    return NULL;
}

/* --- writing replies --------------------------------------------------------
 */

enum { KIND_ERROR, KIND_RESULT, KIND_JSON };

void reply_write_error(struct wire_out *out, const char *code,
                       const char *message, const char *detail,
                       const char *hint, long position)
{
    wire_put8(out, KIND_ERROR);
    wire_put_text(out, code);
    wire_put_text(out, message);
    wire_put_text(out, detail);
    wire_put_text(out, hint);
    wire_put32(out, (uint32_t)(position + 1));
}

void reply_write_failure(struct wire_out *out, const dpc_error *e)
{
    reply_write_error(out, dpc_error_code(e), dpc_error_message(e),
                      dpc_error_detail(e), dpc_error_hint(e),
                      dpc_error_position(e));
}

void reply_write_json(struct wire_out *out, const char *json)
{
    wire_put8(out, KIND_JSON);
    wire_put_text(out, json);
}

static void write_cells(struct wire_out *out, const dpc_result *r)
{
    size_t cols = dpc_result_columns(r), rows = dpc_result_rows(r);
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < cols; k++) {
            const char *cell = dpc_result_cell(r, i, k);
            wire_put8(out, !cell);
            if (cell)
                wire_put_text(out, cell);
        }
}

static const char *or_empty(const char *s)
{
    return s ? s : "";
}

void reply_write_result(struct wire_out *out, const dpc_result *r)
{
    size_t cols = dpc_result_columns(r);
    dpc_type type;
    dpc_role role;
    wire_put8(out, KIND_RESULT);
    wire_put16(out, (uint16_t)cols);
    for (size_t i = 0; i < cols; i++) {
        wire_put_text(out, dpc_result_column(r, i, &type, &role));
        wire_put8(out, (uint8_t)type);
        wire_put8(out, (uint8_t)role);
    }
    wire_put32(out, (uint32_t)dpc_result_rows(r));
    write_cells(out, r);
    wire_put16(out, (uint16_t)dpc_result_parameters(r));
    for (size_t i = 0; i < dpc_result_parameters(r); i++)
        wire_put8(out, (uint8_t)dpc_result_parameter(r, i));
    wire_put8(out, dpc_result_repeated(r) != 0);
    wire_put_text(out, or_empty(dpc_result_json(r)));
    wire_put_text(out, or_empty(dpc_result_price(r, "epsilon")));
    wire_put_text(out, or_empty(dpc_result_price(r, "delta")));
    wire_put_text(out, or_empty(dpc_result_guarantee(r, 0)));
    wire_put_text(out, or_empty(dpc_result_receipt(r, 0)));
}

/* --- reading them -----------------------------------------------------------
 */

static bool read_error(struct wire_in *in, struct reply *out)
{
    out->code = wire_get_text(in);
    out->message = wire_get_text(in);
    out->detail = wire_get_text(in);
    out->hint = wire_get_text(in);
    out->position = (long)wire_get32(in) - 1;
    return wire_at_end(in);
}

static bool read_columns(struct wire_in *in, struct reply *out)
{
    out->n_columns = wire_get16(in);
    out->columns = calloc(out->n_columns + 1, sizeof *out->columns);
    if (!out->columns)
        return false;
    for (size_t i = 0; i < out->n_columns; i++) {
        out->columns[i].name = wire_get_text(in);
        out->columns[i].type = (dpc_type)wire_get8(in);
        out->columns[i].role = (dpc_role)wire_get8(in);
    }
    return !in->bad;
}

static bool read_cells(struct wire_in *in, struct reply *out)
{
    out->n_rows = wire_get32(in);
    size_t n = out->n_rows * out->n_columns;
    if (in->bad || n > in->n || (out->n_rows && !out->n_columns))
        return false; /* a cell takes a byte at least */
    out->cells = calloc(n + 1, sizeof *out->cells);
    if (!out->cells)
        return false;
    for (size_t i = 0; i < n; i++)
        out->cells[i] = wire_get8(in) ? NULL : wire_get_text(in);
    return !in->bad;
}

static bool read_result(struct wire_in *in, struct reply *out)
{
    if (!read_columns(in, out) || !read_cells(in, out))
        return false;
    out->n_parameters = wire_get16(in);
    out->parameters = calloc(out->n_parameters + 1, sizeof *out->parameters);
    if (!out->parameters)
        return false;
    for (size_t i = 0; i < out->n_parameters; i++)
        out->parameters[i] = (dpc_type)wire_get8(in);
    out->repeated = wire_get8(in);
    out->json = wire_get_text(in);
    out->epsilon = wire_get_text(in);
    out->delta = wire_get_text(in);
    out->guarantee = wire_get_text(in);
    out->receipt = wire_get_text(in);
    return wire_at_end(in);
}

bool reply_read(struct wire_in *in, struct reply *out)
{
    *out = (struct reply){.position = -1};
    uint8_t kind = wire_get8(in);
    out->ok = kind != KIND_ERROR;
    bool fine = false;
    if (in->bad)
        return false;
    if (kind == KIND_ERROR) {
        fine = read_error(in, out);
    } else if (kind == KIND_RESULT) {
        fine = read_result(in, out);
    } else if (kind == KIND_JSON) {
        out->json = wire_get_text(in);
        fine = wire_at_end(in);
    }
    if (!fine)
        reply_free(out);
    return fine;
}

void reply_free(struct reply *r)
{
    free(r->columns);
    free(r->cells);
    free(r->parameters);
    free(r->bytes);
    *r = (struct reply){0};
}
