/*
 * DuckDB's C interface, as far as it is used here: declared by hand and found
 * at run time, so that neither its headers nor its library are needed to build
 * or to run without it. Names and layouts are those of its documentation; they
 * are stable since 1.0.
 */
#ifndef SOURCE_DUCKDB_DUCKDB_LIB_H
#define SOURCE_DUCKDB_DUCKDB_LIB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Handles; what they point to is DuckDB's. */
typedef void *duck_handle;

struct duck_result {
    uint64_t old_counts[3];
    void *old_columns;
    char *old_message;
    void *internal;
};

/* A text: up to 12 bytes stand inside. */
union duck_text {
    struct {
        uint32_t n;
        char inside[12];
    };
    struct {
        uint32_t n_too;
        char prefix[4];
        const char *outside;
    };
};
_Static_assert(sizeof(union duck_text) == 16, "as DuckDB has it");

/* Numbers of types, as far as they are told apart. */
enum duck_type {
    DUCK_BOOLEAN = 1,
    DUCK_TINYINT = 2,
    DUCK_SMALLINT = 3,
    DUCK_INTEGER = 4,
    DUCK_BIGINT = 5,
    DUCK_UTINYINT = 6,
    DUCK_USMALLINT = 7,
    DUCK_UINTEGER = 8,
    DUCK_UBIGINT = 9,
    DUCK_FLOAT = 10,
    DUCK_DOUBLE = 11,
    DUCK_TIMESTAMP = 12,
    DUCK_DATE = 13,
    DUCK_TIME = 14,
    DUCK_HUGEINT = 16,
    DUCK_VARCHAR = 17,
    DUCK_DECIMAL = 19,
    DUCK_TIMESTAMP_TZ = 31
};

/* What a task of a statement ends with. */
enum duck_pending { DUCK_READY = 0, DUCK_NOT_READY = 1, DUCK_FAILED = 2 };

/* X(name, result, arguments) for each function, named as in DuckDB without
 * "duckdb_". States: 0 is success. */
#define DUCK_FUNCTIONS(X)                                                      \
    X(library_version, const char *, (void))                                   \
    X(create_config, int, (duck_handle *))                                     \
    X(set_config, int, (duck_handle, const char *, const char *))              \
    X(destroy_config, void, (duck_handle *))                                   \
    X(open_ext, int, (const char *, duck_handle *, duck_handle, char **))      \
    X(close, void, (duck_handle *))                                            \
    X(connect, int, (duck_handle, duck_handle *))                              \
    X(disconnect, void, (duck_handle *))                                       \
    X(prepare, int, (duck_handle, const char *, duck_handle *))                \
    X(prepare_error, const char *, (duck_handle))                              \
    X(destroy_prepare, void, (duck_handle *))                                  \
    X(execute_prepared_streaming, int, (duck_handle, struct duck_result *))    \
    X(pending_prepared, int, (duck_handle, duck_handle *))                     \
    X(pending_execute_task, int, (duck_handle))                                \
    X(pending_error, const char *, (duck_handle))                              \
    X(execute_pending, int, (duck_handle, struct duck_result *))               \
    X(destroy_pending, void, (duck_handle *))                                  \
    X(destroy_result, void, (struct duck_result *))                            \
    X(result_error, const char *, (struct duck_result *))                      \
    X(fetch_chunk, duck_handle, (struct duck_result))                          \
    X(destroy_data_chunk, void, (duck_handle *))                               \
    X(data_chunk_get_size, uint64_t, (duck_handle))                            \
    X(data_chunk_get_vector, duck_handle, (duck_handle, uint64_t))             \
    X(vector_get_data, void *, (duck_handle))                                  \
    X(vector_get_validity, uint64_t *, (duck_handle))                          \
    X(column_logical_type, duck_handle, (struct duck_result *, uint64_t))      \
    X(get_type_id, int, (duck_handle))                                         \
    X(decimal_scale, uint8_t, (duck_handle))                                   \
    X(decimal_internal_type, int, (duck_handle))                               \
    X(destroy_logical_type, void, (duck_handle *))                             \
    X(free, void, (void *))

struct duck_lib {
#define X(name, result, args) result(*name) args;
    DUCK_FUNCTIONS(X)
#undef X
};

/* The library, opened once for the process. E_SOURCE with where to get it. */
enum status duck_lib_open(const struct duck_lib **out,
                          struct err *err) WARN_UNUSED;

#endif
