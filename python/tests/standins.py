"""As much of torch, PyTorch Geometric and DGL as their users' objects show to this package."""

from __future__ import annotations

import copy
import types

import numpy as np


class Tensor:
    """A tensor over a NumPy array. Its device is a name; all of them are in the memory of the CPU."""

    __module__ = "torch"

    def __init__(self, array, device="cpu", requires_grad=False):
        self.array, self.device, self.requires_grad = np.asarray(array), device, requires_grad

    shape = property(lambda self: self.array.shape)
    dtype = property(lambda self: f"torch.{self.array.dtype}")

    def __len__(self):
        return len(self.array)

    def __getitem__(self, item):
        return Tensor(self.array[item], self.device)

    def __dlpack_device__(self):
        return (1 if self.device == "cpu" else 2, 0)

    def __dlpack__(self, **options):
        assert self.device == "cpu"
        return self.array.__dlpack__(**options)

    def __array__(self, dtype=None, copy=None):
        if self.device != "cpu":
            raise TypeError("can't convert cuda:0 device type tensor to numpy")
        return np.array(self.array, dtype=dtype, copy=copy)

    def detach(self):
        return Tensor(self.array, self.device)

    def cpu(self):
        return Tensor(self.array)

    def numpy(self):
        assert self.device == "cpu"
        return self.array

    def to(self, device, dtype=None):
        kind = None if dtype is None else np.dtype(str(dtype).removeprefix("torch."))
        return Tensor(self.array if kind is None else self.array.astype(kind), device)

    def dim(self):
        return self.array.ndim

    def view(self, *shape):
        return Tensor(self.array.reshape(shape), self.device)


def torch():
    """A module that can take the place of torch in sys.modules."""
    made = types.ModuleType("torch")
    made.Tensor = Tensor
    made.drawn = np.random.default_rng(0)
    made.from_numpy = Tensor

    def cat(tensors, dim=0):
        return Tensor(np.concatenate([tensor.array for tensor in tensors], axis=dim), tensors[0].device)

    def randint(low, high, shape):
        return Tensor(made.drawn.integers(low, high, shape))

    made.cat, made.randint = cat, randint
    made.manual_seed = lambda seed: setattr(made, "drawn", np.random.default_rng(seed))
    return made


class Data:
    """A graph of PyTorch Geometric, whose attributes are made of ``wrap``."""

    def __init__(self, edge_index, num_nodes=None, x=None, **more):
        self.edge_index, self.x = edge_index, x
        self._num_nodes = num_nodes
        for name, value in more.items():
            setattr(self, name, value)

    @property
    def num_nodes(self):
        if self._num_nodes is not None:
            return self._num_nodes
        return len(self.x) if self.x is not None else int(np.asarray(self.edge_index).max()) + 1


def data(n, edges, wrap=np.asarray, **more):
    """A graph with both directions of every edge, as PyTorch Geometric stores it."""
    both = np.concatenate([edges, edges[:, ::-1]])
    order = np.lexsort((both[:, 1], both[:, 0]))
    return Data(wrap(np.ascontiguousarray(both[order].T)), n, **more)


def joined(graphs, wrap=np.asarray):
    """A ``Batch``."""
    offsets = np.concatenate([[0], np.cumsum([graph.num_nodes for graph in graphs])])
    index = np.concatenate([np.asarray(graph.edge_index) + first for graph, first in zip(graphs, offsets)], axis=1)
    made = Data(wrap(index), int(offsets[-1]), ptr=wrap(offsets))
    made.batch = wrap(np.repeat(np.arange(len(graphs)), np.diff(offsets)))
    return made


class DataSet:
    """An ``InMemoryDataset``: its graphs stand in one storage, one after the other."""

    def __init__(self, graphs, wrap=np.asarray):
        index = [np.asarray(graph.edge_index) for graph in graphs]
        self.slices = {"edge_index": wrap(np.concatenate([[0], np.cumsum([part.shape[1] for part in index])]))}
        self._data = Data(wrap(np.concatenate(index, axis=1)), [graph.num_nodes for graph in graphs])
        if graphs[0].x is not None:
            self._data = Data(self._data.edge_index, x=wrap(np.concatenate([np.asarray(graph.x) for graph in graphs])))
            self.slices["x"] = wrap(np.concatenate([[0], np.cumsum([graph.num_nodes for graph in graphs])]))
        self._indices = None
        self._data_list = list(graphs)

    def __getattr__(self, name):
        # The real one joins all graphs to answer this.
        assert name not in vars(self.__dict__.get("_data", self)), name
        raise AttributeError(name)

    def __len__(self):
        return len(self.slices["edge_index"]) - 1 if self._indices is None else len(self._indices)

    def __getitem__(self, i):
        i = range(len(self.slices["edge_index"]) - 1)[i] if self._indices is None else self._indices[i]
        ends = np.asarray(self.slices["edge_index"])
        nodes = self._data._num_nodes[i] if self._data._num_nodes is not None else None
        made = Data(self._data.edge_index[:, ends[i] : ends[i + 1]], nodes)
        for name in self.slices.keys() - {"edge_index"}:
            own = np.asarray(self.slices[name])
            setattr(made, name, getattr(self._data, name)[own[i] : own[i + 1]])
        return made

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def subset(self, indices):
        made = copy.copy(self)
        made._indices = indices
        return made


class DGLGraph:
    """A graph of DGL, or a batched one."""

    def __init__(self, source, target, sizes, wrap=np.asarray):
        self._edges = (wrap(np.asarray(source)), wrap(np.asarray(target)))
        self._sizes = wrap(np.asarray(sizes))
        self.ndata, self.edata = {}, {}

    def edges(self):
        return self._edges

    def num_nodes(self):
        return int(np.asarray(self._sizes).sum())

    def batch_num_nodes(self):
        return self._sizes


def dgl_graph(graphs, wrap=np.asarray):
    """A batched graph of DGL from graphs of PyTorch Geometric."""
    together = joined(graphs)
    sizes = [graph.num_nodes for graph in graphs]
    return DGLGraph(together.edge_index[0], together.edge_index[1], sizes, wrap)
