"""Tables of Arrow as data frames of pandas.

Data's way: a table of matches -> **a data frame** -> the user.
Invariant: an integer stays an integer and a boolean a boolean, also beside an unbound one: those columns are of pandas'
nullable types.
Left out: the columns themselves (retewave/io/sinks/typed_columns.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from retewave.errors import UsageError

if TYPE_CHECKING:
    import pandas

__all__ = ["frame"]


def frame(table: pa.Table) -> pandas.DataFrame:
    """Return a table as a data frame."""
    try:
        import pandas
    except ImportError as e:
        raise UsageError("pandas is not installed", hint="pip install 'pandas<3', or use to_arrow()") from e
    nullable = {pa.int64(): pandas.Int64Dtype(), pa.bool_(): pandas.BooleanDtype()}
    columns = {
        name: column.to_pandas(types_mapper=nullable.get if column.null_count else None)
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
    return pandas.DataFrame(columns)
