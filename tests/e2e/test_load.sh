#!/usr/bin/env bash
# The load test in small: bench/load-releases must find its ledger sound.
# A build with AddressSanitizer keeps freed memory for a while, to notice its
# use; here that would look like growth, so it keeps little.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1:thread_local_quarantine_size_kb=64"
exec python3 "$DPC_SOURCE/bench/load-releases" --build "$DPC_BUILD" \
    --releases 40 --processes 4 --seconds 1
