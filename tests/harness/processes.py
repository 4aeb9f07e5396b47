"""The processes of a service that a test started, and what the kernel says of
them."""
import os
import re


def all_of(s):
    """{process id: name}, also of those that are nobody's children any more:
    they run from the service's own copy of the program."""
    mine = os.path.join(s.bin, "dpcount")
    out = {}
    for p in os.listdir("/proc"):
        if not p.isdigit():
            continue
        try:
            if os.readlink(f"/proc/{p}/exe") == mine:
                with open(f"/proc/{p}/comm", encoding="utf-8") as f:
                    out[int(p)] = f.read().strip()
        except OSError:
            continue
    return out


def named(s, name):
    """The oldest first."""
    found = [p for p, n in all_of(s).items() if n == name[:15]]
    return sorted(found, key=lambda p: field(p, 21))


def field(pid, i):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
            return int(f.read().rsplit(")", 1)[1].split()[i - 2])
    except OSError:
        return 0


def status(pid, key):
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as f:
            m = re.search(rf"^{key}:\s*(.*)$", f.read(), re.M)
    except OSError:
        return ""
    return m[1] if m else ""


def processors(pid):
    """Those it may run on."""
    out = set()
    for part in status(pid, "Cpus_allowed_list").split(","):
        if part:
            a, _, b = part.partition("-")
            out |= set(range(int(a), int(b or a) + 1))
    return out


def memory(s):
    """Private bytes, by name."""
    out = {}
    for pid, name in all_of(s).items():
        try:
            with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as f:
                text = f.read()
        except OSError:
            continue
        kb = sum(int(x) for x in re.findall(r"Private_\w+:\s+(\d+) kB", text))
        out[name] = out.get(name, 0) + kb * 1024
    return out


def memory_tells(s):
    """Not under a sanitizer, which keeps what was given back."""
    with open(os.path.join(s.bin, "dpcount"), "rb") as f:
        return b"__asan_init" not in f.read()


def processor_seconds(s):
    """Of all of them, and of those that they waited for."""
    return sum(field(p, i) for p in all_of(s) for i in (13, 14, 15, 16)) / os.sysconf("SC_CLK_TCK")
