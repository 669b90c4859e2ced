"""Tables of pandas, polars and pyarrow, told apart without importing any of them."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _fiedler
from ._errors import DomainError, warn

_HOMES = ("pandas", "polars", "pyarrow")
_KINDS = ("DataFrame", "RecordBatch", "Table")


def names_of(x: Any) -> list[str] | None:
    """Returns the names of the columns of a table, or None if ``x`` is no table or its columns are only numbered."""
    if type(x).__name__ not in _KINDS or type(x).__module__.partition(".")[0] not in _HOMES:
        return None
    names = list(x.schema.names if hasattr(x, "to_pylist") else x.columns)
    return names if all(isinstance(name, str) for name in names) else None


def _some(x: Any, places: Sequence[int]) -> Any:
    """Returns a table of the columns at these places."""
    if hasattr(x, "iloc"):
        return x.iloc[:, places]
    return x.select(places) if hasattr(x, "to_pylist") else x[:, places]


def _column(x: Any, place: int) -> Any:
    return np.asarray(_some(x, [place]))[:, 0]


def _no_inputs(x: Any, names: list[str]) -> dict[int, str]:
    """Returns the places of the columns that are an index or ids, as they are in a file, and which of both."""
    return dict(_fiedler.no_inputs(names, lambda place: [str(cell) for cell in _cells(_column(x, place))]))


def inputs_of(x: Any) -> tuple[Any, list[str] | None, list[str]]:
    """Returns a table without an index and ids, the names of its columns, and what was left out. Others are returned as
    they are, without names."""
    names = names_of(x)
    if names is None:
        return x, None, []
    for name, columns in Counter(names).items():
        if columns > 1:
            raise DomainError(f"x: expected each column name once, found {columns} columns named {name}")
    others = _no_inputs(x, names)
    if not others or len(others) == len(names):
        return x, names, []
    kept = [place for place in range(len(names)) if place not in others]
    notes = [f"left out: {', '.join(f'`{names[place]}` ({why})' for place, why in others.items())}"]
    return _some(x, kept), [names[place] for place in kept], notes


def check_numbers(x: Any, names: Sequence[str]) -> None:
    """Checks that no column of a table has words."""
    for place, name in enumerate(names):
        column = _column(x, place)
        words = [value for value in column if isinstance(value, str)] if column.dtype.kind in "OUST" else []
        if words:
            raise DomainError(f"x: expected numbers, found {words[0]!r} in the column `{name}`")


def known_inputs(x: Any, wanted: Sequence[str]) -> Any:
    """Returns the inputs of a model with these names. A table has them in the same order, perhaps among others."""
    names = names_of(x)
    if names is None or not wanted:
        return x
    known = set(wanted)
    own = [place for place, name in enumerate(names) if name in known]
    if [names[place] for place in own] != list(wanted):
        found = [names[place] for place in own] if len(own) == len(wanted) else names
        order = " in this order" if len(own) == len(wanted) else ""
        raise DomainError(f"x: expected the inputs {', '.join(wanted)}{order}, found {', '.join(found)}")
    index = _no_inputs(x, names)
    others = [f"`{name}`" for place, name in enumerate(names) if name not in known and place not in index]
    if others:
        warn(f"left out: {', '.join(others)}; the model has no such input")
    return _some(x, own)


def in_file(name: str) -> str:
    """Returns the name of a column as the header of a file has it, where neither a number nor nothing is a name."""
    try:
        float(name or "nan")
    except ValueError:
        return name
    return repr(name)


def is_missing(value: Any) -> bool:
    """Returns whether a value is None or NaN, or what pandas has in their place."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def _cells(column: Any) -> list[Any]:
    """Returns the numbers of a column, or its words, among which what is missing is empty."""
    array = np.asarray(column)
    if array.dtype.kind in "fiub":
        numbers: list[Any] = (array.astype(np.uint8) if array.dtype.kind == "b" else array).tolist()
        return numbers
    missing = [is_missing(value) for value in array]
    words = any(isinstance(value, str) for value in array)
    empty = "" if words else math.nan
    cells = zip(array.tolist(), missing, strict=True)
    return [empty if lacks else int(value) if isinstance(value, bool) else value for value, lacks in cells]


def write(x: Any, names: Sequence[str], path: str) -> None:
    """Writes a table with names as a file from which its numbers are read as they are."""
    columns = [_cells(_column(x, place)) for place in range(len(names))]
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        out.writerow([name if at == 0 and not name else in_file(name) for at, name in enumerate(names)])
        out.writerows(zip(*columns, strict=True))
