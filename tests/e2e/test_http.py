#!/usr/bin/env python3
"""The JSON API from outside: signing in, quotes, releases, budgets, histories, what is
refused, headers, cookies, and that nobody sees what is another's."""
import json
import re
import signal
import socket
import sys
import threading
import time

from checks import BAD, check
from service import PASSWORD
from webservice import WebService, basic

COUNT = "SELECT count(*) FROM pat"


def files(s):
    c = s.client()
    total = 0
    for path, kind in (("/", "text/html"), ("/console.css", "text/css"), ("/console.js", "text/javascript"),
                       ("/icon.svg", "image/svg+xml")):
        status, headers, body = c.open(path)
        total += len(body)
        check(status == 200 and headers["Content-Type"].startswith(kind), path, status, headers)
        check("default-src 'none'" in headers["Content-Security-Policy"] and "unsafe" not in headers["Content-Security-Policy"]
              and "frame-ancestors 'none'" in headers["Content-Security-Policy"], "policy of contents", headers)
        check(headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer", "headers", headers)
        again, _, rest = c.open(path, headers={"If-None-Match": headers["ETag"]})
        check(again == 304 and not rest, "the tag of " + path, again)
        check(not re.search(rb"https?://(?!www\.w3\.org/2000/svg)", body), "nothing from elsewhere in " + path)
    check(total < 60000, "the console is small", total)
    status, headers, body = c.open("/healthz")
    check(status == 200 and json.loads(body) == {"status": "ok"} and headers["Cache-Control"] == "no-store", "healthz")
    for path in ("/nope", "/api/v1/nope", "/../etc/passwd", "/index.html%00", "/api/v2/me"):
        check(c.open(path)[0] in (400, 401, 404), "no page " + path)
    check(c.open("/", method="DELETE")[0] in (404, 405), "no other method")


def sign_in(s):
    c = s.client()
    for path in ("me", "datasets", "datasets/hospital/tables", "datasets/hospital/budget", "releases/x", "owner"):
        status, body = c.get(path)
        check(status == 401 and body["error"]["code"] == "sign-in", "not signed in: " + path, status, body)
    wrong = c.post("login", {"user": "ann", "password": "wrong"})
    unknown = c.post("login", {"user": "eve", "password": "wrong"})
    check(wrong[0] == 401 and wrong == unknown, "a wrong password and an unknown name look the same", wrong, unknown)
    for body in (b"", b"[]", b"{", b'{"user": "ann"}', b'{"user": 1, "password": 2}', b"\xff\xfe", b'{"a":' * 5000):
        check(c.post("login", body)[0] == 400, "a bad body", body[:20])
    check(c.post("login", {"user": "ann", "password": PASSWORD}, X_DPC=None)[0] == 403, "no X-DPC")
    check(c.post("login", {"user": "ann", "password": PASSWORD}, Origin="https://evil.example")[0] == 403, "another origin")
    check(c.cookie is None, "no cookie so far")
    a = s.client("ann")
    check(re.fullmatch(r"(__Host-)?dpc=[0-9a-f]{64}", a.cookie or ""), "the cookie", a.cookie)
    told = a.headers["Set-Cookie"]
    check("HttpOnly" in told and "SameSite=Strict" in told and ("Secure" in told) == s.https, "its attributes", told)
    check(a.get("me")[1] == {"user": "ann", "owner": False, "spend": True, "version": a.get("me")[1]["version"]}, "me")
    status, sets = a.get("datasets")
    check([d["name"] for d in sets["datasets"]] == ["hospital"] and sets["datasets"][0]["epsilon"]["max"] == "2", "data sets", sets)
    kept = a.cookie
    check(a.post("logout", {})[0] == 200 and a.cookie is None, "signing out")
    a.cookie = kept
    check(a.get("me")[0] == 401, "the session is over")
    a.cookie = kept[:-1] + ("0" if kept[-1] != "0" else "1")
    check(a.get("me")[0] == 401, "a guessed cookie")


def cross_site(s):
    a = s.client("ann")
    q = {"sql": COUNT, "epsilon": "0.5"}
    path = "datasets/hospital/release"
    before = a.get("datasets/hospital/budget")[1]["spent"]
    check(a.post(path, q, Origin="http://evil.example")[0] == 403, "another site cannot spend")
    check(a.post(path, q, Origin="null")[0] == 403, "nor a page without one")
    check(a.post(path, q, Origin=None)[0] == 403, "with a cookie the origin must be said")
    check(a.post(path, q, X_DPC=None)[0] == 403, "nor a form")
    check(a.post(path, q, Content_Type="text/plain")[0] == 400, "nor a plain text")
    check(a.get("datasets/hospital/budget")[1]["spent"] == before, "and nothing was spent")


def asking(s):
    a = s.client("ann")
    path = "datasets/hospital/"
    start = float(a.get(path + "budget")[1]["spent"])
    for _ in range(5):
        status, quote = a.post(path + "quote", {"sql": COUNT, "epsilon": "0.5"})
    check(status == 200 and quote["price"] == {"epsilon": "0.5", "delta": "0"}, "a quote", status, quote)
    check(quote["quote"]["error"]["p95"] > 0 and "e^0.5" in quote["guarantee"], "its error", quote)
    check(float(a.get(path + "budget")[1]["spent"]) == start, "quotes are free")
    q = {"sql": COUNT, "epsilon": "0.5", "max_epsilon": "0.4"}
    status, body = a.post(path + "release", q)
    check(status == 402 and body["error"]["code"] == "price", "not above the price that was seen", status, body)
    q["max_epsilon"] = "0.5"
    status, r = a.post(path + "release", q)
    check(status == 200 and [c["role"] for c in r["columns"]] == ["count", "error"], "a release", status, r)
    check(abs(int(r["rows"][0][0]) - 1000) < 200 and not r["repeated"], "its answer", r)
    check(abs(float(a.get(path + "budget")[1]["spent"]) - start - 0.5) < 1e-9, "the budget falls by the price")
    status, again = a.post(path + "release", q)
    check(again["repeated"] and again["rows"] == r["rows"], "asked again: the same, free", again)
    status, g = a.post(path + "release", {"sql": "SELECT sex, count(*) AS n FROM pat GROUP BY sex ORDER BY sex", "epsilon": "0.5"})
    check(status == 200 and [x[0] for x in g["rows"]] == ["F", "M"] and [c["role"] for c in g["columns"]] == ["key", "count", "error"],
          "groups", status, g)
    status, p = a.post(path + "release", {"sql": "SELECT count(*) FROM pat WHERE sex = $1 AND h = $2", "params": ["F", "1"], "epsilon": "0.5"})
    check(status == 200, "parameters", status, p)
    status, h = a.get(path + "history?limit=1")
    check(status == 200 and len(h["history"]) == 1 and h["next"], "history, one at a time", h)
    status, rest = a.get(path + "history?limit=100&before=" + h["next"])
    check(rest["next"] is None and all(e["receipt"] != h["history"][0]["receipt"] for e in rest["history"]), "and the rest", rest)
    status, one = a.get("releases/" + r["receipt"])
    check(status == 200 and one["receipt"] == r["receipt"], "a receipt", status, one)
    b = s.client("bob")
    mine, none = b.get("releases/" + r["receipt"]), b.get("releases/nothing")
    check(mine == none and mine[0] == 404, "another's receipt is unknown", mine, none)
    check(b.get(path + "history")[1]["history"] == [], "nor is another's history seen")
    return r["receipt"]


def refusals(s):
    a = s.client("ann")
    path = "datasets/hospital/"
    start = a.get(path + "budget")[1]["spent"]
    cases = [({"sql": "selct"}, 400), ({"sql": "SELECT count(*) FROM nope"}, 400), ({"sql": "SELECT * FROM pat"}, 400),
             ({}, 400), ({"sql": ""}, 400), ({"sql": COUNT, "epsilon": 1}, 400), ({"sql": COUNT, "epsilon": "x"}, 400),
             ({"sql": COUNT, "epsilon": "1e99"}, 400), ({"sql": COUNT, "epsilon": "-1"}, 400),
             ({"sql": COUNT, "epsilon": "2.5"}, 400), ({"sql": COUNT, "epsilon": "0.001"}, 400),
             ({"sql": COUNT, "delta": "0.1"}, 400), ({"sql": COUNT, "policy": "x"}, 400), ({"sql": COUNT, "public": "pat"}, 400),
             ({"sql": COUNT, "db": "x"}, 400), ({"sql": COUNT, "groups": "x"}, 400), ({"sql": COUNT, "params": [1]}, 400),
             ({"sql": "SELECT count(*) FROM pg_class"}, 400), ({"sql": COUNT + "; " + COUNT}, 400)]
    for body, expected in cases:
        body = {"epsilon": "0.5", **body} if body else body
        for what in ("quote", "release"):
            status, out = a.post(path + what, body)
            check(status == expected and out["error"]["message"], f"{what} {body}", status, out)
    status, out = a.post(path + "quote", {"sql": "SELECT count(*) FROM nope", "epsilon": "1"})
    check(out["error"]["position"] == 21, "the position", out)
    check(a.post("datasets/other/quote", {"sql": COUNT})[0] == 404, "another data set")
    check(a.get("datasets/%00/tables")[0] in (400, 404), "a name with NUL")
    check(a.post(path + "quote", b'{"sql": "' + b"x" * (1 << 20) + b'"}')[0] == 413, "too large")
    check(a.get(path + "budget")[1]["spent"] == start, "refusals cost nothing")
    status, out = s.client("tom").post(path + "release", {"sql": COUNT, "epsilon": "0.5"})
    check(status == 402, "spend: off", status, out)
    b = s.client("bob")
    last = None
    for i in range(4):
        last = b.post(path + "release", {"sql": f"SELECT count(*) FROM pat WHERE id < {i}", "epsilon": "0.5"})
    check(last[0] == 402 and last[1]["error"]["code"] == "budget", "the budget ends", last)


def data(s):
    status, t = s.client("ann").get("datasets/hospital/tables")
    tables = {x["name"]: x for x in t["tables"]}
    check(set(tables) == {"hos", "pat"} and tables["pat"]["private"] and not tables["hos"]["private"], "tables", t)
    check([c["name"] for c in tables["pat"]["columns"]] == ["id", "sex", "born", "h"], "columns", t)
    check("private" in tables["pat"]["whose"] and "1000" not in json.dumps(t), "whose rows, and not how many", t)


def owners(s):
    d = s.client("dba")
    status, o = d.get("owner")
    check(status == 200 and o["datasets"][0]["name"] == "hospital", "the owner's page", status, o)
    set_ = o["datasets"][0]
    spent = {x["name"]: float(x["spent"]) for x in set_["analysts"]}
    check(spent["ann"] > 0 and set(spent) == {"ann", "bob", "cat", "tom"}, "budgets of all", spent)
    check({e["analyst"] for e in set_["history"]} >= {"ann", "bob"}, "questions of all", set_["history"][:1])
    check("privacy: private" in set_["policy"] and set_["budget"]["locked"] is False, "policy and locks", set_["budget"])
    check(d.get("datasets/hospital/budget")[0] == 404 and
          d.post("datasets/hospital/release", {"sql": COUNT, "epsilon": "0.5"})[0] == 404, "owners ask nothing here")
    check(s.client("ann").get("owner")[0] == 404, "and analysts see nothing of it")
    check("password" not in json.dumps(o).lower() and "SCRAM" not in json.dumps(o), "no secrets")


def scripts(s):
    c = s.client()
    status, body = c.get("me", Authorization=basic("ann"))
    check(status == 200 and body["user"] == "ann" and c.cookie is None, "name and password with the request", status, body)
    status, body = c.post("datasets/hospital/quote", {"sql": COUNT, "epsilon": "0.5"}, Authorization=basic("ann"), Origin=None)
    check(status == 200, "a script needs no origin", status, body)
    check(c.get("me", Authorization=basic("ann", "no"))[0] == 401, "a wrong password")
    for header in ("Basic", "Basic !", "Basic " + "A" * 2000, "Bearer x", "Basic " + "=" * 8):
        check(c.get("me", Authorization=header)[0] == 401, header[:20])


def at_once(s):
    """Two analysts ask at the same time; each is charged for their own."""
    out = {}

    def ask(name):
        c = s.client(name)
        before = float(c.get("datasets/hospital/budget")[1]["spent"])
        for i in range(3):
            c.post("datasets/hospital/release", {"sql": f"SELECT count(*) FROM pat WHERE id > {i}", "epsilon": "0.1"})
        out[name] = float(c.get("datasets/hospital/budget")[1]["spent"]) - before
    threads = [threading.Thread(target=ask, args=(n,)) for n in ("ann", "cat")]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check(all(abs(v - 0.3) < 1e-9 for v in out.values()) and len(out) == 2, "each pays their own", out)


def rude(s):
    """What is not HTTP ends, and half a request holds nobody up."""
    held = []
    for text in (b"\x16\x03\x01\x02\x00", b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: " + b"b" * 60000 + b"\r\n\r\n",
                 b"POST /api/v1/login HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
                 b"GET " + b"/" * 40000 + b" HTTP/1.1\r\n\r\n", b"\0" * 100):
        c = socket.create_connection(("127.0.0.1", s.http), timeout=60)
        c.sendall(text)
        c.shutdown(socket.SHUT_WR)
        got = b""
        try:
            while True:
                part = c.recv(65536)
                if not part:
                    break
                got += part
        except ConnectionError:
            pass
        check(not got or re.match(rb"HTTP/1\.[01] (4\d\d|5\d\d) ", got), "nonsense", text[:30], got[:60])
        c.close()
    for _ in range(30):
        c = socket.create_connection(("127.0.0.1", s.http), timeout=60)
        c.sendall(b"GET /healthz HTTP/1.1\r\nHos")
        held.append(c)
    before = time.monotonic()
    check(s.client().open("/healthz")[0] == 200, "others are served meanwhile")
    check(time.monotonic() - before < 30, "and soon")
    for c in held:
        c.close()


def guessing(s):
    """After five wrong tries even the right password waits a moment; others do not."""
    c = s.client()
    for _ in range(6):
        check(c.post("login", {"user": "cat", "password": "guess"})[0] == 401, "a guess")
    check(c.post("login", {"user": "cat", "password": PASSWORD})[0] == 401, "the right one at once after them")
    check(s.client("ann").get("me")[0] == 200, "another name is not held up")
    end = time.monotonic() + 60
    while time.monotonic() < end and c.post("login", {"user": "cat", "password": PASSWORD})[0] != 200:
        time.sleep(1)
    check(c.get("me")[0] == 200, "later it works again")


def reload(s):
    with open(s.log, "rb") as f:
        before = f.seek(0, 2)
    s.process.send_signal(signal.SIGHUP)
    s.wait_for("reload", before)


def removed(s):
    """Who is taken out of the file is out of the console, also when the name comes back."""
    c, other = s.client("bob"), s.client("ann")
    grant = s.analysts.pop("bob")
    s.configure()
    reload(s)
    end = time.monotonic() + 20
    while c.get("me")[0] != 401 and time.monotonic() < end:
        time.sleep(0.1)
    check(c.get("me")[0] == 401, "bob is out")
    s.analysts["bob"] = grant
    s.configure()
    reload(s)
    end = time.monotonic() + 20
    while s.client().post("login", {"user": "bob", "password": PASSWORD})[0] != 200 and time.monotonic() < end:
        time.sleep(0.1)
    check(c.get("me")[0] == 401, "a session of before does not come back")
    check(other.get("me")[0] == 200, "the others' sessions go on")


def with_tls():
    with WebService(https=True) as s:
        a = s.client("ann")
        told = a.headers["Set-Cookie"]
        check(a.cookie.startswith("__Host-dpc=") and "Secure" in told, "the cookie over TLS", told)
        check("max-age" in (a.headers["Strict-Transport-Security"] or ""), "stays with TLS")
        status, r = a.post("datasets/hospital/release", {"sql": COUNT, "epsilon": "0.5"})
        check(status == 200 and r["rows"], "a release over TLS", status, r)
        check(s.client("dba").get("owner")[1]["certificate"]["until"] > "2020", "the certificate's end")
        plain = socket.create_connection(("127.0.0.1", s.http), timeout=60)
        plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        got = plain.recv(1000)
        check(b"HTTP/1.1 200" not in got, "nothing without TLS", got)
        plain.close()


def main():
    people = {"ann": "epsilon: 50", "bob": "epsilon: 1", "cat": "epsilon: 5", "tom": ("epsilon: 1", ", spend: off")}
    with WebService(analysts=people) as s:
        for part in (files, sign_in, cross_site, asking, refusals, data, owners, scripts, at_once, rude, guessing, removed):
            part(s)
        with open(s.log, encoding="utf-8", errors="replace") as f:
            log = f.read()
        check(PASSWORD not in log and "guess" not in log, "no password in the log")
        check("http-killed" not in log, "no process was killed", [x for x in log.splitlines() if "killed" in x][:3])
        check(s.stop() == 0, "stops")
    with_tls()
    print("FAILED: %d" % len(BAD) if BAD else "the API does what it says")
    return 1 if BAD else 0


if __name__ == "__main__":
    sys.exit(main())
