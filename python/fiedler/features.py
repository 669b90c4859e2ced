"""Features of samples: many representations of every sample, computed in one read of the data.

A representation is a preset, such as 'stats', 'core33' or 'tsfresh-minimal', or a kind with parameters, such as
"moments(columns=['mean', 'sd'])"; ``fiedler features --list`` shows all of them. Columns that were computed before are
found in the cache of the command.

>>> import numpy as np
>>> from fiedler import features
>>> found = features.extract(np.array([[1.0, 2.0, 3.0, 4.0]]), "moments(columns=['mean', 'sd'])")
>>> found.names, found.values.round(3)
(['moments.mean', 'moments.sd'], array([[2.5  , 1.118]], dtype=float32))
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _fiedler
from ._arguments import flag, path, text_or_none, wrong
from ._arrays import as_numpy, prepared
from ._context import Context, _context
from ._encode import _bar
from ._errors import ParseError, ShapeError, warn
from ._tables import in_file, names_of, write

__all__ = ["Features", "extract"]

Array = np.ndarray[Any, Any]


class Features(NamedTuple):
    """The result of `extract`."""

    values: Array
    """(samples, columns), float32."""
    names: list[str]
    """The names of the columns: representation, layer if there are several, column."""
    status: Array
    """(samples,), uint8: 0 computed, others as the command has them; no sample is left out."""
    ids: list[str] | None
    """What identifies the samples in files or a table."""
    report: dict[str, int]
    """How many representations of blocks of samples were found in the cache ('stored'), and 'computed'."""
    labels: Any = None
    """The label of each sample, or its values (samples, values), if the data are files or a table that have them."""
    notes: list[str] = []
    """Where the labels are in files or a table, and what was left out."""


def _layer(name: str, x: Any) -> tuple[str, Array, list[int] | None]:
    """Returns the name, the numbers and, if samples have their own lengths, these."""
    if isinstance(x, (list, tuple)) and x and np.ndim(x[0]) == 1 and len({len(one) for one in x}) > 1:
        parts = [prepared(as_numpy(one, name)[0], name) for one in x]
        if any(part.ndim != 1 for part in parts):
            raise ShapeError(f"{name}: expected vectors, found other shapes among them")
        joined = np.concatenate(parts)
        return name, joined, [len(part) for part in parts]
    array = prepared(as_numpy(x, name)[0], name)
    if array.ndim == 0:
        raise ShapeError(f"{name}: expected an array whose first axis is that of the samples, found a number")
    return name, array, None


def _samples(data: Any, label: str | None, ignore: list[str], take: list[str]) -> Any:
    if isinstance(data, (str, os.PathLike)):
        return _fiedler.Samples.open([path(data)], label, ignore, take)
    if isinstance(data, (list, tuple)) and data and all(isinstance(one, (str, os.PathLike)) for one in data):
        return _fiedler.Samples.open([path(one) for one in data], label, ignore, take)
    names = names_of(data)
    if names is not None:
        return _of_table(data, names, None if label is None else in_file(label), [*map(in_file, ignore)], take)
    if label is not None or ignore or take:
        raise wrong("data", "files, or a table with names, beside label, ignore or take", data)
    layers = data if isinstance(data, Mapping) else {"values": data}
    return _fiedler.Samples.of_arrays([_layer(str(name), x) for name, x in layers.items()])


def _of_table(table: Any, names: list[str], label: str | None, ignore: list[str], take: list[str]) -> Any:
    """Returns the samples of a table as those of a file with the same columns, so that the same rules hold."""
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "table.csv")
        write(table, names, place)
        try:
            return _fiedler.Samples.open([place], label, ignore, take)
        except ParseError as error:
            raise ParseError(str(error).replace(place, "data")) from None


def _texts(values: Any, name: str, expected: str) -> list[str]:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise wrong(name, expected, values)
    listed = list(values)
    for one in listed:
        if not isinstance(one, str):
            raise wrong(name, expected, one)
    return listed


def extract(
    data: Any,
    representations: str | Sequence[str],
    *,
    layers: Sequence[str] = (),
    label: str | None = None,
    ignore: Sequence[str] = (),
    take: Sequence[str] = (),
    cache: bool = True,
    progress: bool | Callable[[int, int], object] | None = None,
    device: str | None = None,
    context: Context | None = None,
) -> Features:
    """Computes representations of every sample.

    Parameters
    ----------
    data
        A path or several, of any format that ``fiedler features`` reads; a table of pandas, polars or pyarrow, whose
        columns have the roles that they would have in a file; an array (samples, numbers) or (samples, rows, columns);
        a list of vectors of different lengths; or a mapping from names of layers to arrays.
    representations : str or sequence of str
    layers : sequence of str
        The names of layers, in which ``*`` stands for any letters; by default all layers.
    label : str, optional
        The column or array that has the labels, which are no numbers of the samples. By default, it is the one that
        ``fiedler features`` would take.
    ignore : sequence of str
        The names of columns or arrays that are left out; in a file without names, the places of columns, which count
        from 1.
    take : sequence of str
        The names of columns that are taken although their names say that they are an index or ids.
    cache : bool
        Whether to look columns up in the cache, and to store them there.
    progress : bool or callable, optional
        As for `fiedler.encode`.

    Examples
    --------
    >>> found = features.extract([[1.0, 2.0], [3.0, 4.0, 8.0]], "moments(columns=['mean'])", cache=False)
    >>> found.values
    array([[1.5],
           [5. ]], dtype=float32)
    """
    names = _texts(layers, "layers", "a sequence of names")
    listed = representations
    if not isinstance(listed, str):
        listed = ", ".join(_texts(representations, "representations", "a text or a sequence of texts"))
    cache = flag(cache, "cache")
    samples = _samples(
        data,
        text_or_none(label, "label"),
        _texts(ignore, "ignore", "a sequence of names"),
        _texts(take, "take", "a sequence of names"),
    )
    notes, suspicious = samples.notes
    for one in suspicious:
        warn(one)
    tell, close = _bar(progress, len(samples), "sample")
    try:
        found = _fiedler.extract(_context(context, device), samples, listed, names, cache, tell)
    finally:
        close()
    report = {"stored": found["stored"], "computed": found["computed"]}
    return Features(found["values"], found["names"], found["status"], samples.ids, report, samples.labels, notes)
