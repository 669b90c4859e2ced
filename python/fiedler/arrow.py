"""Encodings and features of tables: from one table of Arrow to another, the same bytes however a table is divided.

A table is anything with Arrow's PyCapsule interface: of pyarrow, polars, DuckDB, pandas (with pyarrow installed). It
has a graph in each row, in the columns ``src`` and ``dst`` or ``edge_index``, or an edge in each row, whose ids may be
integers or text of any kind; ``node_ids`` of the result has them. The result has the columns of the table and those of
the encoding, and comes back in the library of the table.

>>> import pyarrow as pa
>>> from fiedler.arrow import Encoder
>>> table = pa.table({"id": [7, 8], "src": [[0, 1], [0]], "dst": [[1, 2], [1]]})
>>> encoded = Encoder(k=2)(table)
>>> encoded.column_names[:5]
['id', 'src', 'dst', 'eigenvalues', 'eigenvectors']
>>> encoded["status"].to_pylist()
['converged', 'converged']

An `Encoder` can be pickled, and has one context in each process: Ray, Spark and Dask call it in their workers.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from . import _fiedler
from ._arguments import flag, real, text, text_or_none, whole, word, wrong
from ._context import Context, _context
from ._errors import warn_of
from ._fiedler import Table

__all__ = ["Encoder", "FeatureEncoder", "Table", "spark_schema"]


def _is_pandas(table: Any) -> bool:
    return type(table).__name__ == "DataFrame" and type(table).__module__.partition(".")[0] == "pandas"


def _capsule(table: Any) -> Any:
    """Returns the stream of a table."""
    if _is_pandas(table):
        import pyarrow

        # The index of pandas is no column.
        table = pyarrow.Table.from_pandas(table, preserve_index=False)
    if not hasattr(table, "__arrow_c_stream__"):
        expected = "a table of pyarrow, polars, DuckDB or pandas, which has __arrow_c_stream__"
        raise TypeError(f"table: expected {expected}, found {type(table).__name__}")
    return table.__arrow_c_stream__()


def _as_given(made: Table, given: Any) -> Any:
    """Returns the result as what the table was: the libraries are imported already, except for pyarrow of pandas."""
    kind, home = type(given).__name__, type(given).__module__.partition(".")[0]
    if _is_pandas(given):
        import pandas
        import pyarrow

        frame = pyarrow.table(made).to_pandas(types_mapper=pandas.ArrowDtype)
        if len(frame) == len(given):
            frame.index = given.index
        return frame
    if home == "pyarrow":
        pyarrow = sys.modules["pyarrow"]
        if kind == "RecordBatchReader":
            return pyarrow.RecordBatchReader.from_stream(made)
        table = pyarrow.table(made)
        if kind == "RecordBatch":
            # A batch may have been encoded in parts.
            batches = table.combine_chunks().to_batches()
            return batches[0] if batches else pyarrow.RecordBatch.from_pylist([], table.schema)
        return table
    if home == "polars" and kind == "DataFrame":
        return sys.modules["polars"].DataFrame(made)
    return made


class _Tables:
    """What takes tables: the settings, by which it is pickled."""

    def __init__(self, settings: dict[str, Any], device: str | None, context: Context | None) -> None:
        self._settings, self._device, self._context = settings, device, context
        _context(context, device)  # what is wrong with these is said now

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self._settings, self._device, self._context)

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self._settings.items() if value is not None)
        return f"fiedler.arrow.{type(self).__name__}({said})"

    @property
    def _native(self) -> Any:
        return _context(self._context, self._device)

    def _made(self, table: Any) -> Table:
        raise NotImplementedError

    def __call__(self, table: Any) -> Any:
        """Returns a table of the result, of the library of the table that is given."""
        made = self._made(table)
        warn_of(made.notices)
        return _as_given(made, table)

    def schema(self, schema: Any) -> Any:
        """Returns the schema of the result for tables of a schema, both of pyarrow."""
        return self(schema.empty_table()).schema


def _texts(values: Any) -> list[str]:
    if not isinstance(values, Sequence):
        raise wrong("representations", "a text or a sequence of texts", values)
    return [text(value, "representations") for value in values]


def _restored(kind: type[_Tables], settings: dict[str, Any], device: str | None, context: Context | None) -> Any:
    return kind(**settings, device=device, context=context)


def _columns(columns: Mapping[str, str] | None) -> dict[str, str]:
    if columns is not None and not isinstance(columns, Mapping):
        raise wrong("columns", "a mapping of roles to names", columns)
    return {text(role, "columns"): text(name, "columns") for role, name in (columns or {}).items()}


class Encoder(_Tables):
    """Computes k eigenpairs of the Laplacian of every graph of a table.

    Everything about a graph is decided by the graph alone, so that its row has the same bytes in whatever table it is,
    and on however many threads. Nodes of a cluster compute the same bytes if the metadata of their schemas agree, and
    their rates, if they have GPUs (`fiedler.Context.rates`).

    Parameters
    ----------
    k, laplacian, charge, which, walk_steps, method, precision, preset, symmetrize, signed, cache, device, context
        As for `fiedler.encode`. With a charge, the column ``eigenvectors`` has the real parts of the eigenvectors, and
        ``eigenvectors_imaginary`` the imaginary ones.
    trivial : {'keep', 'components'}
        Whether the eigenvectors of the eigenvalue 0 are left out, one for each connected component.
    columns : mapping, optional
        The names of the columns that describe graphs, by 'src', 'dst', 'edge_index', 'weight', 'num_nodes' and 'graph',
        which are also their names by default.
    layout : {'lists', 'fixed'}
        Whether the numbers of a node are a list, which every library reads, or a list of fixed size.
    edges : bool
        Whether the result has the columns of the edges, too.

    The columns of the result are those of the command: see ``fiedler encode --help`` and `docs/scale-out.md`. A graph
    that cannot be encoded is no error: its row says why in the columns ``status`` and ``error``.
    """

    def __init__(
        self,
        k: int = 8,
        *,
        laplacian: str = "symmetric",
        charge: float | None = None,
        which: str = "smallest",
        trivial: str = "keep",
        walk_steps: int = 0,
        method: str = "auto",
        precision: str = "f32",
        preset: str | None = None,
        symmetrize: str | None = None,
        signed: bool = False,
        columns: Mapping[str, str] | None = None,
        layout: str = "lists",
        edges: bool = True,
        cache: bool = True,
        device: str | None = None,
        context: Context | None = None,
    ) -> None:
        settings = {
            "k": whole(k, "k", 2**31 - 1),
            "laplacian": word(laplacian, "laplacian", "symmetric", "random-walk", "combinatorial"),
            "charge": None if charge is None else real(charge, "charge"),
            "which": word(which, "which", "smallest", "largest"),
            "trivial": word(trivial, "trivial", "keep", "components"),
            "walk_steps": whole(walk_steps, "walk_steps", 2**31 - 1),
            "method": word(method, "method", "auto", "exact", "fast"),
            "precision": word(precision, "precision", "f32", "f64"),
            "preset": text_or_none(preset, "preset"),
            "symmetrize": text_or_none(symmetrize, "symmetrize"),
            "signed": flag(signed, "signed"),
            "columns": _columns(columns),
            "layout": word(layout, "layout", "lists", "fixed"),
            "edges": flag(edges, "edges"),
            "cache": flag(cache, "cache"),
        }
        super().__init__(settings, device, context)

    def _made(self, table: Any) -> Table:
        said = self._settings
        options = {name: said[name] for name in ("k", "laplacian", "charge", "which", "walk_steps", "method", "cache")}
        options |= {"drop_trivial": said["trivial"] == "components", "wide": said["precision"] == "f64", "resume": None}
        of_tables = {name: said[name] for name in ("columns", "edges")}
        of_tables |= {"how": (said["preset"], said["symmetrize"], said["signed"], said["charge"] is not None)}
        of_tables["fixed"] = said["layout"] == "fixed"
        return _fiedler.encode_table(self._native, _capsule(table), options, of_tables)


class FeatureEncoder(_Tables):
    """Computes representations of the rows of a table, on the CPU.

    Parameters
    ----------
    representations : str or list of str
        As for `fiedler.features.extract`. Representations of graphs, such as 'graph', take tables as `Encoder` does.
        Others take every column of lists of numbers as a layer: lists of fixed size are vectors, others are series.
    layers : sequence of str
        The columns that are layers, by default all of them.
    preset, symmetrize, columns
        As for `Encoder`, of graphs.

    >>> import pyarrow as pa
    >>> from fiedler.arrow import FeatureEncoder
    >>> found = FeatureEncoder("moments(columns=['mean'])")(pa.table({"x": [[1.0, 3.0], [2.0]]}))
    >>> found["moments.mean"].to_pylist()
    [2.0, 2.0]
    """

    def __init__(
        self,
        representations: str | Sequence[str],
        *,
        layers: Sequence[str] = (),
        preset: str | None = None,
        symmetrize: str | None = None,
        columns: Mapping[str, str] | None = None,
        device: str | None = None,
        context: Context | None = None,
    ) -> None:
        settings = {
            "representations": representations if isinstance(representations, str) else ",".join(_texts(representations)),
            "layers": [text(name, "layers") for name in layers],
            "preset": text_or_none(preset, "preset"),
            "symmetrize": text_or_none(symmetrize, "symmetrize"),
            "columns": _columns(columns),
        }
        super().__init__(settings, device, context)

    def _made(self, table: Any) -> Table:
        said = self._settings
        of_tables = {"how": (said["preset"], said["symmetrize"], False, False), "columns": said["columns"]}
        of_tables |= {"edges": True, "fixed": False}
        context, capsule = self._native, _capsule(table)
        return _fiedler.features_table(context, capsule, said["representations"], said["layers"], of_tables)


def spark_schema(schema: Any, encoder: Encoder | FeatureEncoder) -> Any:
    """Returns the schema that ``mapInArrow`` of PySpark wants: that of the result for data frames of this schema.

    >>> encoder = fiedler.arrow.Encoder(k=8)                                                        # doctest: +SKIP
    >>> frame.mapInArrow(lambda batches: map(encoder, batches), spark_schema(frame.schema, encoder))  # doctest: +SKIP
    """
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    return from_arrow_schema(encoder.schema(to_arrow_schema(schema)))
