"""Quotes and answers: numbers, columns, errors, prices; for notebooks as tables and pictures."""
from __future__ import annotations

import html
from decimal import Decimal
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple


class Column(NamedTuple):
    """A column of an answer, as asked for."""

    name: str
    type: str


class Price(NamedTuple):
    """What a question costs in all."""

    epsilon: Decimal
    delta: Decimal


def _decimal(value: Any) -> Decimal:
    return Decimal(str(value if value is not None else 0))


class _Result:
    """What quotes and answers share. `json` is everything that dpcount said."""

    def __init__(self, body: Mapping[str, Any]):
        self.json: Mapping[str, Any] = body
        self.columns: List[Column] = [Column(c["name"], c["type"]) for c in body.get("columns", [])]

    @property
    def price(self) -> Price:
        """What all numbers of the question cost together."""
        body = self.json
        total = body.get("price", body.get("epsilon"))
        if isinstance(total, Mapping):
            return Price(_decimal(total.get("epsilon")), _decimal(total.get("delta")))
        return Price(_decimal(total), _decimal(body.get("delta")))

    @property
    def guarantee(self) -> str:
        """What is promised to whom."""
        return str(self.json.get("guarantee", ""))

    @property
    def mechanism(self) -> str:
        return str(self.json.get("mechanism", ""))

    def _errors(self) -> Mapping[str, Any]:
        body = self.json
        found = body.get("expected_error") or body.get("error")
        if not found and body.get("counts"):
            first = body["counts"][0]
            found = first.get("expected_error") or first.get("error")
        return found if isinstance(found, Mapping) else {}

    @property
    def error95(self) -> Optional[float]:
        """95 % of all answers lie within this of what is counted; None: not known."""
        value = self._errors().get("p95")
        return float(value) if value is not None else None

    @property
    def error50(self) -> Optional[float]:
        """Half of all answers lie within this of what is counted; None: not known."""
        value = self._errors().get("p50")
        return float(value) if value is not None else None


class Quote(_Result):
    """What a release would cost and how far off it would be. Nothing was spent."""

    def __repr__(self) -> str:
        within = f"95 % within {self.error95:g}" if self.error95 is not None else "error told with the answer"
        return f"<Quote: epsilon {self.price.epsilon}, {within}, {self.mechanism}>"

    def _repr_html_(self) -> str:
        rows = [("price", f"epsilon {self.price.epsilon}, delta {self.price.delta}"),
                ("95 % within", f"{self.error95:g}" if self.error95 is not None else "told with the answer"),
                ("mechanism", self.mechanism), ("guarantee", self.guarantee)]
        body = "".join(f"<tr><th style='text-align:left'>{html.escape(k)}</th>"
                       f"<td style='text-align:left'>{html.escape(v)}</td></tr>" for k, v in rows if v)
        return f"<table>{body}</table>"


class Answer(_Result):
    """Noisy numbers that were paid for."""

    def __init__(self, body: Mapping[str, Any]):
        super().__init__(body)
        self.rows: List[Tuple[Any, ...]] = [tuple(r) for r in body.get("rows", [])]

    @property
    def value(self) -> Any:
        """The number of an answer that is one number."""
        if len(self.rows) != 1 or len(self.columns) != 1:
            raise ValueError(f"the answer has {len(self.rows)} rows and {len(self.columns)} columns")
        return self.rows[0][0]

    @property
    def receipt(self) -> str:
        """The entry in the ledger."""
        return str(self.json.get("receipt", ""))

    @property
    def repeated(self) -> bool:
        """Had it been paid for before?"""
        return bool(self.json.get("repeated", False))

    @property
    def remaining(self) -> Optional[Decimal]:
        """Epsilon that is left."""
        left = (self.json.get("budget") or {}).get("remaining")
        return _decimal(left) if left is not None else None

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self):
        return iter(self.rows)

    def __repr__(self) -> str:
        what = repr(self.rows[0][0]) if len(self.rows) == 1 and len(self.columns) == 1 else f"{len(self.rows)} rows"
        within = f", 95 % within {self.error95:g}" if self.error95 is not None else ""
        return f"<Answer: {what}{within}, epsilon {self.price.epsilon}>"

    def records(self) -> List[Dict[str, Any]]:
        """Each row by the names of the columns."""
        names = [c.name for c in self.columns]
        return [dict(zip(names, row)) for row in self.rows]

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(c.name)}</th>" for c in self.columns)
        body = "".join("<tr>" + "".join(f"<td>{html.escape('' if v is None else str(v))}</td>" for v in row) + "</tr>"
                       for row in self.rows)
        foot = [f"epsilon {self.price.epsilon}"]
        if self.error95 is not None:
            foot.insert(0, f"95 % of such numbers lie within {self.error95:g} of what is counted")
        return (f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
                f"<p><small>{html.escape('; '.join(foot))}. {html.escape(self.guarantee)}</small></p>")

    def to_pandas(self):
        """A pandas.DataFrame; pandas must be installed."""
        import pandas  # pylint: disable=import-outside-toplevel
        return pandas.DataFrame(self.rows, columns=[c.name for c in self.columns])

    def _numbers(self) -> Tuple[Sequence[str], Sequence[float], str]:
        at = max(i for i, c in enumerate(self.columns) if c.type in ("integer", "bigint", "numeric", "decimal", "double"))
        labels = [", ".join("NULL" if v is None else str(v) for i, v in enumerate(row) if i != at) or self.columns[at].name
                  for row in self.rows]
        return labels, [float(row[at]) for row in self.rows], self.columns[at].name

    def plot(self, ax=None):
        """Bars with error bars (95 %); matplotlib must be installed. Returns the axes."""
        if ax is None:
            import matplotlib.pyplot as plt  # pylint: disable=import-outside-toplevel
            _, ax = plt.subplots()
        labels, values, name = self._numbers()
        ax.bar(range(len(values)), values, yerr=self.error95, capsize=4)
        ax.set_xticks(range(len(values)))
        ax.set_xticklabels(labels, rotation=45 if max(map(len, labels), default=0) > 6 else 0, ha="right")
        ax.set_ylabel(name)
        return ax
