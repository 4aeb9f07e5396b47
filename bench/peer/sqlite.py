"""SQLite as one of the peers: sqlite.py TABLE=FILE.csv ...

Loads the files (first line: names of integer columns) into memory with an
index for each column, then answers as bench-serve does.
"""
import csv
import json
import sqlite3
import sys
import time

db = sqlite3.connect(":memory:")
db.execute("PRAGMA temp_store = memory")
db.execute("PRAGMA cache_size = -1000000")
for word in sys.argv[1:]:
    table, path = word.split("=", 1)
    with open(path, newline="") as f:
        rows = csv.reader(f)
        names = next(rows)
        db.execute(f"CREATE TABLE {table} ({', '.join(n + ' INTEGER' for n in names)})")
        db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})",
                       (tuple(map(int, r)) for r in rows))
    for i, name in enumerate(names):
        rest = names[:i] + names[i + 1:]
        db.execute(f"CREATE INDEX {table}_{name} ON {table} ({', '.join([name] + rest)})")
db.execute("ANALYZE")
print("ready " + sqlite3.sqlite_version, flush=True)
for line in sys.stdin:
    cpu, wall = time.process_time(), time.monotonic()
    out = {}
    try:
        out["answer"] = str(db.execute(json.loads(line)).fetchone()[0])
    except sqlite3.Error as e:
        out["error"] = str(e)
    out["cpu"] = (time.process_time() - cpu) * 1e3
    out["wall"] = (time.monotonic() - wall) * 1e3
    print(json.dumps(out), flush=True)
