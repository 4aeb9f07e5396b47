"""%%dpcount in notebooks.

    %load_ext dpcount
    ds = dpcount.connect(...)

    %%dpcount ds --epsilon 0.2
    SELECT sex, COUNT(*) FROM patient GROUP BY sex

shows the quote; with --spend it asks, and the answer is in `_dpcount` too.
"""
from __future__ import annotations

import argparse
import shlex
from typing import Any


def _parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="%%dpcount", add_help=False)
    p.add_argument("dataset", help="the variable that holds the data set")
    p.add_argument("--epsilon")
    p.add_argument("--delta")
    p.add_argument("--spend", action="store_true", help="ask; without it the price is shown")
    return p


def _cell(shell: Any, line: str, cell: str) -> Any:
    args = _parser().parse_args(shlex.split(line))
    ds = shell.user_ns.get(args.dataset)
    if ds is None:
        raise NameError(f"there is no variable {args.dataset}")
    options = {"delta": args.delta} if args.delta else {}
    if not args.spend:
        return ds.quote(cell, epsilon=args.epsilon, **options)
    answer = ds.release(cell, epsilon=args.epsilon, **options)
    shell.user_ns["_dpcount"] = answer
    return answer


def load_ipython_extension(shell: Any) -> None:
    """%load_ext dpcount"""
    def dpcount(line: str, cell: str) -> Any:
        return _cell(shell, line, cell)
    shell.register_magic_function(dpcount, magic_kind="cell", magic_name="dpcount")
