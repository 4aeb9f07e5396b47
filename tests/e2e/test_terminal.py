#!/usr/bin/env python3
"""What people see on a terminal: lines within its width, labels in bold unless NO_COLOR, the plain text
everywhere else. And names that are nearly right are told."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

import outside
from outside import check, end, write

folder = tempfile.TemporaryDirectory(prefix="dpc-terminal-")
os.chdir(folder.name)
write("s.sql", "CREATE TABLE p(id int PRIMARY KEY, sex text);")
QUOTE = ["quote", "--schema", "s.sql", "--epsilon", "1", "--format", "text", "SELECT COUNT(*) FROM p"]


def shown(width, **env):
    try:
        master, slave = pty.openpty()
    except OSError as e:
        print(f"skipped: {e}")
        sys.exit(77)
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    p = subprocess.Popen([outside.DPCOUNT, *QUOTE], stdout=slave, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                         env={**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, "TERM": "xterm", **env})
    os.close(slave)
    text = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:
            break
        if not part:
            break
        text += part
    p.wait()
    os.close(master)
    return text.decode().replace("\r\n", "\n")


plain = outside.run(*QUOTE).stdout
check("not wrapped in a pipe", max(map(len, plain.splitlines())) > 100 and "\033" not in plain, plain)
for width in (50, 72, 100):
    text = shown(width, NO_COLOR="1")
    check(f"width {width}", max(map(len, text.splitlines())) <= width, text)
    check(f"no color {width}", "\033" not in text, text)
    check(f"the same words {width}", text.split() == plain.split(), text)
color = shown(72)
check("bold labels", "\033[1mguarantee" in color, color)
check("the same but for color", re.sub(r"\033\[[0-9]*m", "", color).split() == plain.split(), color)
check("no colors for dumb terminals", "\033" not in shown(72, TERM="dumb"))
for args, meant in ((["relase"], "release"), (["sensitivty"], "sensitivity"), (["quote", "--epsilno", "1"], "--epsilon"), (["qoute"], "quote")):
    r = outside.run(*args)
    check(f"did you mean {meant}", r.returncode == 2 and f"Did you mean {meant}?" in r.stderr, r.stderr)
check("nothing is near", "Did you mean" not in outside.run("xyzzy").stderr)
end()
