"""The Laplacian encoding of DGL: `lap_pe` and the transform `LapPE`, with its signatures.

Replace the import and keep the rest of the program::

    from fiedler.dgl import LapPE, lap_pe

    g.ndata["PE"] = lap_pe(g, k=8, padding=True)

Differences from DGL: eigenvectors are canonical unless ``sign='random'``; they are computed to full precision, while
DGL stops at residuals of 1e-2 and may miss eigenvalues; the graph is taken as undirected; the graphs of a batched graph
are encoded one by one. Nothing of DGL is imported.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ._arguments import flag, text, text_or_none, whole, word
from ._arrays import as_numpy, like, on_cpu
from ._context import Context
from ._encode import encode
from ._errors import ShapeError
from ._graphs import GraphBatch

__all__ = ["LapPE", "lap_pe"]

Array = Any


def lap_pe(
    g: Any,
    k: int,
    padding: bool = False,
    return_eigval: bool = False,
    *,
    sign: str = "canonical",
    preset: str | None = None,
    symmetrize: str | None = None,
    device: str | None = None,
    context: Context | None = None,
) -> Any:
    """Computes k eigenvectors of the symmetric Laplacian of each graph, without the first one.

    Parameters
    ----------
    g : DGLGraph
        A graph, or a batched one.
    k : int
    padding : bool
        Whether a graph with k nodes or fewer gets eigenvectors of zeros and eigenvalues of NaN. Otherwise it is an
        error.
    return_eigval : bool
        Whether to return the eigenvalues too.
    sign : {'canonical', 'random'}
        With 'random', each eigenvector gets a sign from NumPy's global generator, as in DGL.
    preset, symmetrize, device, context
        As in `fiedler.encode`.

    Returns
    -------
    tensor, (nodes, k), float32
        And the eigenvalues, (k,), or (graphs, k) of a batched graph, if ``return_eigval``.
    """
    word(sign, "sign", "canonical", "random")
    k, padding = whole(k, "k"), flag(padding, "padding")
    return_eigval = flag(return_eigval, "return_eigval")
    if not getattr(g, "is_homogeneous", True):
        what = "one of several types of nodes or edges; use dgl.to_homogeneous() first"
        raise TypeError(f"g: expected a homogeneous graph, found {what}")
    source, target = g.edges()
    sizes, _ = as_numpy(on_cpu(g.batch_num_nodes()), "batch_num_nodes")
    least = int(sizes.min(initial=k + 1))
    if not padding and least <= k:
        raise ShapeError(f"k: expected less than the {least} nodes of the smallest graph without padding, found {k}")
    host = SimpleNamespace(edges=lambda: (on_cpu(source), on_cpu(target)), batch_num_nodes=lambda: sizes)
    graphs = GraphBatch.from_dgl(host, preset=preset, symmetrize=symmetrize)
    found = encode(graphs, k, trivial="first", device=device, context=context)
    vectors = found.eigenvectors
    if sign == "random":
        signs = np.where(np.random.rand(*found.mask.shape) > 0.5, 1, -1).astype(vectors.dtype)
        vectors = vectors * np.repeat(signs, np.diff(found.node_offsets), axis=0)
    made = like(vectors, source)
    if not return_eigval:
        return made
    return made, like(found.eigenvalues[0] if len(found) == 1 else found.eigenvalues, source)


class LapPE:
    """Adds `lap_pe` to the nodes of a graph, as ``dgl.transforms.LapPE`` does.

    Parameters
    ----------
    k : int
    feat_name : str
        The feature of nodes that gets the eigenvectors, (nodes, k).
    eigval_name : str, optional
        The feature of nodes that gets the eigenvalues of their graph, (nodes, k).
    padding : bool
    **options
        The options of `lap_pe`.
    """

    def __init__(
        self, k: int, feat_name: str = "PE", eigval_name: str | None = None, padding: bool = False, **options: Any
    ) -> None:
        self.k = whole(k, "k")
        self.feat_name = text(feat_name, "feat_name")
        self.eigval_name = text_or_none(eigval_name, "eigval_name")
        self.padding = flag(padding, "padding")
        self.options = options

    def __repr__(self) -> str:
        return f"LapPE(k={self.k}, feat_name={self.feat_name!r})"

    def __call__(self, g: Any) -> Any:
        vectors, values = lap_pe(g, self.k, self.padding, True, **self.options)
        g.ndata[self.feat_name] = vectors
        if self.eigval_name is not None:
            sizes, rows = (as_numpy(on_cpu(x), "values")[0] for x in (g.batch_num_nodes(), values))
            g.ndata[self.eigval_name] = like(np.repeat(rows.reshape((-1, self.k)), sizes, axis=0), vectors)
        return g
