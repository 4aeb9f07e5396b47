#!/usr/bin/env python3
"""Several COUNTs in one SELECT: one request, each with its own price, all charged or none."""
import os
import tempfile

import outside
from outside import check, end

# a private file has columns that are declared
DATA = ["--db", "data", "--policy", "columns.yaml"]



def ask(command, *args):
    return outside.ask(*command.split(), "--format", "json", *args)


def release(*args):
    return ask("release", "--ledger", "l", *DATA, *args)


def spent():
    return ask("budget show", "--ledger", "l")[1]["spent"]


folder = tempfile.TemporaryDirectory(prefix="dpc-counts-")
os.chdir(folder.name)
os.mkdir("data")
with open("columns.yaml", "w") as f:
    f.write("tables: {pat: {columns: [id, sex]}, visit: {columns: [pat, day]}}\n")
with open("data/pat.csv", "w") as f:
    f.write("id,sex\n" + "".join(f"{i},{'FM'[i % 2]}\n" for i in range(50)))
with open("data/visit.csv", "w") as f:
    f.write("pat,day\n" + "".join(f"{i % 50},{i}\n" for i in range(90)))
ask("budget init", "--ledger", "l", "--epsilon", "10")
TWO = "SELECT COUNT(*), COUNT(DISTINCT sex) FROM pat"

status, a = ask("count", *DATA, TWO)
check("count", status == 0 and [c["count"] for c in a["counts"]] == [50, 2], str(a))
status, a = ask("analyze", *DATA, TWO)
check("analyze", status == 0 and [c["global_sensitivity"]["upper"] for c in a["counts"]] == [1, 1], str(a))
status, a = ask("quote", *DATA, "--epsilon", "2", TWO)
check("quote", status == 0 and [c["epsilon"] for c in a["counts"]] == [2, 2] and a["price"] == 4, str(a))
status, a = release("--epsilon", "2", TWO)
check("release", status == 0 and len({c["receipt"] for c in a["counts"]}) == 2, str(a))
check("each is paid", spent() == 4 and a["price"] == 4, str(spent()))
status, b = release("--epsilon", "2", TWO)
check("repeated", all(c["repeated"] for c in b["counts"]) and spent() == 4, str(b))
status, one = release("--epsilon", "2", "SELECT COUNT(DISTINCT sex) FROM pat")
check("as if asked alone", one["receipt"] == a["counts"][1]["receipt"] and spent() == 4, str(one))
status, a = release("--epsilon", "1", "--groups", "F,M", "SELECT sex, COUNT(*), COUNT(DISTINCT id) FROM pat GROUP BY sex")
check("groups", status == 0 and [len(c["groups"]) for c in a["counts"]] == [2, 2] and spent() == 6, str(a))

# refused for public reasons: before the first charge
status, a = release("--epsilon", "1", "--mechanism", "discrete-laplace", "--constraint", "pat: id -> *",
                    "SELECT COUNT(DISTINCT pat.id), COUNT(DISTINCT visit.day) FROM pat JOIN visit ON visit.pat = pat.id")
check("one is unbounded", status == 3 and a["error"]["code"] == "unbounded" and spent() == 6, f"{status} {a}")
# the budget would end in between: nothing is charged
status, a = release("--epsilon", "3", TWO)
check("budget", status == 4 and spent() == 6, f"{status} {a} {spent()}")
status, a = ask("sensitivity", *DATA, TWO)
check("sensitivity of both", status == 0 and [c["count"] for c in a["counts"]] == [50, 2], str(a))

end()
