#!/usr/bin/env bash
# The load test in small: bench/load-releases must find its ledger sound.
exec python3 "$DPC_SOURCE/bench/load-releases" --build "$DPC_BUILD" \
    --releases 40 --processes 4 --seconds 1
