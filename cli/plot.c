/*
 * A released table as a picture (SVG): a bar for each group and count, and over
 * it the range that 95 % of such answers keep. Drawn from what was released,
 * without a library: texts, lines and rectangles.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum {
    MOST_ROWS = 200, /* more are not drawn, and the picture says so */
    MOST_SERIES = 6,
    MOST_LABEL = 32, /* characters of a key */
    LETTER = 7,      /* pixels, about */
    BAR = 16,
    GAP = 10,
    PLOT_WIDTH = 560,
    TOP = 34,
    BOTTOM = 64,
    RIGHT = 40
};

static const char *const colors[MOST_SERIES] = {
    "#3b6fb6", "#d9823b", "#4c9a6a", "#a8557f", "#8a7a3a", "#5f6a75"};

struct plot {
    FILE *to;
    const dpc_result *r;
    size_t rows, n_series;
    size_t series[MOST_SERIES]; /* columns */
    double lo, hi, step;        /* of the axis */
    int left, width, height;
};

/* --- texts ---------------------------------------------------------------- */

/* At most so many characters; what XML or a terminal would obey is not sent. */
static void put_text(FILE *to, const char *s, size_t most)
{
    size_t n = 0;
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        bool first = (c & 0xc0) != 0x80;
        if (first && n++ == most) {
            fputs("…", to);
            return;
        }
        if (c < 0x20 || c == 0x7f)
            fputc(' ', to);
        else if (c == '<' || c == '>' || c == '&' || c == '"')
            fprintf(to, "&#%d;", c);
        else
            fputc(c, to);
    }
}

static size_t letters(const char *s)
{
    size_t n = 0;
    for (; *s && n < MOST_LABEL; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

/* 1,234,567 */
static void put_number(FILE *to, double v)
{
    char text[40];
    int digits = fabs(v) < 1e15 && v != floor(v) ? 2 : 0;
    snprintf(text, sizeof text, "%.*f", digits, v);
    size_t sign = text[0] == '-', end = strcspn(text, ".");
    for (size_t i = 0; text[i]; i++) {
        if (i > sign && i < end && (end - i) % 3 == 0)
            fputc(',', to);
        fputc(text[i], to);
    }
}

/* --- numbers -------------------------------------------------------------- */

static bool number_at(const struct plot *p, size_t row, size_t column,
                      double *out)
{
    const char *s = dpc_result_cell(p->r, row, column);
    char *end;
    *out = s ? strtod(s, &end) : 0;
    return s && end != s && isfinite(*out);
}

/* Behind the column of a number stands its error; 0: it is not known. */
static double error_at(const struct plot *p, size_t row, size_t column)
{
    dpc_role role = DPC_ROLE_KEY;
    double e;
    if (!dpc_result_column(p->r, column + 1, NULL, &role) ||
        role != DPC_ROLE_ERROR || !number_at(p, row, column + 1, &e))
        return 0;
    return e;
}

static bool is_drawn(const dpc_result *r, size_t column)
{
    dpc_type t = DPC_TYPE_UNKNOWN;
    dpc_role role = DPC_ROLE_KEY;
    dpc_result_column(r, column, &t, &role);
    return role == DPC_ROLE_COUNT &&
           (t == DPC_TYPE_BIGINT || t == DPC_TYPE_NUMERIC ||
            t == DPC_TYPE_DOUBLE);
}

/* Round numbers below and above everything, and zero. */
static void find_axis(struct plot *p)
{
    double lo = 0, hi = 0, v;
    for (size_t i = 0; i < p->rows; i++)
        for (size_t s = 0; s < p->n_series; s++) {
            if (!number_at(p, i, p->series[s], &v))
                continue;
            double e = error_at(p, i, p->series[s]);
            lo = fmin(lo, v - e);
            hi = fmax(hi, v + e);
        }
    double range = hi > lo ? hi - lo : 1;
    double ten = pow(10, floor(log10(range / 5)));
    double rest = range / 5 / ten;
    p->step = ten * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
    p->lo = p->step * floor(lo / p->step);
    p->hi = p->step * ceil(hi / p->step);
    if (p->hi <= p->lo)
        p->hi = p->lo + p->step;
}

static double x_of(const struct plot *p, double v)
{
    return p->left + (v - p->lo) / (p->hi - p->lo) * PLOT_WIDTH;
}

/* --- drawing -------------------------------------------------------------- */

static void line(const struct plot *p, double x1, double y1, double x2,
                 double y2, const char *color)
{
    fprintf(p->to,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
            "stroke=\"%s\"/>\n",
            x1, y1, x2, y2, color);
}

static void begin_text(const struct plot *p, double x, double y,
                       const char *anchor)
{
    fprintf(p->to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y,
            anchor);
}

static void end_text(const struct plot *p)
{
    fputs("</text>\n", p->to);
}

static void draw_axis(const struct plot *p)
{
    double bottom = p->height - BOTTOM;
    for (double v = p->lo; v < p->hi + p->step / 2; v += p->step) {
        double at = fabs(v) < p->step / 2 ? 0 : v;
        line(p, x_of(p, at), TOP, x_of(p, at), bottom,
             at == 0 ? "#555" : "#ddd");
        begin_text(p, x_of(p, at), bottom + 16, "middle");
        put_number(p->to, at);
        end_text(p);
    }
}

static void draw_bar(const struct plot *p, size_t row, size_t s, double y)
{
    double v, e = error_at(p, row, p->series[s]);
    if (!number_at(p, row, p->series[s], &v))
        return;
    double from = x_of(p, fmin(v, 0)), to = x_of(p, fmax(v, 0));
    fprintf(p->to,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" "
            "fill=\"%s\"><title>",
            from, y, to - from, BAR, colors[s]);
    put_number(p->to, v);
    if (e > 0) {
        fputs(" ± ", p->to);
        put_number(p->to, e);
    }
    fputs("</title></rect>\n", p->to);
    if (!(e > 0))
        return;
    double middle = y + BAR / 2.0, a = x_of(p, v - e), b = x_of(p, v + e);
    line(p, a, middle, b, middle, "#111");
    line(p, a, middle - 4, a, middle + 4, "#111");
    line(p, b, middle - 4, b, middle + 4, "#111");
}

/* The keys of a row, as one text. */
static void label_of(const struct plot *p, size_t row, char *out, size_t size)
{
    dpc_role role;
    size_t n = 0;
    out[0] = 0;
    for (size_t c = 0; dpc_result_column(p->r, c, NULL, &role); c++) {
        if (role != DPC_ROLE_KEY)
            continue;
        const char *s = dpc_result_cell(p->r, row, c);
        int k =
            snprintf(out + n, size - n, "%s%s", n ? ", " : "", s ? s : "NULL");
        n += k > 0 && (size_t)k < size - n ? (size_t)k : 0;
    }
}

static void draw_rows(const struct plot *p)
{
    double y = TOP + GAP / 2.0;
    char label[400];
    for (size_t i = 0; i < p->rows; i++) {
        double group = BAR * (double)p->n_series;
        label_of(p, i, label, sizeof label);
        begin_text(p, p->left - 8, y + group / 2 + 4, "end");
        put_text(p->to, label, MOST_LABEL);
        end_text(p);
        for (size_t s = 0; s < p->n_series; s++)
            draw_bar(p, i, s, y + BAR * (double)s);
        y += group + GAP;
    }
}

/* The names of the counts, each with its color. */
static void draw_legend(const struct plot *p)
{
    double x = p->left;
    for (size_t s = 0; s < p->n_series; s++) {
        const char *name = dpc_result_column(p->r, p->series[s], NULL, NULL);
        fprintf(p->to,
                "<rect x=\"%.1f\" y=\"12\" width=\"12\" height=\"12\" "
                "fill=\"%s\"/>\n",
                x, colors[s]);
        begin_text(p, x + 18, 22, "start");
        put_text(p->to, name, MOST_LABEL);
        end_text(p);
        x += 18 + LETTER * (double)letters(name) + 24;
    }
}

static void draw_foot(const struct plot *p)
{
    const char *epsilon = dpc_result_price(p->r, "epsilon");
    const char *rho = dpc_result_price(p->r, "rho");
    begin_text(p, p->left, p->height - 26, "start");
    fprintf(p->to,
            "Noisy numbers; 95 %% of such answers lie within the lines. ");
    if (rho || epsilon)
        fprintf(p->to, "Price: %s %s.", rho ? "rho" : "epsilon",
                rho ? rho : epsilon);
    end_text(p);
    if (p->rows == dpc_result_rows(p->r))
        return;
    begin_text(p, p->left, p->height - 10, "start");
    fprintf(p->to, "The first %zu of %zu groups.", p->rows,
            dpc_result_rows(p->r));
    end_text(p);
}

static void find_sizes(struct plot *p)
{
    size_t widest = 0;
    char label[400];
    p->rows = dpc_result_rows(p->r);
    if (p->rows > MOST_ROWS)
        p->rows = MOST_ROWS;
    for (size_t c = 0; c < dpc_result_columns(p->r); c++)
        if (p->n_series < MOST_SERIES && is_drawn(p->r, c))
            p->series[p->n_series++] = c;
    for (size_t i = 0; i < p->rows; i++) {
        label_of(p, i, label, sizeof label);
        widest = letters(label) > widest ? letters(label) : widest;
    }
    p->left = 24 + LETTER * (int)widest;
    p->width = p->left + PLOT_WIDTH + RIGHT;
    p->height = TOP + BOTTOM + (int)p->rows * (BAR * (int)p->n_series + GAP);
}

FILE *plot_open(const char *path, bool json)
{
    FILE *f = fopen(path, "ae"); /* an older picture stays until there is one */
    if (!f)
        usage_error(json, "could not make the picture", path, strerror(errno));
    return f;
}

bool plot_draw(FILE *to, const dpc_result *r, const char *query)
{
    struct plot p = {.to = to, .r = r};
    if (ftruncate(fileno(to), 0) && errno != EINVAL) /* no pipe */
        return false;
    find_sizes(&p);
    find_axis(&p);
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
            "width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n"
            "<title>",
            p.width, p.height, p.width, p.height);
    put_text(to, query, 2000);
    fputs("</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
          to);
    draw_axis(&p);
    draw_rows(&p);
    draw_legend(&p);
    draw_foot(&p);
    fputs("</svg>\n", to);
    return !ferror(to) && fflush(to) == 0;
}
