#!/bin/bash
# A PostgreSQL server of one's own for a test: a new cluster in a temporary
# folder, on a Unix socket there and nowhere else, stopped and removed at the
# end.
#
#     pg.sh start    prints the folder; a client gives host=FOLDER user=postgres
#     pg.sh restart FOLDER    with the settings that were changed meanwhile
#     pg.sh stop FOLDER
#
# Exit status 77: no server to be had on this machine (1 when CI is set).
set -u

none() {
    echo "no PostgreSQL server: $*" >&2
    [ -n "${dir:-}" ] && rm -rf "$dir"
    [ -n "${CI:-}" ] && exit 1
    exit 77
}

bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
[ -n "$bin" ] || bin=$(dirname "$(command -v initdb || echo /nowhere/initdb)")
[ -x "$bin/initdb" ] || none "initdb was not found"

# PostgreSQL refuses to run as root, and initdb needs a /dev/null that its user
# may write to. Where the machine's is closed, the server gets one of its own,
# in a mount namespace that nothing else sees.
as=()
if [ "$(id -u)" = 0 ]; then
    id postgres >/dev/null 2>&1 || none "there is no user postgres"
    as=(setpriv --reuid=postgres --regid=postgres --clear-groups)
fi
own_null() {
    [ "$(id -u)" = 0 ] || return 0
    "${as[@]}" test -w /dev/null && return 0
    mknod -m 666 "$1/null" c 1 3 && unshare -m true ||
        none "user postgres may not write to /dev/null"
    as=(unshare -m sh -c 'mount --bind "$0" /dev/null && exec "$@"' "$1/null" "${as[@]}")
}

# A new cluster takes initdb a second or more; a copy of one that nobody has used
# takes a tenth of that. The first test of a build folder makes it for all.
cluster() {
    local keep="${DPC_BUILD:-}/pg-$("$bin/postgres" --version | tr -dc '0-9.')"
    if [ -z "${DPC_BUILD:-}" ] || [ ! -w "$DPC_BUILD" ]; then
        new_cluster "$1"
        return
    fi
    (
        flock 9 || exit 1
        [ -d "$keep" ] && exit 0
        rm -rf "$keep.part"
        new_cluster "$1" && cp -a "$1" "$keep.part" && mv "$keep.part" "$keep"
    ) 9>"$keep.lock" || return 1
    [ -d "$1" ] || cp -a "$keep" "$1"
}
new_cluster() {
    "${as[@]}" "$bin/initdb" -D "$1" -U postgres -A trust -E UTF8 \
        --locale=C --no-sync >"$dir/log" 2>&1
}

start() {
    dir=$(mktemp -d "${TMPDIR:-/tmp}/dpcpg.XXXXXX") || none "no temporary folder"
    cd "$dir" || none "no temporary folder"
    own_null "$dir"
    [ "$(id -u)" = 0 ] && chown postgres "$dir" && chmod 711 "$dir"
    cluster "$dir/data" || none "initdb failed: $(tail -3 "$dir/log")"
    "${as[@]}" "$bin/pg_ctl" -s -w -D "$dir/data" -l "$dir/data/log" -o \
        "-k $dir -c listen_addresses= -c fsync=off -c shared_buffers=32MB \
-c max_connections=20 -c autovacuum=off -c jit=off ${DPC_PG_OPTIONS:-}" start \
        >/dev/null 2>&1 || none "the server did not start: $(tail -3 "$dir/data/log")"
    echo "$dir"
}

# The options of the command line win over settings, so those that a test may
# change are left out here.
restart() {
    cd "$1" || exit 1
    "${as[@]}" "$bin/pg_ctl" -s -w -D "$1/data" -m fast -l "$1/data/log" -o \
        "-k $1 -c fsync=off -c shared_buffers=32MB -c max_connections=20" restart \
        >/dev/null 2>&1 || { tail -3 "$1/data/log" >&2; exit 1; }
}

stop() {
    cd "$1" || exit 1
    "${as[@]}" "$bin/pg_ctl" -s -D "$1/data" -m immediate stop >/dev/null 2>&1
    cd / && rm -rf "$1"
}

case "${1:-} ${2:-}" in
"start ") start ;;
"restart "?*) restart "$2" ;;
"stop "?*) stop "$2" ;;
*) echo "usage: pg.sh start | restart FOLDER | stop FOLDER" >&2; exit 2 ;;
esac
