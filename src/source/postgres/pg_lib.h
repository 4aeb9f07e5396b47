/*
 * libpq, found at run time: with all that it loads itself (Kerberos, LDAP, two
 * libraries for TLS) it takes more time than a whole release from a file, and
 * most commands never see a server. Its header declares; the names below lead
 * through a table that pg_lib_open fills once for the process.
 */
#ifndef SOURCE_PG_LIB_H
#define SOURCE_PG_LIB_H

#include <libpq-fe.h>

#include "base/err.h"

#define PG_FUNCTIONS(X)                                                        \
    X(PQcancel)                                                                \
    X(PQclear)                                                                 \
    X(PQconnectdbParams)                                                       \
    X(PQconninfoFree)                                                          \
    X(PQconninfoParse)                                                         \
    X(PQconsumeInput)                                                          \
    X(PQdb)                                                                    \
    X(PQerrorMessage)                                                          \
    X(PQfinish)                                                                \
    X(PQfreeCancel)                                                            \
    X(PQfreemem)                                                               \
    X(PQgetCancel)                                                             \
    X(PQgetCopyData)                                                           \
    X(PQgetResult)                                                             \
    X(PQgetisnull)                                                             \
    X(PQgetvalue)                                                              \
    X(PQhost)                                                                  \
    X(PQisBusy)                                                                \
    X(PQnfields)                                                               \
    X(PQntuples)                                                               \
    X(PQparameterStatus)                                                       \
    X(PQpass)                                                                  \
    X(PQport)                                                                  \
    X(PQresultErrorField)                                                      \
    X(PQresultStatus)                                                          \
    X(PQsendQuery)                                                             \
    X(PQserverVersion)                                                         \
    X(PQsetNoticeReceiver)                                                     \
    X(PQsocket)                                                                \
    X(PQstatus)

struct pg_lib {
#define X(name) __typeof__(name) *name##_;
    PG_FUNCTIONS(X)
#undef X
};
extern struct pg_lib pg_lib;

/* Before the first of them is called. E_SOURCE where there is no libpq. */
enum status pg_lib_open(struct err *err) WARN_UNUSED;

#ifndef PG_LIB_OWN /* pg_lib.c alone says the names themselves */
#define PQcancel pg_lib.PQcancel_
#define PQclear pg_lib.PQclear_
#define PQconnectdbParams pg_lib.PQconnectdbParams_
#define PQconninfoFree pg_lib.PQconninfoFree_
#define PQconninfoParse pg_lib.PQconninfoParse_
#define PQconsumeInput pg_lib.PQconsumeInput_
#define PQdb pg_lib.PQdb_
#define PQerrorMessage pg_lib.PQerrorMessage_
#define PQfinish pg_lib.PQfinish_
#define PQfreeCancel pg_lib.PQfreeCancel_
#define PQfreemem pg_lib.PQfreemem_
#define PQgetCancel pg_lib.PQgetCancel_
#define PQgetCopyData pg_lib.PQgetCopyData_
#define PQgetResult pg_lib.PQgetResult_
#define PQgetisnull pg_lib.PQgetisnull_
#define PQgetvalue pg_lib.PQgetvalue_
#define PQhost pg_lib.PQhost_
#define PQisBusy pg_lib.PQisBusy_
#define PQnfields pg_lib.PQnfields_
#define PQntuples pg_lib.PQntuples_
#define PQparameterStatus pg_lib.PQparameterStatus_
#define PQpass pg_lib.PQpass_
#define PQport pg_lib.PQport_
#define PQresultErrorField pg_lib.PQresultErrorField_
#define PQresultStatus pg_lib.PQresultStatus_
#define PQsendQuery pg_lib.PQsendQuery_
#define PQserverVersion pg_lib.PQserverVersion_
#define PQsetNoticeReceiver pg_lib.PQsetNoticeReceiver_
#define PQsocket pg_lib.PQsocket_
#define PQstatus pg_lib.PQstatus_
#endif

#endif
