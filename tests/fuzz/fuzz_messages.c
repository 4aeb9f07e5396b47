/*
 * What processes say to each other, from one that was taken over: questions and
 * replies, the stream of a channel, the frame of a worker. Reading never
 * crashes or leaks, gives nothing beyond its limits, and a question that was
 * read is written again as it was. The first byte says which.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "release/child.h"
#include "serve/ipc.h"
#include "serve/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 16 };

static bool same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static void question(const uint8_t *data, size_t size)
{
    static struct question_text q, again;
    struct wire_in in = wire_in_of(data, size);
    struct wire_out out;
    if (!question_read(&in, &q))
        return;
    wire_out_init(&out, 2 * size + 64);
    wire_begin(&out, IPC_ASK);
    question_write(&out, &q);
    wire_end(&out);
    struct wire_in back = wire_in_of(out.p + 5, out.n - 5);
    if (out.failed || !question_read(&back, &again) ||
        again.n_settings != q.n_settings ||
        again.n_parameters != q.n_parameters || again.spend != q.spend ||
        !same(q.sql, again.sql))
        abort();
    for (size_t i = 0; i < q.n_parameters; i++)
        if (!same(q.parameters[i], again.parameters[i]))
            abort();
    wire_out_fini(&out);
    dpc_question_free(question_make(&q, NULL));
}

static void reply(const uint8_t *data, size_t size)
{
    struct wire_in in = wire_in_of(data, size);
    struct reply r;
    size_t sum = 0;
    if (!reply_read(&in, &r))
        return;
    for (size_t i = 0; i < r.n_rows * r.n_columns; i++)
        sum += r.cells[i] ? strlen(r.cells[i]) : 0;
    for (size_t i = 0; i < r.n_columns; i++)
        sum += strlen(r.columns[i].name);
    if (sum > size || (!r.ok && !r.code))
        abort();
    reply_free(&r);
}

/* A stream in two pieces, as sockets cut them. */
static void stream(const uint8_t *data, size_t size)
{
    int ends[2];
    struct ipc c;
    struct wire_in in;
    char type;
    if (size > MOST || !ipc_pair(ends))
        return;
    ipc_init(&c, ends[0], MOST / 4);
    for (int piece = 0; piece < 2; piece++) {
        size_t from = piece ? size / 3 : 0, to = piece ? size : size / 3;
        if (to > from && write(ends[1], data + from, to - from) < 0)
            break;
        ipc_fill(&c);
        while (ipc_next(&c, &type, &in)) {
            if (in.n > MOST / 4)
                abort();
            while (!in.bad && in.at < in.n)
                (void)wire_get_text(&in);
        }
    }
    close(ends[1]);
    ipc_fini(&c);
}

/* A worker's end of the pipe, whatever was written into it. */
static void frame(const uint8_t *data, size_t size)
{
    int ends[2];
    struct mem m;
    struct arena a;
    struct str out = {0};
    struct err err = {0};
    const struct child_limits l = {.most = MOST / 4};
    if (size > MOST / 2 || pipe(ends) != 0)
        return;
    bool written = !size || write(ends[1], data, size) == (ssize_t)size;
    close(ends[1]);
    mem_init(&m, 8 << 20);
    arena_init(&a, &m);
    if (written && child_listen(ends[0], -1, &a, &l, &out, &err) == OK &&
        out.n > size)
        abort();
    close(ends[0]);
    arena_fini(&a);
    if (atomic_load(&m.used))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const kinds[])(const uint8_t *, size_t) = {question, reply,
                                                             stream, frame};
    if (size)
        kinds[data[0] % 4](data + 1, size - 1);
    return 0;
}
