"""Differentially private counts and sums over joins of private tables.

An owner opens the data themselves::

    import dpcount
    ds = dpcount.Dataset(db="hospital.db", policy="policy.yaml", ledger="hospital.ledger")

An analyst asks a service that somebody else runs::

    ds = dpcount.connect("http://127.0.0.1:8080/hospital", user="ann", password="...")

and both then ask in the same way::

    ds.quote("SELECT COUNT(*) FROM pat", epsilon=0.5)      # free: price and expected error
    r = ds.release("SELECT sex, COUNT(*) FROM pat GROUP BY sex", epsilon=0.5)
    r.rows, r.columns, r.error95, r.price, r.guarantee
    r.to_pandas(); r.plot()

In a notebook ``%load_ext dpcount`` gives the cell magic ``%%dpcount``.
"""
from ._answer import Answer, Column, Price, Quote
from ._errors import (BudgetError, DpcountError, InternalError, LimitError, RefusedError, SourceError,
                      UsageError)
from ._library import Dataset, library_version
from ._magic import load_ipython_extension
from ._service import Service, connect

__all__ = ["Answer", "BudgetError", "Column", "Dataset", "DpcountError", "InternalError", "LimitError", "Price",
           "Quote", "RefusedError", "Service", "SourceError", "UsageError", "connect", "library_version",
           "load_ipython_extension"]
