"""The analyst's side: a service, by its JSON interface."""
from __future__ import annotations

import base64
import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Dict, Iterable, List, Mapping, Optional

from ._answer import Answer, Quote
from ._errors import BudgetError, DpcountError, InternalError, RefusedError, SourceError, UsageError

_BY_HTTP = {400: UsageError, 401: UsageError, 402: BudgetError, 403: UsageError, 404: UsageError, 409: SourceError,
            413: UsageError, 422: RefusedError, 429: SourceError, 503: SourceError}


class Service:
    """A data set behind an address. `user` and `password` go with every request."""

    def __init__(self, url: str, user: str, password: str, timeout: float = 600, context: Optional[ssl.SSLContext] = None):
        parts = urllib.parse.urlsplit(url)
        self.dataset = parts.path.strip("/")
        if parts.scheme not in ("http", "https") or not self.dataset:
            raise ValueError("the address is http(s)://HOST[:PORT]/DATASET")
        self._base = f"{parts.scheme}://{parts.netloc}/api/v1/"
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self._token = base64.b64encode(f"{user}:{password}".encode()).decode()
        self._timeout, self._context = timeout, context

    def __repr__(self) -> str:
        return f"<Service {self._origin}/{self.dataset}>"

    def _request(self, path: str, body: Optional[Mapping[str, Any]] = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": "Basic " + self._token, "Accept": "application/json"}
        if data is not None:
            headers.update({"Content-Type": "application/json", "X-DPC": "1", "Origin": self._origin})
        request = urllib.request.Request(self._base + path, data, headers)
        try:
            with urllib.request.urlopen(request, timeout=self._timeout, context=self._context) as r:
                return json.load(r)
        except urllib.error.HTTPError as e:
            raise self._error(e) from None

    @staticmethod
    def _error(e: urllib.error.HTTPError) -> DpcountError:
        try:
            body = json.load(e)["error"]
        except (ValueError, KeyError, TypeError):
            body = {"code": "http", "message": f"the service answered {e.code}"}
        at = body.get("position")
        return _BY_HTTP.get(e.code, InternalError)(str(body.get("code", "")), str(body.get("message", "")),
                                                   str(body.get("detail") or ""), str(body.get("hint") or ""),
                                                   at if isinstance(at, int) and at >= 0 else None)

    def _ask(self, what: str, sql: str, epsilon: Any, params: Iterable[Any], options: Mapping[str, Any]) -> Mapping[str, Any]:
        body: Dict[str, Any] = {"sql": sql, **{k: v for k, v in options.items() if v is not None}}
        if epsilon is not None:
            body["epsilon"] = str(epsilon)
        given = list(params)
        if given:
            body["params"] = [None if p is None else str(p) for p in given]
        return self._request(f"datasets/{urllib.parse.quote(self.dataset)}/{what}", body)

    def quote(self, sql: str, epsilon: Any = None, params: Iterable[Any] = (), **options: Any) -> Quote:
        """Price, mechanism and expected error. Free."""
        return Quote(self._ask("quote", sql, epsilon, params, options))

    def release(self, sql: str, epsilon: Any = None, params: Iterable[Any] = (), **options: Any) -> Answer:
        """A noisy answer, charged to your account."""
        return Answer(self._ask("release", sql, epsilon, params, options))

    def tables(self) -> List[Mapping[str, Any]]:
        """Tables and columns, and whose rows they are."""
        body = self._request(f"datasets/{urllib.parse.quote(self.dataset)}/tables")
        return list(body.get("tables", [])) if isinstance(body, Mapping) else list(body)

    def budget(self) -> Mapping[str, Any]:
        """What is spent and left."""
        return self._request(f"datasets/{urllib.parse.quote(self.dataset)}/budget")

    def history(self) -> List[Mapping[str, Any]]:
        """Your questions and their answers."""
        body = self._request(f"datasets/{urllib.parse.quote(self.dataset)}/history")
        return list(body.get("history", [])) if isinstance(body, Mapping) else list(body)


def connect(url: str, user: str, password: str, **options: Any) -> Service:
    """A service: dpcount.connect("https://gate.example.org/hospital", user="ann", password="...")."""
    return Service(url, user, password, **options)
