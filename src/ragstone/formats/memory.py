"""Tables in memory: lists of mappings stay as they are, everything else speaks Arrow."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ragstone.errors import UsageError


def open_table(given: Any) -> pa.Table | list[Any]:
    """Rows as they are, or an Arrow table, of whatever a user may hold."""
    if isinstance(given, list | tuple):
        return list(given)
    if isinstance(given, pa.RecordBatch):
        return pa.Table.from_batches([given])
    if isinstance(given, pa.Table):
        return given
    if isinstance(given, dict) and hasattr(given, "with_format"):
        example = next(iter(given), "test")
        raise UsageError(
            f"cannot read samples from {len(given)} splits at once; choose one, for instance data[{example!r}]"
        )
    if hasattr(given, "with_format") and hasattr(given, "data"):
        return given.with_format("arrow")[:]  # a Hugging Face data set; its .data ignores selections
    if type(given).__module__.startswith("pandas"):
        return _pandas_rows(given)
    if hasattr(given, "__arrow_c_stream__"):
        return pa.table(given)
    raise UsageError(
        f"cannot read samples from a {type(given).__name__}; give a path, a list of dicts, "
        "or a pandas, polars, Arrow or Hugging Face table"
    )


def _pandas_rows(frame: Any) -> list[dict[str, Any]]:
    """Frames often hold lists of mixed things in object columns, which Arrow refuses: rows keep them for the checks."""
    if hasattr(frame, "to_frame"):
        raise UsageError("cannot read samples from a pandas Series; give the DataFrame")
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise UsageError(f"the DataFrame has two columns named {twice!r}; rename one of them")
    # What pandas marks as missing has many shapes; as None it has one.
    frame = frame.astype(object).where(frame.notna(), None)
    return frame.to_dict(orient="records")  # type: ignore[no-any-return]
