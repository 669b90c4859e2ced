"""The native half of the package. Arrays are in C order and aligned; the functions of the package see to that."""

import os
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

_Array = np.ndarray[Any, Any]
_Path = str | os.PathLike[str]
_Capsule = Any
_How = tuple[str | None, str | None, bool, bool]
# Residual, orthogonality and status of each matrix.
_Certificates = tuple[_Array, _Array, _Array]

__all__ = [
    "__version__",
    "Context",
    "Graphs",
    "Stream",
    "Samples",
    "Table",
    "Trained",
    "Sampled",
    "Predictor",
    "main",
    "panic",
    "is_worker",
    "set_threads",
    "threads",
    "encode",
    "structural",
    "extract",
    "encode_table",
    "features_table",
    "eigh",
    "svd",
    "svd_truncated",
    "eigh_vjp",
    "svd_vjp",
    "eigh_ragged",
    "eigh_ragged_vjp",
    "eigsh_vjp",
    "matmul",
    "eigsh",
    "eigsh_laplacian",
    "eigsh_products",
    "transform",
    "real",
    "inverse_real",
    "trigonometric",
    "power_spectrum",
    "describe",
    "quantiles",
    "histogram",
    "cov",
    "divergence",
    "pca",
    "fit",
    "sample",
    "suspects",
    "no_inputs",
    "no_label",
    "write_tensors",
]

__version__: str

@final
class Context:
    def __new__(
        cls,
        device: str | None,
        adapter: str | None,
        threads: int | None,
        memory_budget: int | None,
        cache_dir: _Path | None,
        rates: str | None,
    ) -> Context: ...
    def rates(self, worker: bool) -> str: ...
    def described(self, worker: bool) -> tuple[str | None, int, int]: ...

@final
class Table:
    @property
    def column_names(self) -> list[str]: ...
    @property
    def notices(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> _Capsule: ...

def encode_table(context: Context, table: _Capsule, options: dict[str, Any], of_tables: dict[str, Any]) -> Table: ...
def features_table(
    context: Context, table: _Capsule, representations: str, layers: list[str], of_tables: dict[str, Any]
) -> Table: ...

@final
class Graphs:
    @staticmethod
    def of_table(
        table: _Capsule, columns: dict[str, str], how: _How
    ) -> Graphs: ...
    @staticmethod
    def of_edges(
        source: _Array,
        target: _Array,
        weights: _Array | None,
        node_offsets: _Array,
        how: _How,
        numbered: bool,
    ) -> Graphs: ...
    @staticmethod
    def read(
        path: _Path, how: _How, weight_column: int | None
    ) -> Graphs: ...
    @staticmethod
    def restored(
        node_offsets: _Array,
        row_offsets: _Array,
        columns: _Array,
        weights: _Array | None,
        flows: _Array | None,
        first: int,
        how: _How,
    ) -> Graphs: ...
    def __len__(self) -> int: ...
    def __reduce__(self) -> tuple[Callable[..., Graphs], tuple[Any, ...]]: ...
    @property
    def nodes(self) -> int: ...
    @property
    def node_ids(self) -> _Array | list[str] | None: ...
    @property
    def notices(self) -> list[str]: ...

@final
class Samples:
    @staticmethod
    def open(paths: Sequence[_Path], label: str | None, ignore: Sequence[str], take: Sequence[str]) -> Samples: ...
    @staticmethod
    def of_arrays(layers: Sequence[tuple[str, _Array, Sequence[int] | None]]) -> Samples: ...
    def __len__(self) -> int: ...
    @property
    def layers(self) -> list[str]: ...
    @property
    def labels(self) -> Any: ...
    @property
    def notes(self) -> tuple[list[str], list[str]]: ...
    @property
    def ids(self) -> list[str] | None: ...

@final
class Stream:
    def __new__(cls, seed: int, name: str) -> Stream: ...
    @property
    def position(self) -> int: ...
    def skip(self, words: int) -> None: ...
    def substream(self, number: int) -> Stream: ...
    def draw(
        self, context: Context, law: str, numbers: tuple[float, float], shape: Sequence[int], wide: bool
    ) -> _Array: ...

@final
class Trained:
    def __len__(self) -> int: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def best_run(self) -> int: ...
    @property
    def why(self) -> str: ...
    def runs(self) -> list[dict[str, Any]]: ...
    def weights(self, run: int) -> dict[str, _Array]: ...
    def save(self, path: _Path, classes: Sequence[str], inputs: Sequence[str]) -> None: ...
    def export(self, path: _Path, run: int) -> None: ...

@final
class Sampled:
    @property
    def betas(self) -> list[float]: ...
    def runs(self) -> list[dict[str, Any]]: ...
    def weights(self, run: int) -> dict[str, _Array]: ...
    def bounds(self, delta: float, rule: str, of_error: bool) -> list[list[float]]: ...

@final
class Predictor:
    @staticmethod
    def open(path: _Path) -> Predictor: ...
    def __len__(self) -> int: ...
    @property
    def classes(self) -> list[str]: ...
    @property
    def inputs(self) -> list[str]: ...
    @property
    def wide(self) -> bool: ...
    @property
    def good(self) -> tuple[list[int], int]: ...
    def predict(self, context: Context, x: _Array, runs: Sequence[int]) -> _Array: ...

def main(arguments: Sequence[_Path]) -> int: ...
def panic(context: Context) -> None: ...
def is_worker() -> bool: ...
def set_threads(count: int) -> None: ...
def threads(worker: bool) -> int: ...
def encode(
    context: Context, graphs: Graphs, options: dict[str, Any], progress: Callable[[int, int], object] | None
) -> tuple[dict[str, _Array], dict[str, Any]]: ...
def structural(
    context: Context, graphs: Graphs, options: dict[str, Any], progress: Callable[[int, int], object] | None
) -> dict[str, _Array]: ...
def extract(
    context: Context,
    samples: Samples,
    representations: str,
    layers: Sequence[str],
    cache: bool,
    progress: Callable[[int, int], object] | None,
) -> dict[str, Any]: ...
def fit(
    context: Context,
    x: _Array,
    labels: _Array | None,
    values: _Array | None,
    options: dict[str, Any],
    progress: Callable[[int, int], object] | None,
) -> Trained: ...
def sample(
    context: Context,
    x: _Array,
    labels: _Array | None,
    values: _Array | None,
    options: dict[str, Any],
    progress: Callable[[int, int], object] | None,
) -> Sampled: ...
def suspects(
    x: _Array,
    names: Sequence[str],
    labels: tuple[_Array, Sequence[str]] | None,
    values: _Array | None,
    pixels: bool,
) -> list[str]: ...
def no_inputs(names: Sequence[str], fields: Callable[[int], list[str]]) -> list[tuple[int, str]]: ...
def no_label(labels: Sequence[str]) -> tuple[int, str] | None: ...
def write_tensors(path: _Path, tensors: Sequence[tuple[str, _Array]]) -> None: ...
def eigh(
    context: Context, a: _Array, upper: bool, k: int | None, end: str, vectors: bool
) -> tuple[_Array, Any, _Certificates]: ...
def svd(
    context: Context, a: _Array, full: bool, vectors: bool
) -> tuple[Any, _Array, Any, _Certificates]: ...
def eigh_vjp(
    context: Context,
    values: _Array,
    rows: _Array,
    values_bar: _Array | None,
    rows_bar: _Array | None,
    mode: tuple[str, float],
) -> tuple[_Array, _Array, _Array, _Array]: ...
def svd_vjp(
    context: Context,
    u: _Array,
    s: _Array,
    vh: _Array,
    u_bar: _Array | None,
    s_bar: _Array | None,
    vh_bar: _Array | None,
    mode: tuple[str, float],
) -> tuple[_Array, _Array, _Array, _Array]: ...
def eigh_ragged(
    context: Context, elements: _Array, orders: list[int], k: int
) -> tuple[_Array, _Array, _Array, _Array, _Certificates]: ...
def eigh_ragged_vjp(
    context: Context,
    values: _Array,
    rows: _Array,
    orders: list[int],
    values_bar: _Array,
    rows_bar: _Array,
    mode: tuple[str, float],
) -> tuple[_Array, _Array, _Array, _Array]: ...
def eigsh_vjp(
    context: Context,
    matrix: tuple[_Array, _Array, _Array],
    end: str,
    pairs: tuple[_Array, _Array],
    bars: tuple[_Array | None, _Array | None],
    mode: tuple[str, float],
) -> tuple[tuple[_Array, _Array, _Array, _Array], float]: ...
def svd_truncated(
    context: Context, a: _Array, k: int, oversample: int, passes: int, seed: int
) -> tuple[_Array, _Array, _Array, _Array, _Certificates]: ...
def matmul(context: Context, a: _Array, b: _Array) -> _Array: ...
def eigsh(
    context: Context, row_offsets: _Array, columns: _Array, values: _Array, options: dict[str, Any]
) -> tuple[_Array, _Array, _Array, float, _Array, int]: ...
def eigsh_laplacian(
    context: Context, graphs: Graphs, laplacian: str, wide: bool, options: dict[str, Any]
) -> tuple[_Array, _Array, _Array, float, _Array, int]: ...
def eigsh_products(
    context: Context, n: int, product: Callable[[_Array], _Array], epsilon: float, options: dict[str, Any]
) -> tuple[_Array, _Array, _Array, float, _Array, int]: ...
def transform(context: Context, a: _Array, kind: str) -> _Array: ...
def real(context: Context, a: _Array) -> _Array: ...
def inverse_real(context: Context, a: _Array, n: int) -> _Array: ...
def trigonometric(
    context: Context, a: _Array, sine: bool, kind: int, scale: float, orthogonal: bool
) -> _Array: ...
def power_spectrum(
    context: Context, a: _Array, window: str, rate: float, edges: Sequence[float]
) -> tuple[_Array, _Array, _Array, _Array | None]: ...
def describe(context: Context, a: _Array, ddof: int, omit: bool) -> dict[str, _Array]: ...
def quantiles(context: Context, a: _Array, q: Sequence[float], omit: bool) -> _Array: ...
def histogram(
    context: Context, a: _Array, bins: int, range: tuple[float, float] | None
) -> tuple[_Array, _Array, _Array, _Array, _Array]: ...
def cov(context: Context, a: _Array, rowvar: bool, correlation: bool) -> _Array: ...
def divergence(
    context: Context, p: _Array, q: _Array | None, kind: str, options: tuple[float, bool, float]
) -> _Array: ...
def pca(context: Context, x: _Array, k: int, solver: str, seed: int) -> dict[str, Any]: ...
