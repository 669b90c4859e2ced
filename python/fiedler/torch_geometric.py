"""Transforms of PyTorch Geometric: the same names, signatures and attributes, and one call for a whole data set.

Replace the import and keep the rest of the program::

    from fiedler.torch_geometric import AddLaplacianEigenvectorPE, AddRandomWalkPE, encode_dataset

    dataset = TUDataset(root, "PROTEINS", pre_transform=AddLaplacianEigenvectorPE(k=8))  # a call for each graph
    dataset = encode_dataset(TUDataset(root, "PROTEINS"), AddLaplacianEigenvectorPE(k=8))  # one call, much faster

Differences from PyTorch Geometric: eigenvectors are canonical unless ``sign='random'``, so that they do not change from
call to call; the graph is taken as undirected; a graph with too few nodes gets columns of zeros; the graphs of a
``Batch`` are encoded one by one; the result is on the device of ``edge_index``. Import ``torch_geometric`` first if the
transforms have to be instances of its ``BaseTransform``.
"""

from __future__ import annotations

import copy
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arguments import flag, text_or_none, whole, word
from ._arrays import like, on_cpu
from ._context import Context
from ._encode import Encoding, encode
from ._errors import warn
from ._graphs import GraphBatch

__all__ = ["AddLaplacianEigenvectorPE", "AddRandomWalkPE", "encode_dataset"]

Array = Any

# What PyTorch Geometric passes on to ARPACK, which is not used here.
_ARPACK = ("v0", "ncv", "maxiter", "tol")


if TYPE_CHECKING or "torch_geometric" not in sys.modules:
    _Base = object
else:
    from torch_geometric.transforms import BaseTransform as _Base


class _Transform(_Base):
    """A transform that adds arrays of an encoding to the nodes of graphs."""

    attr_name: str | None
    preset: str | None
    symmetrize: str | None

    def _encoding(self, graphs: GraphBatch) -> Encoding:
        raise NotImplementedError

    def _features(self, encoding: Encoding) -> tuple[Array, Array | None]:
        """Returns the rows of all nodes, and the mask of each graph if it is asked for."""
        raise NotImplementedError

    def __call__(self, data: Any) -> Any:
        return self.forward(copy.copy(data))

    def forward(self, data: Any) -> Any:
        """Adds the attribute to the graph itself. A call of the transform leaves it as it is, and returns a copy."""
        graphs = GraphBatch.from_pyg(_host(data), preset=self.preset, symmetrize=self.symmetrize)
        _add(data, self.attr_name, data.edge_index, *self._features(self._encoding(graphs)))
        return data


class AddLaplacianEigenvectorPE(_Transform):
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

    def _encoding(self, graphs: GraphBatch) -> Encoding:
        return encode(graphs, self.k, trivial=self.trivial, device=self.device, context=self.context)

    def _features(self, encoding: Encoding) -> tuple[Array, Array | None]:
        vectors = encoding.eigenvectors
        if self.sign == "random":
            signs = _signs(encoding.mask.shape).astype(vectors.dtype)
            vectors = vectors * np.repeat(signs, np.diff(encoding.node_offsets), axis=0)
        return vectors, encoding.mask if self.mask else None


class AddRandomWalkPE(_Transform):
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

    def _encoding(self, graphs: GraphBatch) -> Encoding:
        return encode(graphs, 0, walk_steps=self.walk_length, device=self.device, context=self.context)

    def _features(self, encoding: Encoding) -> tuple[Array, Array | None]:
        return encoding.random_walk, None


def encode_dataset(dataset: Any, transform: Any) -> Any:
    """Applies a transform of this module to all graphs of a data set in one call.

    Parameters
    ----------
    dataset : InMemoryDataset or list of Data
        The storage of an ``InMemoryDataset`` gets the attribute. A list is left as it is.
    transform : AddLaplacianEigenvectorPE or AddRandomWalkPE

    Returns
    -------
    InMemoryDataset or list of Data
        The same data set, or a list of shallow copies.

    Examples
    --------
    >>> from types import SimpleNamespace as Data
    >>> edge = Data(edge_index=np.array([[0, 1], [1, 0]]), num_nodes=2, x=None)
    >>> two = encode_dataset([edge, edge], AddRandomWalkPE(walk_length=1))
    >>> two[1].random_walk_pe.shape, hasattr(edge, "random_walk_pe")
    ((2, 1), False)
    """
    if not isinstance(transform, _Transform):
        what = type(transform).__name__
        raise TypeError(f"transform: expected AddLaplacianEigenvectorPE or AddRandomWalkPE of fiedler, found {what}")
    how: dict[str, Any] = {"preset": transform.preset, "symmetrize": transform.symmetrize}
    if isinstance(dataset, (list, tuple)):
        made = [copy.copy(data) for data in dataset]
        encoding = transform._encoding(GraphBatch.from_pyg([_host(data) for data in made], **how))
        _share(made, transform, encoding)
        return made
    store = getattr(dataset, "_data", None)
    if store is None:
        raise TypeError(f"dataset: expected an InMemoryDataset or a list of Data, found {type(dataset).__name__}")
    if getattr(dataset, "_indices", None) is not None:
        raise ValueError("dataset: expected a whole data set, found a subset; use dataset.copy() first")
    slices = dataset.slices
    if slices is None:
        dataset._data = transform(store)
    else:
        encoding = transform._encoding(GraphBatch.from_pyg(dataset, **how))
        rows, mask = transform._features(encoding)
        offsets = encoding.node_offsets
        _add(store, transform.attr_name, store.edge_index, rows, mask)
        name = transform.attr_name or "x"
        ends = slices["edge_index"]
        slices[name] = like(offsets, ends)
        if mask is not None:
            slices[f"{name}_mask"] = like(np.arange(len(offsets), dtype=np.int64), ends)
    if getattr(dataset, "_data_list", None) is not None:
        dataset._data_list = None  # graphs that were taken apart before
    return dataset


def _share(graphs: list[Any], transform: _Transform, encoding: Encoding) -> None:
    """Adds its rows to every graph of a list, whose elements may be batches themselves."""
    rows, mask = transform._features(encoding)
    first = graph = 0
    for data in graphs:
        ptr = getattr(data, "ptr", None)
        count = 1 if ptr is None else len(ptr) - 1
        end = int(encoding.node_offsets[graph + count])
        own = None if mask is None else mask[graph : graph + count]
        _add(data, transform.attr_name, data.edge_index, rows[first:end], own)
        first, graph = end, graph + count


def _host(data: Any) -> Any:
    """Returns what the encoding reads of a graph, in the memory of the CPU."""
    if hasattr(data, "edge_types"):
        raise TypeError(f"data: expected a homogeneous graph, found {type(data).__name__}; use to_homogeneous() first")
    if getattr(data, "edge_index", None) is None:
        raise TypeError(f"data: expected a Data or a Batch with an edge_index, found {type(data).__name__} without one")
    names = ("edge_index", "edge_weight", "ptr")
    return SimpleNamespace(num_nodes=data.num_nodes, **{name: on_cpu(getattr(data, name, None)) for name in names})


def _add(data: Any, attr_name: str | None, place: Any, rows: Array, mask: Array | None) -> None:
    """Sets the attribute of a graph, or appends to its x, on the device of ``place``."""
    value = like(np.ascontiguousarray(rows), place)
    if attr_name is not None:
        setattr(data, attr_name, value)
        if mask is not None:
            setattr(data, f"{attr_name}_mask", like(mask, place))
        return
    x = getattr(data, "x", None)
    if x is None:
        data.x = value
        return
    if isinstance(x, np.ndarray):
        x = x[:, None] if x.ndim == 1 else x
        data.x = np.concatenate([x, value.astype(x.dtype)], axis=-1)
    else:
        x = x.view(-1, 1) if x.dim() == 1 else x
        data.x = sys.modules["torch"].cat([x, value.to(x.device, x.dtype)], dim=-1)


def _signs(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Draws signs from torch's generator, or from NumPy's if torch is not there."""
    torch = sys.modules.get("torch")
    drawn = np.random.randint(0, 2, shape) if torch is None else torch.randint(0, 2, shape).numpy()
    return np.asarray(drawn) * 2 - 1
