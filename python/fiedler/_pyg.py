"""What the transforms of PyTorch Geometric share: their base, and the attributes that they add."""

from __future__ import annotations

import copy
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import like, on_cpu
from ._context import Context
from ._graphs import GraphBatch

Array = Any

if TYPE_CHECKING or "torch_geometric" not in sys.modules:
    _Base = object
else:
    from torch_geometric.transforms import BaseTransform as _Base


class Transform(_Base):
    """A transform that adds arrays of an encoding to graphs, their nodes or their edges."""

    attr_name: str | None
    preset: str | None
    symmetrize: str | None
    context: Context | None
    rows = "nodes"
    """What the first axis of the attribute counts: nodes, edges or graphs."""

    def _encoding(self, graphs: GraphBatch) -> Any:
        raise NotImplementedError

    def _features(self, encoding: Any) -> tuple[Array, Array | None]:
        """Returns the rows of all nodes, entries or graphs, and the mask of each graph if it is asked for."""
        raise NotImplementedError

    def __call__(self, data: Any) -> Any:
        return self.forward(copy.copy(data))

    def forward(self, data: Any) -> Any:
        """Adds the attribute to the graph itself. A call of the transform leaves it as it is, and returns a copy."""
        graphs = GraphBatch.from_pyg(host(data), preset=self.preset, symmetrize=self.symmetrize)
        encoding = self._encoding(graphs)
        rows, mask = self._features(encoding)
        if self.rows == "edges":
            rows = of_edges(encoding, rows, np.asarray(on_cpu(data.edge_index)))
        add(data, self.attr_name, data.edge_index, rows, mask)
        return data


def of_edges(encoding: Any, values: Array, edges: Array, firsts: Array | int = 0) -> Array:
    """Returns the value of each edge, (edges, 1), of the values of all entries. ``firsts`` are the first nodes of the
    graphs to which the edges belong, in which they are numbered. A self-loop that was dropped has 0."""
    nodes = int(encoding.node_offsets[-1])
    keys = encoding.edge_index[0] * nodes + encoding.edge_index[1]
    wanted = (edges[0] + firsts) * nodes + edges[1] + firsts
    place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    if not len(keys):
        return np.zeros((len(wanted), 1), dtype=values.dtype)
    return np.where(keys[place] == wanted, values[place], values.dtype.type(0))[:, None]


def host(data: Any) -> Any:
    """Returns what the encoding reads of a graph, in the memory of the CPU."""
    if hasattr(data, "edge_types"):
        raise TypeError(f"data: expected a homogeneous graph, found {type(data).__name__}; use to_homogeneous() first")
    if getattr(data, "edge_index", None) is None:
        raise TypeError(f"data: expected a Data or a Batch with an edge_index, found {type(data).__name__} without one")
    names = ("edge_index", "edge_weight", "ptr")
    return SimpleNamespace(num_nodes=data.num_nodes, **{name: on_cpu(getattr(data, name, None)) for name in names})


def add(data: Any, attr_name: str | None, place: Any, rows: Array, mask: Array | None) -> None:
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
