#!/usr/bin/env python3
"""What systemd does for a service, done here: a socket that listens before the service is there, word when it is ready,
reloads and ends, and a socket that outlives it."""
import os
import signal
import socket
import subprocess
import sys
import threading
import time

from service import NOBODY, Service

BAD = []


def check(ok, what, *more):
    if not ok:
        BAD.append(what)
        print("FAILED:", what, *more)


class Activated(Service):
    """Started with sockets at descriptor 3 and above."""

    def __init__(self, mine=True, **more):
        super().__init__(start=False, **more)
        self.mine = mine
        self.word = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.word.bind(self.path("notify"))
        os.chmod(self.path("notify"), 0o666)
        self.word.settimeout(60)
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(self.path("run/.s.PGSQL.5432"))
        os.chmod(self.path("run/.s.PGSQL.5432"), 0o777)
        self.listening.listen(16)

    def start(self, wait="serving"):
        fd = self.listening.fileno()
        pid = "$$" if self.mine else "1"
        command = ["sh", "-c", f'exec 3<&{fd}; LISTEN_FDS=1 LISTEN_PID={pid} exec "$@"', "sh", *self.command("serve", "--config", "serve.yaml")]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, pass_fds=(fd,),
                                            env={**self.environment(), "NOTIFY_SOCKET": self.path("notify")})
        self.wait_for(wait)

    def told(self, what):
        """The next words, up to this one."""
        seen = []
        try:
            while not any(what in w for w in seen):
                seen.append(self.word.recv(4096).decode())
        except socket.timeout:
            check(False, "never told: " + what, seen)
        return seen


def main():
    with Activated() as s:
        rows = []
        early = threading.Thread(target=lambda: rows.append(s.psql("ann", "select 1")))
        early.start()  # waits in the socket's queue
        time.sleep(0.3)
        check(not rows, "nobody is there yet", rows)
        s.start()
        s.told("READY=1")
        early.join()
        check(rows and rows[0].stdout.strip() == "1", "who came first is answered", rows, open(s.log).read())
        if os.geteuid() == 0:
            check(os.stat(s.path("run/.s.PGSQL.5432")).st_uid != NOBODY, "the socket is the one that was handed over")
        before = os.path.getsize(s.log)
        s.process.send_signal(signal.SIGHUP)
        s.wait_for("reload", before)
        check(s.psql("ann", "select 1").stdout.strip() == "1", "after a reload")
        check(s.stop() == 0, "ends with 0")
        s.told("STOPPING=1")
        check(os.path.exists(s.path("run/.s.PGSQL.5432")), "the socket is systemd's to take away")
        s.start()
        check(s.psql("ann", "select 1").stdout.strip() == "1", "started again on the same socket")
    with Activated(mine=False) as s:
        os.unlink(s.path("run/.s.PGSQL.5432"))
        s.start()
        check(s.psql("ann", "select 1").stdout.strip() == "1", "what was handed to another process is not taken")
    return 1 if BAD else 0


sys.exit(main())
