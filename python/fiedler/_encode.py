"""Laplacian encodings of graphs."""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from . import _fiedler
from ._arguments import flag, many, path as _path, real, text, whole, word, wrong
from ._arrays import is_tensor
from ._context import Context, _context
from ._errors import DomainError, OutOfMemoryError, UncertifiedError, UncertifiedWarning, warn
from ._files import whole_file
from ._as_graphs import as_graphs
from ._graphs import GraphBatch

Array = np.ndarray[Any, Any]

_NAMES = (
    "eigenvalues",
    "eigenvectors",
    "node_offsets",
    "residual",
    "orthogonality",
    "status",
    "components",
    "tie_group",
    "tie_cut",
    "mask",
    "random_walk",
)


class GraphEncoding(NamedTuple):
    """The encoding of one graph with n nodes."""

    eigenvalues: Array
    """(k,), NaN beyond the pairs of the graph."""
    eigenvectors: Array
    """(n, k), 0 beyond the pairs of the graph."""
    random_walk: Array | None
    """(n, walk_steps), or None."""
    status: int
    """0 converged, 1 not converged, 3 not resolved."""
    residual: float
    orthogonality: float
    components: int
    tie_group: Array
    mask: Array


class Encoding:
    """The encodings of a batch of graphs, in the arrays of the command's files.

    Attributes
    ----------
    eigenvalues : array, (graphs, k)
        Ascending; NaN beyond a graph's pairs.
    eigenvectors : array, (nodes, k)
        Columns have unit 2-norm in each graph; 0 beyond its pairs. Complex of a magnetic Laplacian.
    node_offsets : array of int64, (graphs + 1,)
        The first node of each graph, and the number of all nodes.
    residual, orthogonality : array of float32, (graphs,)
        What the pairs are off by.
    status : array of uint8, (graphs,)
        0 converged, 1 not converged, 3 not resolved.
    components : array of int64, (graphs,)
        The number of connected components.
    tie_group : array of int64, (graphs, k)
        Pairs of one group have the same eigenvalue, and the canonical basis of their space; -1 beyond a graph's pairs.
    tie_cut : array of uint8, (graphs,)
        1 if a group is not complete.
    mask : array of uint8, (graphs, k)
        1 where a pair exists.
    random_walk : array of float32, (nodes, walk_steps), or None
        The return probabilities of a random walk.
    node_ids : array, list or None
        The ids that a file gives to the nodes.
    report : dict
        Where it was computed, and why.
    """

    eigenvalues: Array
    eigenvectors: Array
    node_offsets: Array
    residual: Array
    orthogonality: Array
    status: Array
    components: Array
    tie_group: Array
    tie_cut: Array
    mask: Array
    random_walk: Array | None

    def __init__(self, arrays: dict[str, Array], node_ids: Any = None, report: dict[str, Any] | None = None) -> None:
        for name in _NAMES:
            setattr(self, name, arrays.get(name))
        self.node_ids = node_ids
        self.report = report or {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Encoding, (self.arrays(), self.node_ids, self.report)

    def __repr__(self) -> str:
        nodes, k = self.eigenvectors.shape
        bad = int(np.count_nonzero(self.status))
        return f"fiedler.Encoding of {many(len(self), 'graph')}, {many(nodes, 'node')}, {many(k, 'pair')}, {bad} not converged"

    def __len__(self) -> int:
        return len(self.status)

    def __iter__(self) -> Iterator[GraphEncoding]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, i: int) -> GraphEncoding:
        i = operator.index(i)
        if not -len(self) <= i < len(self):
            raise IndexError(f"expected a graph from 0 to {len(self) - 1}, found {i}")
        i %= len(self)
        rows = slice(self.node_offsets[i], self.node_offsets[i + 1])
        return GraphEncoding(
            self.eigenvalues[i],
            self.eigenvectors[rows],
            None if self.random_walk is None else self.random_walk[rows],
            int(self.status[i]),
            float(self.residual[i]),
            float(self.orthogonality[i]),
            int(self.components[i]),
            self.tie_group[i],
            self.mask[i],
        )

    def arrays(self) -> dict[str, Array]:
        """Returns the arrays by their names."""
        return {name: getattr(self, name) for name in _NAMES if getattr(self, name) is not None}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the arrays to a .npz file, which appears whole or not at all."""
        place = _path(path)
        if not place.endswith(".npz"):
            raise ValueError(f"path: expected a file that ends in .npz, found {place!r}")
        arrays = self.arrays()
        if self.node_ids is not None:
            arrays["node_ids"] = np.asarray(self.node_ids)
        whole_file(place, lambda file: np.savez(file, **arrays))  # type: ignore[arg-type]

    def raise_for_status(self) -> Encoding:
        """Raises `UncertifiedError`, whose ``encoding`` is this, unless every status is 0. Returns this encoding."""
        bad = np.flatnonzero(self.status)
        if bad.size:
            error = UncertifiedError(_uncertified(self))
            error.encoding = self
            raise error
        return self


def _uncertified(encoding: Encoding) -> str:
    bad = np.flatnonzero(encoding.status)
    words = {1: "not converged", 2: "a NaN or an infinity", 3: "not resolved by the working precision"}
    first = f"the first is graph {bad[0]}: {words.get(int(encoding.status[bad[0]]), 'not converged')}"
    return f"{bad.size} of {len(encoding)} graphs lack the status converged; {first}"


Tell = Callable[[int, int], object]


def _bar(progress: Any, total: int, unit: str = "graph") -> tuple[Tell | None, Callable[[], object]]:
    """Returns what is called with the progress, and what ends it."""
    if callable(progress):
        return progress, lambda: None
    if progress is not None and not isinstance(progress, (bool, np.bool_)):
        raise wrong("progress", "True, False, None or a function of the items that are done and of all", progress)
    if not progress:
        return None, lambda: None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None, lambda: None
    bar = tqdm(total=total, unit=unit, file=sys.stderr)

    def tell(done: int, _: int) -> None:
        bar.update(done - bar.n)

    return tell, bar.close


def encode(
    graphs: Any,
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
    weight: str | None = "auto",
    edge_weight: Any = None,
    num_nodes: int | None = None,
    batch: Any = None,
    sign: str | int = "canonical",
    cache: bool = True,
    resume: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[int, int], object] | None = None,
    on_uncertified: str = "warn",
    device: str | None = None,
    context: Context | None = None,
) -> Encoding:
    """Computes k eigenpairs of the Laplacian of every graph.

    Eigenvectors are canonical: the same graph has the same vectors on every machine, up to rounding, also where
    eigenvalues are repeated.

    Parameters
    ----------
    graphs
        A path; a Data, a Batch, a data set or a list of PyTorch Geometric; graphs of DGL, NetworkX, igraph or
        rustworkx; a scipy.sparse adjacency matrix; an edge_index (2, E); a list of such graphs; or a `GraphBatch`.
    k : int
        The number of pairs. If a graph has fewer, the others are masked.
    laplacian : {'symmetric', 'random-walk', 'combinatorial'}
    charge : float, optional
        Computes the magnetic Laplacian with this charge, from 0 to 0.5: the directions of edges become phases, and
        eigenvectors are complex (Zhang et al. 2021, Geisler et al. 2023). ``symmetrize`` is 'max' or 'mean'. A
        `GraphBatch` must have been made with ``flows=True``. It is computed on the CPU.
    which : {'smallest', 'largest'}
        The end of the spectrum.
    trivial : {'keep', 'components', 'first'}
        What happens to eigenvectors of the eigenvalue 0: nothing; one is left out for each connected component; or the
        first column is left out, whatever it is, as PyTorch Geometric and DGL do.
    walk_steps : int
        The number of steps of a random walk whose return probabilities are computed too.
    method : {'auto', 'exact', 'fast'}
        Dense decompositions, iterations on the sparse Laplacian, or whichever is expected to be faster.
    precision : {'f32', 'f64'}
        f64 is computed on the CPU alone.
    preset : {'scipy', 'networkx', 'pyg', 'dgl'}, optional
        Treat edges as this library does.
    symmetrize : {'max', 'sum', 'mean', 'keep', 'error'}, optional
        What happens to edges that are listed in one direction; 'max' by default, and the preset's own with one.
    signed : bool
        Whether weights may be negative. Degrees are then sums of their magnitudes, which makes every Laplacian the
        signed one (Kunegis et al. 2010), whose eigenvalue 0 occurs once for each balanced component.
    weight : str, optional
        The name of the weights of edges. By default it is that of the library: 'weight' in NetworkX and igraph,
        'edge_weight' in PyTorch Geometric, and the entries of a matrix. With None, every edge weighs 1. Parallel edges
        of a multigraph count once, with the largest weight, but entries of a matrix at one place are summed.
    edge_weight, num_nodes, batch
        For an edge_index, see `GraphBatch.from_edge_index`. If the weights are a tensor of torch, the result is a
        `fiedler.torch.SpectralPairs`, which is differentiable in them, as of `fiedler.torch.SpectralEncoding`:
        duplicates are added, the two directions of an edge are averaged, and the precision is that of the weights
        unless it is 'f64'. Of the other parameters, k, laplacian, num_nodes, batch, device and context count.
    sign : 'canonical' or int
        A seed from which each eigenvector is given a random sign, for augmentation.
    cache : bool
        Whether to look results up in the cache of the command, and to store them there.
    resume : path, optional
        A folder in which finished parts are stored, so that a call that was killed can go on.
    progress : bool or callable, optional
        True shows a bar of tqdm where it is installed; a callable is given the graphs that are done and their number,
        on this thread.
    on_uncertified : {'warn', 'raise', 'ignore'}
        What happens if some graphs lack the status converged.

    Examples
    --------
    >>> edge_index = np.array([[0, 1, 2, 3], [1, 2, 3, 0]])
    >>> encoding = fiedler.encode(edge_index, k=4, laplacian="combinatorial")
    >>> encoding[0].eigenvalues.round(5)
    array([0., 2., 2., 4.], dtype=float32)
    >>> encoding.tie_group
    array([[0, 1, 1, 2]])
    """
    word(trivial, "trivial", "keep", "components", "first")
    word(on_uncertified, "on_uncertified", "warn", "raise", "ignore")
    word(precision, "precision", "f32", "f64")
    if isinstance(sign, str) and sign != "canonical":
        raise ValueError(f"sign: expected 'canonical' or a seed, found {sign!r}")
    seed = None if isinstance(sign, str) else whole(sign, "sign")
    k, walk_steps = whole(k, "k", _MOST), whole(walk_steps, "walk_steps", _MOST)
    charge = None if charge is None else real(charge, "charge")
    how: dict[str, Any] = {"preset": preset, "symmetrize": symmetrize, "signed": signed, "flows": charge is not None}
    if edge_weight is not None:
        if is_tensor(edge_weight):
            given = {"which": which, "trivial": trivial, "walk_steps": walk_steps, "method": method, "preset": preset}
            given |= {"symmetrize": symmetrize, "signed": signed, "charge": charge}
            given |= {"sign": sign, "resume": resume, "weight": weight}
            defaults = ("smallest", "keep", 0, "auto", None, None, False, None, "canonical", None, "auto")
            for (name, value), default in zip(given.items(), defaults, strict=True):
                if value != default:
                    what = f"expected {name}={default!r} with a tensor of weights, found {value!r}"
                    raise DomainError(f"edge_weight: {what}")
            from .torch import encoded

            inputs = (graphs, edge_weight, k, laplacian, precision, num_nodes, batch, device, context)
            return encoded(*inputs)  # type: ignore[no-any-return]  # SpectralPairs
        graphs = GraphBatch.from_edge_index(graphs, num_nodes, weight=edge_weight, batch=batch, **how)
        num_nodes = batch = None
        how = {}
    listed: GraphBatch = as_graphs(graphs, weight=weight, num_nodes=num_nodes, batch=batch, **how)
    first = trivial == "first"
    _check_memory(listed, k + first + walk_steps)
    options = {
        "k": k + first,
        "laplacian": text(laplacian, "laplacian"),
        "charge": charge,
        "which": text(which, "which"),
        "drop_trivial": trivial == "components",
        "walk_steps": walk_steps,
        "method": text(method, "method"),
        "wide": precision == "f64",
        "cache": flag(cache, "cache"),
        "resume": None if resume is None else _path(resume, "resume"),
    }
    tell, close = _bar(progress, len(listed))
    try:
        arrays, report = _fiedler.encode(_context(context, device), listed._native, options, tell)
    finally:
        close()
    if first:
        for name in ("eigenvalues", "eigenvectors", "tie_group", "mask"):
            arrays[name] = np.ascontiguousarray(arrays[name][:, 1:])
    if seed is not None:
        _flip(arrays, seed)
    encoding = Encoding(arrays, listed.node_ids, report)
    if np.any(encoding.status) and on_uncertified != "ignore":
        if on_uncertified == "raise":
            encoding.raise_for_status()
        warn(_uncertified(encoding), UncertifiedWarning)
    return encoding


_MOST = 2**40


def _check_memory(graphs: GraphBatch, columns: int) -> None:
    """Refuses results of more than half the memory of the machine, before the system gives out."""
    if not hasattr(os, "sysconf"):
        return
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    needed = columns * (4 * graphs.num_nodes + 13 * len(graphs))
    if needed > memory:
        what = f"{needed} bytes for {columns} columns of {graphs.num_nodes} nodes"
        raise OutOfMemoryError(f"encode: expected results within {memory} bytes, half of the memory, found {what}")


def _flip(arrays: dict[str, Array], seed: int) -> None:
    """Gives each eigenvector of each graph a random sign."""
    graphs, k = arrays["mask"].shape
    signs = np.random.default_rng(seed).integers(0, 2, size=(graphs, k)) * 2 - 1
    sizes = np.diff(arrays["node_offsets"])
    vectors = arrays["eigenvectors"]
    vectors *= np.repeat(signs, sizes, axis=0).astype(vectors.dtype)
