"""The owner's side: libdpcount by ctypes."""
from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
import threading
from typing import Any, Dict, Iterable, List, Mapping, Optional

from ._answer import Answer, Quote
from ._errors import DpcountError, error_of

_lock = threading.Lock()
_loaded: Optional[ctypes.CDLL] = None

_POINTERS = ["dpc_version", "dpc_error_json", "dpc_result_json", "dpc_result_text"]


def _library() -> ctypes.CDLL:
    """$DPCOUNT_LIBRARY, else libdpcount where the system has it."""
    global _loaded  # pylint: disable=global-statement
    with _lock:
        if _loaded is None:
            name = os.environ.get("DPCOUNT_LIBRARY") or ctypes.util.find_library("dpcount") or "libdpcount.so.0.2"
            try:
                lib = ctypes.CDLL(name)
            except OSError as e:
                raise ImportError(f"libdpcount is not installed ({e}); name the file in DPCOUNT_LIBRARY, or ask a "
                                  "service with dpcount.connect(...)") from e
            for f in _POINTERS:
                getattr(lib, f).restype = ctypes.c_char_p
                if f != "dpc_version":
                    getattr(lib, f).argtypes = [ctypes.c_void_p]
            for f in ("dpc_dataset_free", "dpc_question_free", "dpc_result_free", "dpc_error_free"):
                getattr(lib, f).argtypes = [ctypes.c_void_p]
                getattr(lib, f).restype = None
            _loaded = lib
        return _loaded


def library_version() -> str:
    """The version of libdpcount."""
    return _library().dpc_version().decode()


def _bytes(value: Any) -> bytes:
    if value is True or value is False:
        return b"yes" if value else b"no"
    return str(value).encode()


def _option(name: str) -> bytes:
    return name.replace("_", "-").encode()


def _values(value: Any) -> Iterable[Any]:
    return value if isinstance(value, (list, tuple)) else [value]


class _Call:
    """Calls a function of the library whose last argument is the error."""

    def __init__(self, lib: ctypes.CDLL):
        self.lib = lib

    def __call__(self, name: str, *args: Any) -> None:
        error = ctypes.c_void_p()
        status = getattr(self.lib, name)(*args, ctypes.byref(error))
        if status:
            raise self._error(status, error)

    def _error(self, status: int, error: ctypes.c_void_p) -> DpcountError:
        text = self.lib.dpc_error_json(error)
        body = json.loads(text)["error"] if text else {}
        self.lib.dpc_error_free(error)
        return error_of(status, body)

    def result(self, name: str, *args: Any) -> Mapping[str, Any]:
        out = ctypes.c_void_p()
        try:
            self(name, *args, ctypes.byref(out))
            return json.loads(self.lib.dpc_result_json(out))
        finally:
            self.lib.dpc_result_free(out)


class Dataset:
    """An open data set of the owner's. Options are those of the program, with _ for -:
    Dataset(db="hospital.db", policy="policy.yaml", ledger="hospital.ledger"); lists repeat an option.
    `analyst` is the name that releases are charged to."""

    def __init__(self, analyst: str = "", **options: Any):
        self._lib = _library()
        self._call = _Call(self._lib)
        self._analyst = analyst
        self._handle = ctypes.c_void_p()
        if self._lib.dpc_dataset_new(ctypes.byref(self._handle)):
            raise MemoryError
        try:
            for name, value in options.items():
                for v in _values(value):
                    self._call("dpc_dataset_set", self._handle, _option(name), _bytes(v))
            self._call("dpc_dataset_open", self._handle, ctypes.c_uint(0))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Gives the data back. No call may run."""
        handle, self._handle = self._handle, ctypes.c_void_p()
        if handle:
            self._lib.dpc_dataset_free(handle)

    def __enter__(self) -> "Dataset":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()

    def _question(self, sql: str, params: Iterable[Any], options: Mapping[str, Any]) -> ctypes.c_void_p:
        q = ctypes.c_void_p()
        if self._lib.dpc_question_new(sql.encode(), ctypes.byref(q)):
            raise MemoryError
        try:
            for name, value in options.items():
                for v in _values(value):
                    if v is not None:
                        self._call("dpc_question_set", q, _option(name), _bytes(v))
            for i, v in enumerate(params, 1):
                self._call("dpc_question_param", q, ctypes.c_size_t(i), None if v is None else _bytes(v))
        except BaseException:
            self._lib.dpc_question_free(q)
            raise
        return q

    def _ask(self, name: str, sql: str, params: Iterable[Any], options: Mapping[str, Any], *args: Any) -> Mapping[str, Any]:
        q = self._question(sql, params, options)
        try:
            return self._call.result(name, self._handle, q, *args)
        finally:
            self._lib.dpc_question_free(q)

    def quote(self, sql: str, epsilon: Any = None, params: Iterable[Any] = (), **options: Any) -> Quote:
        """Price, mechanism and expected error. Free; no private row is read."""
        return Quote(self._ask("dpc_quote", sql, params, {"epsilon": epsilon, **options}))

    def release(self, sql: str, epsilon: Any = None, params: Iterable[Any] = (), **options: Any) -> Answer:
        """A noisy answer, charged to the ledger."""
        return Answer(self._ask("dpc_release", sql, params, {"epsilon": epsilon, **options}, self._analyst.encode()))

    def analyze(self, sql: str, params: Iterable[Any] = (), **options: Any) -> Mapping[str, Any]:
        """Static analysis as a dictionary (docs/json.md)."""
        return self._ask("dpc_analyze", sql, params, options)

    def count(self, sql: str, params: Iterable[Any] = (), **options: Any) -> Mapping[str, Any]:
        """The owner's: the exact count, which is private."""
        return self._ask("dpc_count", sql, params, options)

    def budget(self) -> Mapping[str, Any]:
        """What is spent and left."""
        return self._call.result("dpc_budget_show", self._handle, self._analyst.encode())

    def history(self) -> List[Dict[str, Any]]:
        """What was asked and released."""
        body = self._call.result("dpc_budget_history", self._handle, self._analyst.encode())
        return list(body.get("history", body.get("releases", [])))
