#!/bin/bash
# The black-box audit of the built program, sized so that it still rejects the
# sabotaged one (by four standard deviations); the full size is
# tools/audit-program without --runs.
set -e
audit=$DPC_SOURCE/tools/audit-program
"$audit" --program "$DPC_BUILD/dpcount" --runs 3000
"$audit" --program "$DPC_BUILD/tests/dpcount_sabotaged" --runs 5000 --expect reject
