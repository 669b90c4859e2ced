"""Spectral features of graphs and batched linear algebra, on any GPU and on the CPU, each result with a certificate.

>>> import fiedler
>>> path = [(0, 1), (1, 2)]
>>> encoding = fiedler.encode(fiedler.GraphBatch.from_edges(path), k=2)
>>> encoding.eigenvalues.round(5)
array([[0., 1.]], dtype=float32)

`encode` takes files and graphs of PyTorch Geometric, DGL, NetworkX, SciPy, igraph and rustworkx. `fiedler.linalg`,
`.fft`, `.stats` and `.random` have NumPy's names, `.features` computes representations of samples, and `.train` trains
many small networks at once. `fiedler.torch_geometric`, `.dgl` and `.sklearn` stand in for what these libraries compute
themselves, and `.networkx` is a backend of NetworkX. `fiedler.arrow` takes tables, of pyarrow, polars, DuckDB, pandas,
Spark and Dask, and `.ray` has actors. Nothing is opened or started before the first call.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import arrow, dgl, features, fft, linalg, networkx, random, ray, sklearn, stats, torch, torch_geometric, train
    from ._context import Context, doctor, explain, get_num_threads, set_num_threads, tune
    from ._encode import Encoding, GraphEncoding, encode
    from ._errors import (
        DeviceError,
        DeviceLostError,
        DomainError,
        Error,
        InternalError,
        LimitError,
        NoAdapterError,
        Notice,
        OutOfMemoryError,
        ParseError,
        ShapeError,
        UncertifiedError,
        UncertifiedWarning,
        UndefinedGradientError,
        UndefinedGradientWarning,
    )
    from ._fiedler import __version__
    from ._graphs import GraphBatch
    from ._structural import StructuralEncoding, structural

_MODULES = (
    "arrow",
    "dgl",
    "features",
    "fft",
    "linalg",
    "networkx",
    "random",
    "ray",
    "sklearn",
    "stats",
    "torch",
    "torch_geometric",
    "train",
)
_NAMES = {
    "_context": ("Context", "doctor", "explain", "get_num_threads", "set_num_threads", "tune"),
    "_encode": ("Encoding", "GraphEncoding", "encode"),
    "_errors": (
        "DeviceError",
        "DeviceLostError",
        "DomainError",
        "Error",
        "InternalError",
        "LimitError",
        "NoAdapterError",
        "Notice",
        "OutOfMemoryError",
        "ParseError",
        "ShapeError",
        "UncertifiedError",
        "UncertifiedWarning",
        "UndefinedGradientError",
        "UndefinedGradientWarning",
    ),
    "_graphs": ("GraphBatch",),
    "_structural": ("StructuralEncoding", "structural"),
    "_fiedler": ("__version__",),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "Context",
    "DeviceError",
    "DeviceLostError",
    "DomainError",
    "Encoding",
    "Error",
    "GraphBatch",
    "GraphEncoding",
    "InternalError",
    "LimitError",
    "NoAdapterError",
    "Notice",
    "OutOfMemoryError",
    "ParseError",
    "ShapeError",
    "StructuralEncoding",
    "UncertifiedError",
    "UncertifiedWarning",
    "UndefinedGradientError",
    "UndefinedGradientWarning",
    "arrow",
    "dgl",
    "doctor",
    "encode",
    "explain",
    "features",
    "fft",
    "get_num_threads",
    "linalg",
    "networkx",
    "random",
    "ray",
    "set_num_threads",
    "sklearn",
    "stats",
    "structural",
    "torch",
    "torch_geometric",
    "train",
    "tune",
]


def __getattr__(name: str) -> Any:
    """Imports a name when it is first used, so that the command starts without NumPy."""
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name in _HOME:
        value = globals()[name] = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
