"""Bare Debian roots: made once by debootstrap, unpacked for each test, in which
commands are run as in a container."""
import os
import re
import shutil
import subprocess
import sys

BUILD = os.environ["DPC_BUILD"]
PLAIN = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/", "DEBIAN_FRONTEND": "noninteractive"}


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def fail(why, more=""):
    print(why, more[-1500:])
    sys.exit(1)


def run(what, args, **more):
    r = subprocess.run(args, capture_output=True, text=True, check=False, **more)
    if r.returncode:
        fail(f"{what}: exit {r.returncode}", r.stdout + r.stderr)
    return r.stdout + r.stderr


def need():
    """Skips where such roots cannot be made."""
    if os.getuid():
        skip("only root may install packages into a bare root")
    if not shutil.which("debootstrap"):
        skip("debootstrap is not installed")
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as cache:
        if not re.search("^DPC_SANITIZE:STRING=$", cache.read(), re.M):
            skip("once is enough, and this build has sanitizers")


def base(folder):
    """A bare Debian, as a file; made once for a build folder."""
    file = os.path.join(BUILD, "bare.tar")
    if not os.path.exists(file):
        root = os.path.join(folder, "base")
        run("debootstrap", ["debootstrap", "--variant=minbase", "bookworm", root])
        shutil.copytree("/etc/apt", root + "/etc/apt", dirs_exist_ok=True)
        for name in ("resolv.conf", "hosts"):
            if os.path.exists("/etc/" + name):
                shutil.copy("/etc/" + name, root + "/etc/" + name)
        run("tar", ["tar", "-C", root, "-cf", root + ".tar", "."])
        os.replace(shutil.copy(root + ".tar", f"{file}.{os.getpid()}"), file)
        shutil.rmtree(root)
    return file


def package(folder):
    """The Debian package of the build."""
    run("cpack", ["cpack", "--config", os.path.join(BUILD, "CPackConfig.cmake"), "-G", "DEB", "-B", folder])
    return next(os.path.join(folder, f) for f in os.listdir(folder) if f.endswith(".deb"))


class Root:
    """A root in which commands are carried out, with processes of its own."""

    def __init__(self, tar, root):
        self.root, self.folder, self.user = root, "/", None
        os.makedirs(root)
        run("tar", ["tar", "-C", root, "-xf", tar])

    def inside(self, *args):
        as_user = ["--userspec", self.user] if self.user else []
        apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={self.root}/proc"]
        return [*apart, "chroot", *as_user, self.root, "/bin/sh", "-ec", f'cd "{self.folder}"; exec "$@"', "sh", *args]

    def run(self, *args, **more):
        return run(" ".join(args)[:200], self.inside(*args), env=PLAIN, **more)

    def sh(self, text, **more):
        return self.run("/bin/sh", "-ec", text, **more)
