/*
 * Messages of an analyst's client after the sign-in: simple queries, prepared
 * statements, parameters in text and binary, portals, cursors. The connection
 * never crashes or leaks, whatever comes. What needs rows is asked of a desk
 * that refuses. An input is messages: a type, a length (two bytes), the body.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>

#include "catalogue/cat_snapshot.h"
#include "fuzz/public_set.h"
#include "serve/front_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
    dpc_dataset *snapshot;
    struct catalogue *catalogue;
    int client[2], auth[2], desk[2];
    struct front_client who;
} world;

/* --- the others ----------------------------------------------------------- */

static void refuse(struct ipc *desk)
{
    char type;
    struct wire_in in;
    ipc_fill(desk);
    while (ipc_next(desk, &type, &in)) {
        uint32_t number = wire_get32(&in);
        ipc_begin(desk, IPC_REPLY);
        wire_put32(&desk->out, number);
        reply_write_error(&desk->out, "budget", "nothing is left", "", "", -1);
        ipc_end(desk);
    }
    if (!ipc_flush_all(desk))
        abort();
}

static void refuse_password(struct ipc *auth)
{
    char type;
    struct wire_in in;
    ipc_fill(auth);
    while (ipc_next(auth, &type, &in)) {
        ipc_begin(auth, IPC_STORED);
        wire_put8(&auth->out, 0);
        ipc_end(auth);
    }
    if (!ipc_flush_all(auth))
        abort();
}

static void *others(void *unused)
{
    static char lost[1 << 16];
    struct ipc desk, auth;
    ipc_init(&desk, world.desk[1], IPC_FRONT_MOST);
    ipc_init(&auth, world.auth[1], IPC_FRONT_MOST);
    for (;;) {
        struct pollfd p[3] = {{.fd = world.client[1], .events = POLLIN},
                              {.fd = world.desk[1], .events = POLLIN},
                              {.fd = world.auth[1], .events = POLLIN}};
        if (poll(p, 3, -1) < 0)
            continue;
        if (p[2].revents)
            refuse_password(&auth);
        if (p[0].revents && read(world.client[1], lost, sizeof lost) <= 0)
            break;
        if (p[1].revents)
            refuse(&desk);
    }
    return unused;
}

static void prepare(void)
{
    void *bytes;
    unsigned char *tables;
    size_t n;
    struct catalogue_error err;
    pthread_t thread;
    public_set_bytes(&bytes, &n);
    bool good =
        dpc_dataset_import(bytes, n, &world.snapshot, NULL) == DPC_OK &&
        catalogue_build_of(world.snapshot, "clinic", &tables, &n, &err) &&
        catalogue_open(tables, n, "ann", &world.catalogue, &err) &&
        ipc_pair(world.client) && ipc_pair(world.auth) && ipc_pair(world.desk);
    dpc_bytes_free(bytes);
    /* the service's log; DPC_FUZZ_LOUD shows it, and what a sanitizer says */
    int null = getenv("DPC_FUZZ_LOUD") ? -1 : open("/dev/null", O_WRONLY);
    if (null >= 0)
        dup2(null, 2);
    world.who.fd = world.client[0];
    if (!good || pthread_create(&thread, NULL, others, NULL) != 0)
        exit(1);
}

/* --- the connection ------------------------------------------------------- */

static void message(struct front *f, char type, const uint8_t *p, size_t n)
{
    struct wire_in in = wire_in_of(p, n);
    if (type == 'S') {
        f->skip_to_sync = false;
        if (f->transaction == 'I')
            portal_close(f, NULL, true);
    } else if (type == 'Q') {
        const char *text = wire_get_text(&in);
        f->skip_to_sync = false;
        portal_close(f, "", false);
        if (wire_at_end(&in))
            run_simple(f, text);
    } else if (!f->skip_to_sync) {
        extended_message(f, type, &in);
    }
    front_flush(f);
}

static void end(struct front *f)
{
    portal_close(f, NULL, true);
    prepared_close(f, NULL, true);
    for (size_t i = 0; i < FRONT_NAMED_MOST; i++)
        if (f->portals[i] || f->prepared[i])
            abort();
    free(f->settings);
    free(f->last);
    free(f->in);
    wire_out_fini(&f->out);
    free(f->desk.in);
    wire_out_fini(&f->desk.out);
    free(f->auth.in);
    wire_out_fini(&f->auth.out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct conf_dataset set = {.name = "clinic",
                                            .epsilon = "1",
                                            .epsilon_min = "0.1",
                                            .epsilon_max = "2",
                                            .delta = "0",
                                            .delta_max = "0.001"};
    static struct front f;
    if (!world.snapshot)
        prepare();
    f = (struct front){.client = &world.who,
                       .dataset = &set,
                       .user = "ann",
                       .may_spend = true,
                       .transaction = 'I',
                       .session = 1,
                       .snapshot = world.snapshot,
                       .catalogue = world.catalogue};
    wire_out_init(&f.out, FRONT_OUT_MOST);
    ipc_init(&f.auth, world.auth[0], 4096);
    ipc_init(&f.desk, world.desk[0], IPC_REPLY_MOST);
    settings_init(&f);
    while (size >= 3) {
        size_t n = (size_t)data[1] << 8 | data[2];
        n = n < size - 3 ? n : size - 3;
        message(&f, (char)data[0], data + 3, n);
        data += 3 + n;
        size -= 3 + n;
    }
    end(&f);
    return 0;
}
