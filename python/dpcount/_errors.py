"""What can go wrong, as exceptions: one class for each exit status."""
from __future__ import annotations

from typing import Any, Mapping, Optional


class DpcountError(Exception):
    """Something failed. `code` is one of docs/errors.md; `position` is a byte of the query, or None."""

    def __init__(self, code: str, message: str, detail: str = "", hint: str = "", position: Optional[int] = None):
        super().__init__(message)
        self.code, self.message, self.detail, self.hint, self.position = code, message, detail, hint, position

    def __str__(self) -> str:
        lines = [f"{self.message} ({self.code})"]
        lines += [part for part in (self.detail, self.hint) if part]
        return "\n".join(lines)


class UsageError(DpcountError):
    """Usage, syntax, an unknown name or a bad value."""


class RefusedError(DpcountError):
    """The question cannot be answered: unsupported, or without a bound. Nothing was charged."""


class BudgetError(DpcountError):
    """The privacy budget does not suffice. Nothing was charged."""


class SourceError(DpcountError):
    """The data or the ledger could not be read, or the data set is locked."""


class LimitError(DpcountError):
    """A limit of memory, time or size; or the call was cancelled."""


class InternalError(DpcountError):
    """A defect in dpcount."""


BY_STATUS = {2: UsageError, 3: RefusedError, 4: BudgetError, 5: SourceError, 6: LimitError, 70: InternalError}


def error_of(status: int, body: Mapping[str, Any]) -> DpcountError:
    """The exception for an exit status and the object of {"error": {...}}."""
    at = body.get("position")
    return BY_STATUS.get(status, InternalError)(
        str(body.get("code", "internal")), str(body.get("message", "an error without a message")),
        str(body.get("detail") or ""), str(body.get("hint") or ""), at if isinstance(at, int) and at >= 0 else None)
