#!/usr/bin/env python3
"""What strangers send: malformed first packets, bytes before TLS, lengths of
two gigabytes, half-open connections; guessing; downgrades; others' secrets.
The service must go on, in the same memory."""
import os
import socket
import ssl
import struct
import subprocess
import sys
import time

from checks import BAD, check
from service import PASSWORD, Service


def packet(code, *texts):
    body = struct.pack("!I", code) + b"".join(t.encode() + b"\0" for t in texts)
    body += b"\0" if texts else b""
    return struct.pack("!I", len(body) + 4) + body


def local(s):
    c = socket.socket(socket.AF_UNIX)
    c.settimeout(30)
    c.connect(s.path("run/.s.PGSQL.5432"))
    return c


def remote(s):
    c = socket.create_connection(("127.0.0.1", s.port), 30)
    c.settimeout(30)
    return c


def rest(c):
    out = b""
    try:
        while True:
            part = c.recv(65536)
            if not part:
                return out
            out += part
    except (ConnectionError, ssl.SSLError):
        return out
    except socket.timeout:
        return None


def talk(s, *sent):
    c = local(s)
    for x in sent:
        try:
            c.sendall(x)
        except OSError:
            break
    out = rest(c)
    c.close()
    return out


STARTUP = packet(3 << 16, "user", "ann", "database", "hospital")


def first_packets(s):
    for what, sent in [("a length of 2 GB", struct.pack("!I", 0x7fffffff) + b"x" * 100),
                       ("a length of 0", b"\0\0\0\0"), ("too short", struct.pack("!I", 4)),
                       ("HTTP", b"GET / HTTP/1.0\r\n\r\n"), ("version 2", packet(2 << 16, "user", "ann")),
                       ("no end", struct.pack("!I", 14) + struct.pack("!I", 3 << 16) + b"user\0x"),
                       ("replication", packet(3 << 16, "user", "ann", "replication", "true")),
                       ("no user", packet(3 << 16, "database", "hospital")),
                       ("TLS twice", packet(80877103) + packet(80877103)),
                       ("GSS twice", packet(80877104) + packet(80877104)),
                       ("a name of 9 kB", packet(3 << 16, "user", "a" * 9000))]:
        out = talk(s, sent)
        check(out is not None, f"{what}: the connection ends", out)
        check(out is None or b"R\0\0\0\x08\0\0\0\0" not in out, f"{what}: nobody is signed in", out)
    out = talk(s, packet(3 << 16 | 9999, "user", "ann", "_pq_.test", "1") + b"p\0\0\0\4")
    check(out and out[:1] == b"v", "a newer protocol is negotiated down", out)


def messages(s):
    check(b"08P01" in talk(s, STARTUP, b"p" + struct.pack("!I", 0x7ffffff0)), "2 GB before sign-in: refused at once")
    check(b"R\0\0\0\x08\0\0\0\0" not in talk(s, STARTUP, b"Q\0\0\0\x0dselect 1\0", b"X\0\0\0\4"), "no query before sign-in")


def before_tls(s):
    c = remote(s)
    c.sendall(packet(80877103) + STARTUP)
    out = rest(c)
    check(out in (b"", b"S"), "bytes before TLS: closed", out)
    c = remote(s)
    c.sendall(STARTUP)
    out = rest(c)
    check(out and b"needs TLS" in out, "no TCP without TLS", out)
    c = remote(s)
    try:
        context = ssl.create_default_context(cafile=s.path("server.crt"))
        inside = context.wrap_socket(c, server_hostname="localhost")
        inside.sendall(STARTUP)
        check(not rest(inside), "direct TLS needs ALPN")
    except (ssl.SSLError, OSError):
        pass
    p = s.psql("ann", "select 1", tls=True, more="sslmode=verify-full channel_binding=require")
    check(p.stdout.strip() == "1", "TLS with channel binding", p.stderr)
    p = s.psql("ann", "select 1", tls=True, more="sslmode=disable")
    check(p.returncode, "not without TLS", p)


def guessing(s):
    texts = {s.psql("ann", "select 1", more=f"password=no{i}").stderr for i in range(6)}
    check(len(texts) == 1, "one text for wrong passwords", texts)
    p = s.psql("ann", "select 1")
    check(p.returncode and "password authentication failed" in p.stderr, "after five tries the right one is rejected, too", p)
    p = s.psql("bob", "select 1")
    check(p.stdout.strip() == "1", "others are not", p.stderr)
    deadline = time.monotonic() + 60
    while s.psql("ann", "select 1").returncode and time.monotonic() < deadline:
        time.sleep(0.5)
    check(s.psql("ann", "select 1").stdout.strip() == "1", "and it passes")


def resident(s):
    total = 0
    group = {s.process.pid}
    for _ in range(4):
        for p in os.listdir("/proc"):
            if p.isdigit():
                try:
                    with open(f"/proc/{p}/stat") as f:
                        parent = int(f.read().rsplit(")", 1)[1].split()[1])
                    if parent in group:
                        group.add(int(p))
                except OSError:
                    pass
    for p in group:
        try:
            with open(f"/proc/{p}/statm") as f:
                total += int(f.read().split()[1])
        except OSError:
            pass
    return total * 4096, group


def half_open(s):
    """As many as there are connections, saying nothing: others wait, then get
    in; sign-in has a time."""
    many = [local(s) for _ in range(30)]
    p = s.psql("bob", "select 1")
    check(p.stdout.strip() == "1", "somebody gets in beside thirty that say nothing", p.stderr)
    waited = rest(many[0])
    check(waited is not None, "who says nothing is sent away", waited)
    for c in many:
        c.close()


def secrets(s):
    """A front can open nothing: asked for through the library's own words."""
    history = s.psql("ann", "select count(*) from pat", "select receipt from dpcount.history")
    receipt = history.stdout.split()[-1]
    p = s.psql("bob", f"select count(*) from dpcount.history where receipt = '{receipt}'")
    check(p.stdout.strip() == "0", "ann's receipt is unknown to bob", p)
    p = s.psql("bob", "select name from sqlite_master", "select * from dpcount.sqlite_master",
               "select load_extension('x') from dpcount.budget", "attach 'x' as y")
    check(not p.stdout.strip(), "nothing beside one's own relations", p)
    for group in [resident(s)[1]]:
        fronts = []
        for pid in group:
            try:
                with open(f"/proc/{pid}/comm") as f:
                    fronts.append((f.read().strip(), pid))
            except OSError:
                pass
        names = {n for n, _ in fronts}
        check({"dpcount-auth", "dpcount-listene", "dpcount-desk", "dpcount-clerk"} <= names, "the processes", names)


def jailed(s):
    """The front of a connection: seccomp is on, and it has no file open."""
    c = subprocess.Popen(["psql", "-X", s.uri("bob")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                         env=s.environment())
    c.stdin.write("select 1;\n")
    c.stdin.flush()
    deadline = time.monotonic() + 30
    found = None
    while not found and time.monotonic() < deadline:
        for pid in resident(s)[1]:
            try:
                with open(f"/proc/{pid}/comm") as f:
                    if f.read().strip() == "dpcount-front":
                        found = pid
            except OSError:
                pass
    with open(f"/proc/{found}/status") as f:
        status = f.read()
    check("Seccomp:\t2" in status and "NoNewPrivs:\t1" in status, "a filter", status)
    if os.geteuid() == 0:
        links = [os.readlink(f"/proc/{found}/fd/{x}") for x in os.listdir(f"/proc/{found}/fd")]
        files = [x for x in links if x.startswith("/") and x != s.log and not x.startswith(("/dev/", "/memfd:"))]
        check(not files, "no file", links)
    c.stdin.close()
    c.wait(30)


def main():
    with Service({"ann": "epsilon: 5", "bob": "epsilon: 1"}, tls=True,
                 extra="limits: {sign_in_seconds: 4, connections: 60}\n") as s:
        s.psql("ann", "select count(*) from pat")
        before = resident(s)[0]
        first_packets(s)
        messages(s)
        before_tls(s)
        half_open(s)
        secrets(s)
        jailed(s)
        guessing(s)
        time.sleep(1)
        after = resident(s)[0]
        check(after < before + (64 << 20), "no more memory than before", before, after)
        killed = [e for e in s.events() if e["event"] in ("front-killed", "restart", "clerk-lost")]
        check(not killed, "no process died", killed)
        check(s.process.poll() is None and s.psql("bob", "select 1").stdout.strip() == "1", "it goes on")
    return 1 if BAD else 0


sys.exit(main())
