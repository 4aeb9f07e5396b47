#!/usr/bin/env python3
"""A planner that refuses (as Citus does for joins it cannot push down): told with its detail before the charge, whichever
of the statements it refuses; in the end nothing is spent. Between the program and the server stands a proxy that refuses
to explain; everything else it passes on."""
import os
import re
import socket
import struct
import subprocess
import tempfile
import threading

import pg
from outside import ask, check, end, write

DETAIL = "complex joins are only supported when all distributed tables are co-located"


class Proxy:
    """Speaks for a server; from its refuse-th EXPLAIN on it says no."""

    def __init__(self, folder):
        self.target = os.path.join(folder, ".s.PGSQL.5432")
        self.refuse = self.explained = 0
        self.state = "0A000"
        self.planned, self.run = set(), []  # texts that were explained; statements that give rows
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.target)
            threading.Thread(target=self.back, args=(server, client), daemon=True).start()
            threading.Thread(target=self.forth, args=(client, server), daemon=True).start()

    @staticmethod
    def back(server, client):
        try:
            while data := server.recv(65536):
                client.sendall(data)
        except OSError:
            pass
        client.close()

    def forth(self, client, server):
        """The first packet has no type; every other one has a type and a length."""
        held, first, skip = b"", True, False
        try:
            while data := client.recv(65536):
                held += data
                while len(held) >= (4 if first else 5):
                    size = struct.unpack(">I", held[0:4] if first else held[1:5])[0] + (0 if first else 1)
                    if len(held) < size:
                        break
                    message, held = held[:size], held[size:]
                    if not first and message[:1] in b"QP":
                        self.note(message)
                    if not first and message[:1] in b"QP" and b"EXPLAIN" in message.upper():
                        self.explained += 1
                        skip = skip or bool(self.refuse) and self.explained >= self.refuse
                        if skip and message[:1] == b"Q":
                            client.sendall(self.no() + b"Z" + struct.pack(">I", 5) + b"E")
                            skip = False
                            continue
                    if skip:
                        if message[:1] == b"S":
                            client.sendall(self.no() + b"Z" + struct.pack(">I", 5) + b"E")
                            skip = False
                        continue
                    first = False
                    server.sendall(message)
        except OSError:
            pass
        server.close()

    def note(self, message):
        """Parse has a name before its text; COPY sends what its query gives."""
        text = message[5:].split(b"\0")[0 if message[:1] == b"Q" else 1].decode()
        plain = re.sub(r"^\s*COPY \((.*)\) TO STDOUT.*$", r"\1", text, flags=re.S)
        if found := re.match(r"\s*EXPLAIN\b\s*(\([^)]*\))?\s*(.*)$", text, flags=re.S | re.I):
            self.planned.add(found[2].rstrip("; "))
        elif re.match(r"\s*(SELECT|WITH|COPY)\b", text, flags=re.I) and re.search(r'\bt"?\b', plain) and "pg_" not in plain:
            self.run.append(plain.rstrip("; "))

    def no(self):
        text = b"SERROR\0VERROR\0C" + self.state.encode() + b"\0Mcannot push down this subquery\0D" + DETAIL.encode() + b"\0\0"
        return b"E" + struct.pack(">I", len(text) + 4) + text


folder = tempfile.TemporaryDirectory(prefix="dpc-planner-")
os.chdir(folder.name)
write("p.yaml", "tables:\n  t: {privacy: private}\n")
TRIANGLE = "SELECT COUNT(*) FROM t x JOIN t y ON x.b = y.a JOIN t z ON y.b = z.a AND z.b = x.a"
with pg.server() as server:
    subprocess.run(["psql", "-q", pg.url(server)], text=True, check=True, capture_output=True,
                   input="CREATE TABLE t(a int, b int); INSERT INTO t SELECT i % 7, i % 11 FROM generate_series(1, 300) i;")
    proxy = Proxy(server)
    url = f"postgresql://postgres@127.0.0.1:{proxy.port}/postgres?sslmode=disable&gssencmode=disable"
    ask("budget", "init", "--ledger", "l", "--epsilon", "10")

    def release(refuse, *more, query=TRIANGLE, policy="p.yaml", ledger="l"):
        proxy.refuse, proxy.explained = refuse, 0
        status, a = ask("release", "--format", "json", "--ledger", ledger, "--epsilon", "0.1", "--fresh", "--db", url, "--policy", policy, *more, query)
        return status, a, ask("budget", "show", "--ledger", ledger, "--format", "json")[1]["spent"]

    status, a, spent = release(0, "--engine", "sql")
    n = proxy.explained
    check("answered through the proxy", status == 0 and n >= 1, f"{status} {n} {a}")
    for at in range(1, n + 1):
        status, a, now = release(at, "--engine", "sql")
        error = a.get("error", {}) if isinstance(a, dict) else {"message": a}
        check(f"refused at {at} of {n}", status == 3 and error.get("code") == "unsupported" and now == spent, f"{status} {a} {now}")
        check("with the detail", DETAIL in str(error.get("detail")) and "embedded" in str(error.get("hint")), str(error))
    # every statement that runs was planned before, not only the count
    for query, more in ((TRIANGLE, ["--engine", "sql"]), (TRIANGLE, []), ("SELECT a, COUNT(*) FROM t GROUP BY a", ["--engine", "sql", "--groups", "1,2"]),
                        ("SELECT COUNT(*), COUNT(DISTINCT a) FROM t", ["--engine", "sql"]),
                        ("SELECT COUNT(*) FROM t x JOIN t y ON x.b = y.a AND x.a < y.b", ["--engine", "sql", "--filters", "exact"]),
                        ("SELECT COUNT(*) FROM t WHERE b > 3", [])):
        proxy.planned, proxy.run = set(), []
        status, a, spent = release(0, *more, query=query)
        left = [text for text in proxy.run if text not in proxy.planned]
        check(f"{query} {more} runs what was planned", status == 0 and proxy.run and not left, f"{status} {a} {left} {proxy.planned}")
    # with owners: what each has, and what the heavy ones have together
    subprocess.run(["psql", "-q", pg.url(server)], text=True, check=True, capture_output=True,
                   input="CREATE TABLE n(v int PRIMARY KEY); INSERT INTO n SELECT generate_series(0, 9);")
    write("owned.yaml", "entities: [n]\ntables:\n  t: {owned_by: [{via: [a], table: n}, {via: [b], table: n}]}\n")
    ask("budget", "init", "--ledger", "owned", "--epsilon", "10")
    for query in ("SELECT COUNT(*) FROM t", "SELECT COUNT(*) FROM n", TRIANGLE, "SELECT COUNT(DISTINCT x.a) FROM t x JOIN t y ON x.b = y.a"):
        proxy.planned, proxy.run = set(), []
        more = ["--engine", "sql", "--mechanism", "election"]
        status, a, paid = release(0, *more, query=query, policy="owned.yaml", ledger="owned")
        n, left = proxy.explained, [text for text in proxy.run if text not in proxy.planned]
        check(f"owners: {query} runs what was planned", status == 0 and n and not left, f"{status} {a} {left} {proxy.planned}")
        for at in range(1, n + 1):
            status, a, now = release(at, *more, query=query, policy="owned.yaml", ledger="owned")
            check(f"owners: {query} refused at {at} of {n}", status == 3 and a["error"]["code"] == "unsupported" and now == paid, f"{status} {a} {now}")
    # a server's other errors may hold values of rows: no detail
    proxy.state = "22P02"
    status, a, now = release(1, "--engine", "sql")
    check("no detail of other errors", status != 0 and DETAIL not in str(a) and now == spent, f"{status} {a}")
    proxy.state = "0A000"
    status, a, now = release(1)
    check("embedded: refused before the charge too", status != 0 and now == spent, f"{status} {a} {now}")
    status, a, now = release(0)
    check("and answered where it is planned", status == 0 and now > spent, f"{status} {a}")
end()
