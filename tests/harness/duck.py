"""DuckDB through its C interface, to make files for tests."""
import ctypes
import os

import npm

NAMES = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}


def library():
    """libduckdb.so at a fixed version, from the build folder or npm."""
    folder = npm.package("@duckdb/node-bindings-" + NAMES[os.uname().machine], "1.5.6-r.1")
    return os.path.join(folder, "libduckdb.so")


class Result(ctypes.Structure):
    _fields_ = [("old", ctypes.c_uint64 * 3), ("columns", ctypes.c_void_p),
                ("message", ctypes.c_void_p), ("internal", ctypes.c_void_p)]


class Duck:
    """A database that is written to: with Duck(FILE) as d: d.run(SQL)."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(library())
        self.lib.duckdb_result_error.restype = ctypes.c_char_p
        self.db, self.con = ctypes.c_void_p(), ctypes.c_void_p()
        if self.lib.duckdb_open(path.encode() if path else None, ctypes.byref(self.db)):
            raise OSError("DuckDB cannot open " + str(path))
        self.lib.duckdb_connect(self.db, ctypes.byref(self.con))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lib.duckdb_disconnect(ctypes.byref(self.con))
        self.lib.duckdb_close(ctypes.byref(self.db))

    def run(self, sql):
        r = Result()
        if self.lib.duckdb_query(self.con, sql.encode(), ctypes.byref(r)):
            raise ValueError(self.lib.duckdb_result_error(ctypes.byref(r)).decode())
        self.lib.duckdb_destroy_result(ctypes.byref(r))
