/*
 * Answers: their stored form and their error.
 *
 * The error of smooth noise is a multiple of the secret S. Its estimate is a
 * release of its own: ln S plus noise. p50 and p95 come from it as it is, in
 * the middle; at_most_p95 from the same draw raised by a public factor, so that
 * it is too small in at most one of twenty. What everybody may know, that S
 * lies between its floor and the global sensitivity, is taken into account.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "release/answer.h"

static void write_list(struct json *j, const char *name, const str_list *l)
{
    json_key(j, name);
    json_begin(j, '[');
    for (size_t i = 0; i < l->n; i++)
        json_raw(j, l->p[i]);
    json_end(j, ']');
}

enum status answer_write(struct arena *a, const struct answer *x,
                         struct str *out, struct err *err)
{
    struct sb b;
    struct json j;
    sb_init(&b, a);
    json_init(&j, &b);
    json_begin(&j, '{');
    write_list(&j, "answers", &x->numbers);
    json_key(&j, "error");
    json_begin(&j, '[');
    if (x->has_error) {
        json_double(&j, x->p50);
        json_double(&j, x->p95);
        json_bool(&j, x->released);
        if (x->released)
            json_double(&j, x->at_most_p95);
    }
    json_end(&j, ']');
    if (x->thresholds.n)
        write_list(&j, "thresholds", &x->thresholds);
    if (x->lost.n)
        write_list(&j, "lost", &x->lost);
    if (x->keys_cut) {
        json_key(&j, "keys_cut");
        json_bool(&j, true);
    }
    if (x->keys.n) { /* last: a text among them may look like a member */
        json_key(&j, "keys");
        json_begin(&j, '[');
        for (size_t i = 0; i < x->keys.n; i++)
            json_raw(&j, x->keys.p[i]);
        json_end(&j, ']');
    }
    json_end(&j, '}');
    *out = sb_view(&b);
    return b.failed ? err_nomem(err) : OK;
}

/* --- reading it back ------------------------------------------------------
 *
 * The ledger is a file that somebody else may have written: what it holds is
 * printed again, so it is taken only in the very form of answer_write. */

static bool take(struct str *s, const char *word)
{
    size_t n = strlen(word);
    if (s->n < n || memcmp(s->p, word, n) != 0)
        return false;
    s->p += n;
    s->n -= n;
    return true;
}

/* Characters of `set` from the start of s; at least one, at most `most`. */
static bool take_any(struct str *s, const char *set, size_t most,
                     struct str *out)
{
    size_t n = 0;
    while (n < s->n && s->p[n] && strchr(set, s->p[n]))
        n++;
    *out = (struct str){s->p, n};
    s->p += n;
    s->n -= n;
    return n > 0 && n <= most;
}

static bool take_integer(struct str *s, struct str *out)
{
    struct str digits;
    const char *start = s->p;
    size_t sign = take(s, "-");
    if (!take_any(s, "0123456789", SIZE_MAX, &digits))
        return false;
    *out = (struct str){start, digits.n + sign};
    return digits.p[0] != '0' || (digits.n == 1 && !sign);
}

static bool take_double(struct str *s, double *out)
{
    struct str text;
    char buf[64], *end;
    if (take(s, "\"inf\"")) {
        *out = INFINITY;
        return true;
    }
    if (!take_any(s, "+-.0123456789e", sizeof buf - 1, &text))
        return false;
    memcpy(buf, text.p, text.n);
    buf[text.n] = 0;
    *out = strtod(buf, &end);
    return !*end && *out >= 0 && *out <= DBL_MAX;
}

static bool take_error(struct str *s, struct answer *out)
{
    if (take(s, "[]"))
        return true;
    out->has_error = true;
    if (!take(s, "[") || !take_double(s, &out->p50) || !take(s, ", ") ||
        !take_double(s, &out->p95) || !take(s, ", "))
        return false;
    out->released = take(s, "true");
    if (!out->released)
        return take(s, "false") && take(s, "]");
    if (!take(s, ", ")) { /* up to 0.1 the bound stood in place of p95 */
        out->at_most_p95 = out->p95;
        return take(s, "]");
    }
    return take_double(s, &out->at_most_p95) && take(s, "]");
}

static enum status malformed(struct err *err)
{
    return err_set(err, E_LEDGER, "the ledger holds a malformed answer");
}

static bool take_escape(struct str *s)
{
    struct str hex, digits;
    if (!take(s, "u"))
        return take(s, "\"") || take(s, "\\") || take(s, "n") || take(s, "t");
    hex = (struct str){s->p, s->n < 4 ? s->n : 4};
    s->p += hex.n;
    s->n -= hex.n;
    return hex.n == 4 && take_any(&hex, "0123456789abcdef", 4, &digits) &&
           digits.n == 4;
}

/* The rest of a text as json_str writes it, behind its first quotation mark. */
static bool take_text(struct str *s)
{
    while (s->n && s->p[0] != '"') {
        if ((unsigned char)s->p[0] < ' ')
            return false;
        if (take(s, "\\")) {
            if (!take_escape(s))
                return false;
        } else {
            s->p++;
            s->n--;
        }
    }
    return take(s, "\"");
}

/* ["F", 1, null] */
static bool take_key(struct str *s, struct str *out)
{
    struct str item;
    const char *start = s->p;
    if (!take(s, "["))
        return false;
    do {
        bool text = take(s, "\"");
        if (text ? !take_text(s)
                 : !take(s, "null") && !take(s, "true") && !take(s, "false") &&
                       !take_integer(s, &item))
            return false;
    } while (take(s, ", "));
    if (!take(s, "]"))
        return false;
    *out = (struct str){start, (size_t)(s->p - start)};
    return true;
}

/* As many keys as numbers, and the end of their list. */
static enum status take_keys(struct arena *a, struct str *s, struct answer *out,
                             struct err *err)
{
    struct str key;
    do {
        if (!take_key(s, &key))
            return malformed(err);
        struct str copy = str_copy(a, key);
        if (!copy.p || !VEC_PUSH(a, &out->keys, copy))
            return err_nomem(err);
    } while (take(s, ", "));
    return take(s, "]") && out->keys.n == out->numbers.n ? OK : malformed(err);
}

/* Whole numbers up to the end of their list. */
static enum status take_numbers(struct arena *a, struct str *s, str_list *out,
                                struct err *err)
{
    struct str item;
    while (!take(s, "]")) {
        if ((out->n && !take(s, ", ")) || !take_integer(s, &item))
            return malformed(err);
        struct str copy = str_copy(a, item);
        if (!copy.p || !VEC_PUSH(a, out, copy))
            return err_nomem(err);
    }
    return OK;
}

/* One threshold or one for each number, and as many hints or none. */
static enum status take_elected(struct arena *a, struct str *s,
                                struct answer *out, struct err *err)
{
    if (!take(s, ", \"thresholds\": ["))
        return OK;
    TRY(take_numbers(a, s, &out->thresholds, err));
    if (out->thresholds.n != 1 && out->thresholds.n != out->numbers.n)
        return malformed(err);
    for (size_t i = 0; i < out->thresholds.n; i++)
        if (out->thresholds.p[i].p[0] == '-')
            return malformed(err);
    if (!take(s, ", \"lost\": ["))
        return OK;
    TRY(take_numbers(a, s, &out->lost, err));
    return out->lost.n == out->thresholds.n ? OK : malformed(err);
}

enum status answer_read(struct arena *a, struct str text, struct answer *out,
                        struct err *err)
{
    struct str s = text;
    if (!take(&s, "{\"answers\": ["))
        return malformed(err);
    TRY(take_numbers(a, &s, &out->numbers, err));
    if (!take(&s, ", \"error\": ") || !take_error(&s, out))
        return malformed(err);
    TRY(take_elected(a, &s, out, err));
    out->keys_cut = take(&s, ", \"keys_cut\": true");
    if (take(&s, ", \"keys\": ["))
        TRY(take_keys(a, &s, out, err));
    bool cut_nothing = out->keys_cut && !out->keys.n;
    return take(&s, "}") && !s.n && !cut_nothing ? OK : malformed(err);
}

/* --- keys as values ------------------------------------------------------- */

static unsigned hex_digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* The writer escapes control characters, and U+FFFD where bytes were no
 * character. */
static void add_escaped(struct sb *b, const char hex[4])
{
    unsigned c = 0;
    for (int i = 0; i < 4; i++)
        c = c * 16 + hex_digit(hex[i]);
    if (c < 0x80) {
        sb_char(b, (char)c);
        return;
    }
    if (c < 0x800) {
        sb_char(b, (char)(0xC0 | c >> 6));
    } else {
        sb_char(b, (char)(0xE0 | c >> 12));
        sb_char(b, (char)(0x80 | (c >> 6 & 63)));
    }
    sb_char(b, (char)(0x80 | (c & 63)));
}

/* What take_text has passed, without its escapes. */
static bool unescape(struct arena *a, struct str s, struct str *out)
{
    struct sb b;
    sb_init(&b, a);
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != '\\') {
            sb_char(&b, s.p[i]);
            continue;
        }
        char c = s.p[++i];
        if (c == 'u') {
            add_escaped(&b, s.p + i + 1);
            i += 4;
        } else {
            sb_char(&b, c == 'n' ? '\n' : c == 't' ? '\t' : c);
        }
    }
    *out = sb_view(&b);
    return !b.failed;
}

/* A text of the key's type; ledgers of 0.1 hold date '2020-01-01'. */
static struct value text_value(struct arena *a, struct str text, enum type t)
{
    struct value v;
    const char *quote = memchr(text.p, '\'', text.n);
    if (t == T_TEXT || t == T_UNKNOWN)
        return value_text(text);
    if (value_parse(a, text, t, &v))
        return v;
    if (quote && text.p[text.n - 1] == '\'' && quote < text.p + text.n - 1) {
        struct str inner = {quote + 1,
                            (size_t)(text.p + text.n - 1 - quote - 1)};
        if (value_parse(a, inner, t, &v))
            return v;
    }
    return value_text(text);
}

static bool read_item(struct arena *a, struct str *s, enum type t,
                      struct value *out)
{
    struct str item, text;
    const char *start = s->p + 1;
    *out = value_null();
    if (take(s, "null"))
        return true;
    if (take(s, "true") || take(s, "false")) {
        *out = (struct value){.type = T_BOOL, .i = start[0] == 'r'};
        return true;
    }
    if (!take(s, "\""))
        return take_integer(s, &item) && value_parse_number(a, item, out);
    if (!take_text(s) ||
        !unescape(a, (struct str){start, (size_t)(s->p - 1 - start)}, &text))
        return false;
    *out = text_value(a, text, t);
    return true;
}

enum status answer_key_values(struct arena *a, struct str key,
                              const enum type *types, size_t n,
                              struct value *out, struct err *err)
{
    struct str s = key;
    bool fits = take(&s, "[");
    for (size_t i = 0; fits && i < n; i++)
        fits = (!i || take(&s, ", ")) && read_item(a, &s, types[i], &out[i]);
    return fits && take(&s, "]") && !s.n ? OK : malformed(err);
}

void answer_public_error(const struct choice *c, struct answer *out)
{
    out->has_error = true;
    bool exact = c->kind == CHOICE_EXACT;
    out->p50 = exact ? 0 : ceil(c->error.p50);
    out->p95 = exact ? 0 : ceil(c->error.p95);
}

/* S between what is public. */
static double within(const struct choice_smooth *c, double s) /* display */
{
    double factor = mpq_get_d(c->factor); /* display */
    s = fmax(s, mpq_get_d(c->floor) * factor);
    return c->most == U128_INF ? s : fmin(s, (double)c->most * factor);
}

enum status answer_estimate_error(const struct ledger_hold *hold,
                                  const struct choice *c,
                                  const struct secret_scale *s,
                                  struct entropy *rng, struct answer *out,
                                  struct err *err)
{
    mpq_t miss;
    struct scale_estimate e = {0};
    mpq_init(miss);
    mpq_set_ui(miss, 1, 40); /* with room: 1 of 20 is promised */
    enum status st;
    do /* as in draw.c */
        st = noise_release_scale(hold, &c->noise, s, c->smooth.error_epsilon,
                                 miss, rng, &e, err);
    while (st == E_ENTROPY);
    out->has_error = out->released = st == OK;
    out->p50 = ceil(c->error.p50 * within(&c->smooth, e.middle));
    out->p95 = ceil(c->error.p95 * within(&c->smooth, e.middle));
    out->at_most_p95 = ceil(c->error.p95 * within(&c->smooth, e.upper));
    mpq_clear(miss);
    return st;
}
