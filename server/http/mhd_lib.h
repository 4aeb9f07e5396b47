/*
 * libmicrohttpd, found when the console is first served: it brings GnuTLS with
 * it, which takes time to load that no other command should spend. Its header
 * declares; the names below lead through a table.
 */
#ifndef HTTP_MHD_LIB_H
#define HTTP_MHD_LIB_H

#include <microhttpd.h>
#include <stdbool.h>

#define MHD_FUNCTIONS(X)                                                       \
    X(MHD_add_connection)                                                      \
    X(MHD_add_response_header)                                                 \
    X(MHD_create_response_from_buffer)                                         \
    X(MHD_destroy_response)                                                    \
    X(MHD_get_fdset)                                                           \
    X(MHD_get_timeout)                                                         \
    X(MHD_lookup_connection_value)                                             \
    X(MHD_queue_response)                                                      \
    X(MHD_run_from_select)                                                     \
    X(MHD_start_daemon)

struct mhd_lib {
#define X(name) __typeof__(name) *name##_;
    MHD_FUNCTIONS(X)
#undef X
};
extern struct mhd_lib mhd_lib;

/* Before the first of them is called, in a process without threads. False
 * after a message where there is no such library. */
bool mhd_lib_open(void);

#ifndef MHD_LIB_OWN /* mhd_lib.c alone says the names themselves */
/* the header has macros for some of them */
#undef MHD_add_connection
#define MHD_add_connection mhd_lib.MHD_add_connection_
#undef MHD_add_response_header
#define MHD_add_response_header mhd_lib.MHD_add_response_header_
#undef MHD_create_response_from_buffer
#define MHD_create_response_from_buffer mhd_lib.MHD_create_response_from_buffer_
#undef MHD_destroy_response
#define MHD_destroy_response mhd_lib.MHD_destroy_response_
#undef MHD_get_fdset
#define MHD_get_fdset mhd_lib.MHD_get_fdset_
#undef MHD_get_timeout
#define MHD_get_timeout mhd_lib.MHD_get_timeout_
#undef MHD_lookup_connection_value
#define MHD_lookup_connection_value mhd_lib.MHD_lookup_connection_value_
#undef MHD_queue_response
#define MHD_queue_response mhd_lib.MHD_queue_response_
#undef MHD_run_from_select
#define MHD_run_from_select mhd_lib.MHD_run_from_select_
#undef MHD_start_daemon
#define MHD_start_daemon mhd_lib.MHD_start_daemon_
#endif

#endif
