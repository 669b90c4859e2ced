"""Transforms of PyTorch Geometric: the same names, signatures and attributes, and one call for a whole data set.

Replace the import and keep the rest of the program::

    from fiedler.torch_geometric import AddLaplacianEigenvectorPE, AddRandomWalkPE, encode_dataset

    dataset = TUDataset(root, "PROTEINS", pre_transform=AddLaplacianEigenvectorPE(k=8))  # a call for each graph
    dataset = encode_dataset(TUDataset(root, "PROTEINS"), AddLaplacianEigenvectorPE(k=8))  # one call, much faster

The other transforms add what GraphGPS and its successors compute beside these two. `encode_dataset` takes several at
once, and the structural ones among them share their decompositions.

Differences from PyTorch Geometric: eigenvectors are canonical unless ``sign='random'``, so that they do not change from
call to call; the graph is taken as undirected; a graph with too few nodes gets columns of zeros; the graphs of a
``Batch`` are encoded one by one; the result is on the device of ``edge_index``. Import ``torch_geometric`` first if the
transforms have to be instances of its ``BaseTransform``.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ._arguments import flag, text_or_none, whole, word
from ._arrays import like, on_cpu
from ._context import Context
from ._encode import encode
from ._errors import warn
from ._graphs import GraphBatch
from ._pyg import Array, Transform, add, host, of_edges
from ._pyg_structural import (
    AddEffectiveResistance,
    AddElectrostaticPE,
    AddHeatKernelPE,
    AddPageRankPE,
    AddSpectralInvariants,
    AddWaveKernelPE,
    Structural,
)
from ._structural import structural

__all__ = [
    "AddEffectiveResistance",
    "AddElectrostaticPE",
    "AddHeatKernelPE",
    "AddLaplacianEigenvectorPE",
    "AddPageRankPE",
    "AddRandomWalkPE",
    "AddSpectralInvariants",
    "AddWaveKernelPE",
    "encode_dataset",
]

# What PyTorch Geometric passes on to ARPACK, which is not used here.
_ARPACK = ("v0", "ncv", "maxiter", "tol")


class AddLaplacianEigenvectorPE(Transform):
    """Adds the first k eigenvectors of the symmetric Laplacian beyond the first one to each node.

    Parameters
    ----------
    k : int
        The number of eigenvectors, without the first one, which is left out whatever it is.
    attr_name : str, optional
        The attribute that gets them, (nodes, k). With None, they are appended to ``x``.
    is_undirected : bool
        Accepted for the sake of the signature: the Laplacian is that of the undirected graph in any case.
    trivial : {'first', 'components', 'keep'}
        Leave out the first eigenvector, one for each connected component, or none.
    sign : {'canonical', 'random'}
        With 'random', each eigenvector of each graph gets a sign from torch's generator at every call.
    mask : bool
        Also add ``attr_name + '_mask'``, (graphs, k), which is 1 where an eigenvector exists.
    preset, symmetrize, device, context
        As in `fiedler.encode`.
    **kwargs
        ``v0``, ``ncv``, ``maxiter`` and ``tol`` of ARPACK are ignored, with a warning.

    Examples
    --------
    >>> from types import SimpleNamespace as Data
    >>> ring = Data(edge_index=np.array([[0, 1, 2, 3], [1, 2, 3, 0]]), num_nodes=4, x=None)
    >>> AddLaplacianEigenvectorPE(k=2)(ring).laplacian_eigenvector_pe.shape
    (4, 2)
    """

    def __init__(
        self,
        k: int,
        attr_name: str | None = "laplacian_eigenvector_pe",
        is_undirected: bool = False,
        *,
        trivial: str = "first",
        sign: str = "canonical",
        mask: bool = False,
        preset: str | None = None,
        symmetrize: str | None = None,
        device: str | None = None,
        context: Context | None = None,
        **kwargs: Any,
    ) -> None:
        unknown = sorted(kwargs.keys() - set(_ARPACK))
        if unknown:
            known = ", ".join(_ARPACK)
            raise TypeError(f"expected the options of this transform, or {known} of ARPACK, found {unknown}")
        if kwargs:
            warn(f"{', '.join(sorted(kwargs))}: ignored, because ARPACK is not used")
        word(sign, "sign", "canonical", "random")
        word(trivial, "trivial", "first", "components", "keep")
        k, attr_name, mask = whole(k, "k"), text_or_none(attr_name, "attr_name"), flag(mask, "mask")
        if mask and attr_name is None:
            raise ValueError("mask: expected an attr_name, from which the name of the mask is made, found None")
        self.k = k
        self.attr_name = attr_name
        self.is_undirected = is_undirected
        self.trivial = trivial
        self.sign = sign
        self.mask = mask
        self.preset = preset
        self.symmetrize = symmetrize
        self.device = device
        self.context = context

    def __repr__(self) -> str:
        return f"{type(self).__name__}(k={self.k}, attr_name={self.attr_name!r})"

    def _encoding(self, graphs: GraphBatch) -> Any:
        return encode(graphs, self.k, trivial=self.trivial, device=self.device, context=self.context)

    def _features(self, encoding: Any) -> tuple[Array, Array | None]:
        vectors = encoding.eigenvectors
        if self.sign == "random":
            signs = _signs(encoding.mask.shape).astype(vectors.dtype)
            vectors = vectors * np.repeat(signs, np.diff(encoding.node_offsets), axis=0)
        return vectors, encoding.mask if self.mask else None


class AddRandomWalkPE(Transform):
    """Adds the probabilities that a random walk is back after 1 to ``walk_length`` steps to each node.

    Parameters
    ----------
    walk_length : int
        The number of steps.
    attr_name : str, optional
        The attribute that gets them, (nodes, walk_length). With None, they are appended to ``x``.
    preset, symmetrize, device, context
        As in `fiedler.encode`. Weights of edges count, and the graph is taken as undirected.

    Examples
    --------
    >>> from types import SimpleNamespace as Data
    >>> edge = Data(edge_index=np.array([[0, 1], [1, 0]]), num_nodes=2, x=None)
    >>> AddRandomWalkPE(walk_length=2)(edge).random_walk_pe
    array([[0., 1.],
           [0., 1.]], dtype=float32)
    """

    def __init__(
        self,
        walk_length: int,
        attr_name: str | None = "random_walk_pe",
        *,
        preset: str | None = None,
        symmetrize: str | None = None,
        device: str | None = None,
        context: Context | None = None,
    ) -> None:
        walk_length, attr_name = whole(walk_length, "walk_length", least=1), text_or_none(attr_name, "attr_name")
        self.walk_length = walk_length
        self.attr_name = attr_name
        self.preset = preset
        self.symmetrize = symmetrize
        self.device = device
        self.context = context

    def __repr__(self) -> str:
        return f"{type(self).__name__}(walk_length={self.walk_length}, attr_name={self.attr_name!r})"

    def _encoding(self, graphs: GraphBatch) -> Any:
        return encode(graphs, 0, walk_steps=self.walk_length, device=self.device, context=self.context)

    def _features(self, encoding: Any) -> tuple[Array, Array | None]:
        return encoding.random_walk, None


def encode_dataset(dataset: Any, transform: Any) -> Any:
    """Applies transforms of this module to all graphs of a data set, each in one call.

    Parameters
    ----------
    dataset : InMemoryDataset or list of Data
        The storage of an ``InMemoryDataset`` gets the attributes. A list is left as it is.
    transform : transform of this module, or list of them
        Structural encodings that are asked for together share their decompositions.

    Returns
    -------
    InMemoryDataset or list of Data
        The same data set, or a list of shallow copies.

    Examples
    --------
    >>> from types import SimpleNamespace as Data
    >>> edge = Data(edge_index=np.array([[0, 1], [1, 0]]), num_nodes=2, x=None)
    >>> two = encode_dataset([edge, edge], [AddRandomWalkPE(walk_length=1), AddElectrostaticPE()])
    >>> two[1].random_walk_pe.shape, two[1].electrostatic_pe.shape, hasattr(edge, "random_walk_pe")
    ((2, 1), (2, 10), False)
    """
    transforms = list(transform) if isinstance(transform, (list, tuple)) else [transform]
    for one in transforms:
        if not isinstance(one, Transform):
            what = f"expected transforms of fiedler.torch_geometric, found {type(one).__name__}"
            raise TypeError(f"transform: {what}")
    if isinstance(dataset, (list, tuple)):
        made = [copy.copy(data) for data in dataset]
        hosts = [host(data) for data in made]
        for one, encoding in _encodings(hosts, transforms):
            _share(made, one, encoding)
        return made
    store = getattr(dataset, "_data", None)
    if store is None:
        raise TypeError(f"dataset: expected an InMemoryDataset or a list of Data, found {type(dataset).__name__}")
    if getattr(dataset, "_indices", None) is not None:
        raise ValueError("dataset: expected a whole data set, found a subset; use dataset.copy() first")
    slices = dataset.slices
    if slices is None:
        for one in transforms:
            dataset._data = store = one(store)
    else:
        ends = slices["edge_index"]
        for one, encoding in _encodings(dataset, transforms):
            rows, mask = one._features(encoding)
            graphs = np.arange(len(encoding.node_offsets), dtype=np.int64)
            offsets = encoding.node_offsets if one.rows == "nodes" else graphs
            if one.rows == "edges":
                offsets = np.asarray(on_cpu(ends))
                firsts = np.repeat(encoding.node_offsets[:-1], np.diff(offsets))
                rows = of_edges(encoding, rows, np.asarray(on_cpu(store.edge_index)), firsts)
            add(store, one.attr_name, store.edge_index, rows, mask)
            name = one.attr_name or "x"
            slices[name] = like(offsets, ends)
            if mask is not None:
                slices[f"{name}_mask"] = like(graphs, ends)
    if getattr(dataset, "_data_list", None) is not None:
        dataset._data_list = None  # graphs that were taken apart before
    return dataset


def _encodings(data: Any, transforms: list[Transform]) -> Iterator[tuple[Transform, Any]]:
    """Computes the encoding of each transform. Structural ones share a call unless they want one array in two ways."""
    graphs: dict[Any, GraphBatch] = {}
    shared: list[tuple[list[Structural], dict[str, Any]]] = []

    def listed(one: Transform) -> GraphBatch:
        how = (one.preset, one.symmetrize)
        if how not in graphs:
            graphs[how] = GraphBatch.from_pyg(data, preset=one.preset, symmetrize=one.symmetrize)
        return graphs[how]

    def fits(one: Structural, members: list[Structural], options: dict[str, Any]) -> bool:
        first = members[0]
        like_first = (one.preset, one.symmetrize, one.context) == (first.preset, first.symmetrize, first.context)
        return like_first and all(options.get(name, value) == value for name, value in one.options.items())

    for one in transforms:
        if not isinstance(one, Structural):
            yield one, one._encoding(listed(one))
            continue
        for members, options in shared:
            if fits(one, members, options):
                members.append(one)
                options.update(one.options)
                break
        else:
            shared.append(([one], dict(one.options)))
    for members, options in shared:
        encoding = structural(listed(members[0]), context=members[0].context, **options)
        for one in members:
            yield one, encoding


def _share(graphs: list[Any], transform: Transform, encoding: Any) -> None:
    """Adds its rows to every graph of a list, whose elements may be batches themselves."""
    rows, mask = transform._features(encoding)
    first = graph = 0
    for data in graphs:
        ptr = getattr(data, "ptr", None)
        count = 1 if ptr is None else len(ptr) - 1
        end = int(encoding.node_offsets[graph + count])
        own = None if mask is None else mask[graph : graph + count]
        if transform.rows == "nodes":
            taken = rows[first:end]
        elif transform.rows == "graphs":
            taken = rows[graph : graph + count]
        else:
            taken = of_edges(encoding, rows, np.asarray(on_cpu(data.edge_index)), first)
        add(data, transform.attr_name, data.edge_index, taken, own)
        first, graph = end, graph + count


def _signs(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Draws signs from torch's generator, or from NumPy's if torch is not there."""
    torch = sys.modules.get("torch")
    drawn = np.random.randint(0, 2, shape) if torch is None else torch.randint(0, 2, shape).numpy()
    return np.asarray(drawn) * 2 - 1
