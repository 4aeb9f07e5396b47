#!/usr/bin/env python3
"""Conversations of real clients with a PostgreSQL 15 server, as they were captured
(psql, psycopg2 and 3, pgjdbc, SQLAlchemy, RPostgreSQL, ODBC, pgbench, pgcli): the
service is told the same and answers with messages of the same kinds, in the same
order. Where it does not, the question is one that it must refuse. DPC_CASES names
the folder; rows are not in the captures, and notices and settings are left out."""
import ast
import getpass
import glob
import os
import socket
import sqlite3
import struct
import sys

import service
from service import Service

TABLES = """
CREATE TABLE hospital (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT);
CREATE TABLE patient (id INTEGER PRIMARY KEY, sex TEXT, born DATE, hospital_id INTEGER NOT NULL, code TEXT, weight NUMERIC);
CREATE TABLE visit (patient_id INTEGER NOT NULL, nr INTEGER NOT NULL, at TEXT, PRIMARY KEY (patient_id, nr));
"""
POLICY = """
tables:
  hospital: {privacy: public}
  patient: {privacy: private, values: {sex: [F, M]}}
  visit: {privacy: private}
budget: {epsilon: 1000, delta: 1e-6}
"""
# Keys of GROUP BY would come from private rows; what follows it in its transaction is ignored.
REFUSED = {"0A000", "25P02", "34000"}


def database(path, rows=1000):
    db = sqlite3.connect(path)
    db.executescript(TABLES)
    db.executemany("INSERT INTO patient VALUES (?, ?, ?, ?, ?, ?)",
                   [(i, "FM"[i % 2], f"19{i % 100:02d}-01-02", 1, str(i), i) for i in range(rows)])
    db.commit()
    db.close()


def conversations(path):
    """Lists of (side, kind, body); the startup packet first."""
    one = []
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            if line.startswith("--- connection"):
                if one:
                    yield one
                one = []
            elif line.startswith("F startup code=3.0"):
                one = [("F", "startup", ast.literal_eval(line.split("3.0 ", 1)[1]))]
            elif one and line[:2] in ("F ", "B "):
                try:
                    one.append((line[0], line[2], ast.literal_eval(line[4:])))
                except SyntaxError:
                    break  # the capture ends in the middle of a message
    if one:
        yield one


class Talk:
    def __init__(self, s, startup):
        parts = startup.rstrip(b"\0").split(b"\0")
        said = dict(zip(parts[::2], parts[1::2]))
        said.update({b"user": b"ann", b"database": b"hospital"})
        body = struct.pack("!I", 3 << 16) + b"".join(k + b"\0" + v + b"\0" for k, v in said.items()) + b"\0"
        self.c = socket.socket(socket.AF_UNIX)
        self.c.settimeout(60)
        self.c.connect(s.path("run/.s.PGSQL.5432"))
        self.c.sendall(struct.pack("!I", len(body) + 4) + body)
        self.kinds()

    def exactly(self, n):
        out = b""
        while len(out) < n:
            part = self.c.recv(n - len(out))
            if not part:
                raise ConnectionError("the service hung up")
            out += part
        return out

    def kinds(self):
        """Up to ReadyForQuery: the kinds without rows, and the SQLSTATEs."""
        out, states = [], []
        while True:
            kind, n = struct.unpack("!cI", self.exactly(5))
            body = self.exactly(n - 4)
            if kind == b"E":
                states += [f[1:].decode() for f in body.split(b"\0") if f[:1] == b"C"]
            if kind not in b"NSD":
                out.append(kind.decode())
            if kind == b"Z":
                return "".join(out), states

    def say(self, kind, body):
        self.c.sendall(kind.encode() + struct.pack("!I", len(body) + 4) + body)


def replay(s, name, one):
    """How many rounds there were, how many were refused, and what differs."""
    talk, rounds, refused, bad = Talk(s, one[0][2]), 0, 0, []
    begun = next((i for i, m in enumerate(one) if m[:2] == ("B", "Z")), len(one)) + 1
    want, said = "", []

    def compare():
        nonlocal rounds, refused
        rounds += 1
        ours, states = talk.kinds()
        if ours != want and set(states) & REFUSED:
            refused += 1
        elif ours != want:
            bad.append(f"{name}: {said} {want} -> {ours} {states}")

    for side, kind, body in one[begun:]:
        if side == "B":
            want += kind if kind not in "NSD" else ""
            continue
        if want.endswith("Z"):
            compare()
            want, said = "", []
        if kind == "X":
            break
        said += [body[:200]] if kind in "QP" else []
        talk.say(kind, body)
    if want.endswith("Z"):
        compare()
    talk.c.close()
    return rounds, refused, bad


def main():
    files = sorted(glob.glob(os.path.join(os.environ.get("DPC_CASES", "/nowhere"), "traffic", "*.log")))
    if not files:
        print("skipped: DPC_CASES names no folder with traffic/*.log")
        return 77
    service.database = database
    who = ("epsilon: 900", f", peer: [{getpass.getuser()}]")
    rounds, refused, bad = 0, 0, []
    with Service({"ann": who}, dataset="    pace: none\n", policy=POLICY, extra="limits: {connections_each: 90}\n") as s:
        for path in files:
            for one in conversations(path):
                n, no, differs = replay(s, os.path.basename(path), one)
                rounds, refused, bad = rounds + n, refused + no, bad + differs
    print("\n".join(bad) or f"{rounds} rounds of {len(files)} captures: answered as PostgreSQL does, {refused} refused")
    return 1 if bad or rounds < 150 or refused > 5 else 0


sys.exit(main())
