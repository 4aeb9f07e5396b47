#!/usr/bin/env python3
"""Messages that send people the right way: what they propose is what helps."""
import os
import tempfile

import outside
from outside import check, end

# a private file has columns that are declared
DATA = ["--db", "data", "--policy", "columns.yaml"]



def ask(*args):
    return outside.ask(*args, "--format", "json")


folder = tempfile.TemporaryDirectory(prefix="dpc-hints-")
os.chdir(folder.name)
outside.write("data/p.csv", "id,sex\n" + "".join(f"{i},{'FM'[i % 2]}\n" for i in range(30)))
outside.write("columns.yaml", "tables: {p: {columns: [id, sex]}}\n")
DP = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 5) COUNT(*) FROM p"

# a price said twice
for command in (["quote"], ["release", "--ledger", "l"]):
    ask("budget", "init", "--ledger", "l", "--epsilon", "20")
    status, a = ask(*command, *DATA, "--epsilon", "1", DP)
    check("two prices", status == 2 and "5" in a["error"]["message"] and "1" in a["error"]["message"], f"{status} {a}")
    status, a = ask(*command, *DATA, "--epsilon", "5.0", DP)
    check("said twice alike", status == 0 and a["epsilon"] == 5, f"{status} {a}")
    status, a = ask(*command, *DATA, DP)
    check("said once", status == 0 and a["epsilon"] == 5, f"{status} {a}")
check("nothing else was charged", ask("budget", "show", "--ledger", "l")[1]["spent"] == 5)

# epsilon is there, delta is not
ask("budget", "init", "--ledger", "d", "--epsilon", "10", "--delta", "1e-9")
status, a = ask("release", "--ledger", "d", *DATA, "--epsilon", "1", "--delta", "1e-6", "SELECT sex, COUNT(*) FROM p GROUP BY sex")
check("delta", status == 4 and "delta" in a["error"]["hint"] and "smaller epsilon" not in a["error"]["hint"], f"{status} {a}")
status, a = ask("release", "--ledger", "d", *DATA, "--epsilon", "11", "SELECT COUNT(*) FROM p")
check("epsilon", status == 4 and "smaller epsilon" in a["error"]["hint"], f"{status} {a}")

# rows that change together
text = outside.run("quote", *DATA, "--epsilon", "1", "--order", "151", "--explain", "--format", "text", "SELECT COUNT(*) FROM p").stdout
check("order", "151 rows change the count by at most 151" in " ".join(text.split()) and "One row" not in text, text)
status, a = ask("quote", *DATA, "--epsilon", "1", "SELECT COUNT(*) FROM p WHERE id IN (SELECT id FROM p GROUP BY id HAVING COUNT(*) > 1)")
check("having in a subquery", status == 0, str(a))
status, a = ask("quote", *DATA, "--epsilon", "1", "SELECT COUNT(*) FROM p JOIN (SELECT id FROM p GROUP BY id HAVING COUNT(*) > 1) x ON x.id = p.id")
check("having in a join", status == 3 and "WHERE (SELECT COUNT(*)" in a["error"]["hint"], str(a))
end()
