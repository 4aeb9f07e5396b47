#!/usr/bin/env bash
# The benches of the service in small: no charge is lost or made twice, nothing grows.
set -euo pipefail
command -v pgbench >/dev/null || { echo "skipped: pgbench is not installed"; exit 77; }
/usr/bin/python3 -c 'import psycopg2' 2>/dev/null || { echo "skipped: psycopg2 is not installed"; exit 77; }
export DPC_BUILD
"$DPC_SOURCE/bench/load-serve" 3 40
"$DPC_SOURCE/bench/mixed-serve" 70
