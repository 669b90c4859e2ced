"""Differentiable spectra for PyTorch.

``fiedler.linalg.eigh``, ``eigvalsh``, ``svd``, ``svdvals`` and ``matmul`` take tensors that require a gradient. Where
eigenvalues are tied, their gradient is right for every loss that has one, and says so where a loss has none
(`docs/gradients.md`, `fiedler.linalg.gradients`). This module has what belongs to it: `matrix_function` computes
functions of matrices, such as heat kernels, and `SpectralEncoding` encodes graphs within a network.

>>> import torch
>>> from fiedler import linalg
>>> a = torch.eye(2, dtype=torch.float64, requires_grad=True)
>>> linalg.eigvalsh(a).sum().backward()
>>> torch.allclose(a.grad, torch.eye(2, dtype=torch.float64))
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from . import _gradients_graphs, _gradients_torch, linalg
from ._arguments import flag, whole, word
from ._context import Context
from ._errors import DomainError, ShapeError
from ._ties import current, place

__all__ = ["PrincipalComponents", "SpectralEncoding", "SpectralPairs", "matrix_function", "pca"]

_DENSE = 1000
"""The largest order of graphs whose Laplacians are decomposed as a whole; of others, k pairs are iterated."""


def matrix_function(
    a: Tensor, f: Callable[[Tensor], Tensor], *, device: str | None = None, context: Context | None = None
) -> Tensor:
    """Computes ``f(A) = V diag(f(l)) V'`` of symmetric matrices (..., n, n), of which the lower triangle is read.

    ``f`` is applied to the eigenvalues, element by element, and may depend on other tensors that require a gradient.
    The gradient is that of Daleckii and Krein: divided differences of f, which are its derivative where eigenvalues are
    tied. A heat kernel that is put together from eigenvalues and eigenvectors has no gradient there, because neither
    part alone has one. There is no second derivative, and ``torch.func`` does not transform it.

    >>> time = torch.tensor(0.5, requires_grad=True)
    >>> heat = matrix_function(torch.zeros(2, 2), lambda l: torch.exp(-time * l))
    >>> heat.diagonal()
    tensor([1., 1.], grad_fn=<DiagonalBackward0>)
    """
    a = _gradients_torch.checked(a, "a")
    linalg._square(a, "a")
    return _gradients_torch.function(a, f, place(device, context))


class PrincipalComponents(NamedTuple):
    """The result of `pca`."""

    scores: Tensor
    """(..., n, k), the rows in the basis of the components."""
    components: Tensor
    """(..., k, m), whose rows are orthonormal."""
    explained_variance: Tensor
    """(..., k), divided by n - 1, descending."""
    mean: Tensor
    """(..., m)."""


def pca(x: Tensor, k: int, *, device: str | None = None, context: Context | None = None) -> PrincipalComponents:
    """Computes the first k principal components of rows (..., n, m), differentiably.

    The signs of components are arbitrary, and so is the basis of those with equal variances. A loss that depends on them
    has no gradient; see `fiedler.linalg.gradients`.

    >>> found = pca(torch.tensor([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]), 1)
    >>> found.explained_variance
    tensor([2.])
    """
    x = _gradients_torch.wide(_gradients_torch.checked(x, "x"))
    if x.ndim < 2 or x.shape[-2] < 2:
        raise ShapeError(f"x: expected at least two rows, found the shape {tuple(x.shape)}")
    # The rows minus their mean have one dimension less.
    k, most = whole(k, "k", least=1), min(x.shape[-2] - 1, x.shape[-1])
    if k > most:
        raise ShapeError(f"k: expected at most {most} components, found {k}")
    mean = x.mean(-2)
    u, s, vh, *_ = _gradients_torch.svd(x - mean[..., None, :], place(device, context))
    variance = s[..., :k] ** 2 / (x.shape[-2] - 1)
    return PrincipalComponents(u[..., :k] * s[..., None, :k], vh[..., :k, :], variance, mean)


def _whole(x: Any, name: str) -> Tensor:
    """Returns a tensor of 64-bit integers."""
    x = torch.as_tensor(x)
    if x.is_floating_point() or x.is_complex() or x.dtype == torch.bool:
        if x.numel():
            raise TypeError(f"{name}: expected integers, found {x.dtype}")
    return x.long()


class SpectralPairs(NamedTuple):
    """The eigenpairs of graphs. A graph of fewer than k nodes has zeros in place of the pairs that it lacks."""

    eigenvectors: Tensor
    """(nodes, k). The entry of largest magnitude of each vector is positive."""
    eigenvalues: Tensor
    """(graphs, k), ascending."""
    groups: Tensor
    """(graphs, k), the tie group of each pair, counted from 0; -1 where there is no pair."""
    projectors: list[Tensor] | None
    """For each graph, the projectors (groups, n, n) onto the spaces of its tie groups."""


class SpectralEncoding(torch.nn.Module):
    """Encodes graphs by the smallest eigenpairs of their Laplacians, differentiably in the edge weights.

    The result is the input of networks that respect the symmetries of eigenvectors, such as SignNet (signs), SPE and
    BasisNet (bases of tied eigenvalues). A loss that depends on signs or on the basis of a tie group has no gradient;
    see `fiedler.linalg.gradients`. Graphs of up to 1,000 nodes are decomposed as a whole, in the precision of the
    weights, and so are larger ones of at most 4 k nodes, and all if projectors are wanted. Of the others, k pairs are
    iterated in float64 (`fiedler.linalg.eigsh`), which have first derivatives in the backward mode only.

    Parameters
    ----------
    k : int
        The number of pairs.
    laplacian : {'symmetric', 'combinatorial'}
    projectors : bool
        Whether to return the projectors of the tie groups, also.

    Examples
    --------
    >>> edges = torch.tensor([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]])
    >>> weight = torch.ones(6, requires_grad=True)
    >>> found = SpectralEncoding(3, laplacian="combinatorial")(edges, weight)
    >>> found.groups
    tensor([[0, 1, 1]])
    >>> found.eigenvalues.sum().backward()
    >>> weight.grad.round(decimals=5)
    tensor([1., 1., 1., 1., 1., 1.])
    """

    def __init__(
        self,
        k: int,
        *,
        laplacian: str = "symmetric",
        projectors: bool = False,
        device: str | None = None,
        context: Context | None = None,
    ) -> None:
        super().__init__()
        self.k = whole(k, "k", least=1)
        self.laplacian = word(laplacian, "laplacian", "symmetric", "combinatorial")
        self.projectors = flag(projectors, "projectors")
        self.device, self.context = device, context
        place(device, context)

    def extra_repr(self) -> str:
        return f"{self.k}, laplacian={self.laplacian!r}, projectors={self.projectors}"

    def forward(
        self,
        edge_index: Any,
        edge_weight: Any = None,
        batch: Any = None,
        num_nodes: int | None = None,
    ) -> SpectralPairs:
        """Computes the eigenpairs.

        Parameters
        ----------
        edge_index : tensor (2, edges)
            Both directions of each edge, as in PyTorch Geometric. Self-loops are left out, weights of duplicates are
            added, and weights of the two directions are averaged.
        edge_weight : tensor (edges,), optional
            Not negative; by default 1.
        batch : tensor (nodes,), optional
            The graph of each node, ascending from 0; by default there is one graph. Numbers that are left out are graphs
            without nodes.
        num_nodes : int, optional
            The number of nodes, if there is no ``batch``; by default the largest number in ``edge_index`` and 1.
        """
        edge_index = _whole(edge_index, "edge_index")
        if edge_index.ndim != 2 or edge_index.shape[0] != 2:
            raise ShapeError(f"edge_index: expected the shape (2, edges), found {tuple(edge_index.shape)}")
        edges = edge_index.shape[1]
        weight = torch.ones(edges) if edge_weight is None else _gradients_torch.checked(edge_weight, "edge_weight")
        weight = _gradients_torch.wide(weight)
        if weight.shape != (edges,):
            raise ShapeError(f"edge_weight: expected the shape ({edges},), found {tuple(weight.shape)}")
        bad = ~(weight.detach() >= 0) | weight.detach().isinf()
        if bad.any():
            found = weight[bad.nonzero()[0, 0]].item()
            raise DomainError(f"edge_weight: expected finite weights that are not negative, found {found}")
        if batch is None:
            least = int(edge_index.max()) + 1 if edges else 0
            batch = torch.zeros(least if num_nodes is None else whole(num_nodes, "num_nodes"), dtype=torch.long)
        batch = _whole(batch, "batch")
        if batch.ndim != 1 or num_nodes not in (None, len(batch)):
            what = "the graph of each node" if num_nodes is None else f"{num_nodes} nodes"
            raise ShapeError(f"batch: expected {what}, found the shape {tuple(batch.shape)}")
        if len(batch) and int(batch[0]) < 0:
            raise DomainError(f"batch: expected graphs from 0, found {int(batch[0])}")
        if edges and not 0 <= int(edge_index.min()) <= int(edge_index.max()) < len(batch):
            found = int(edge_index.min()) if int(edge_index.min()) < 0 else int(edge_index.max())
            raise DomainError(f"edge_index: expected nodes from 0 to {len(batch) - 1}, found {found}")
        if len(batch) and not bool((batch.diff() >= 0).all()):
            raise DomainError("batch: expected an ascending tensor, found one that is not")
        return self._encoded(edge_index, weight, batch)

    def _encoded(self, edge_index: Tensor, weight: Tensor, batch: Tensor) -> SpectralPairs:
        graphs = int(batch[-1]) + 1 if len(batch) else 0
        orders = torch.bincount(batch, minlength=graphs)
        if not torch.equal(*(batch.index_select(0, ends) for ends in edge_index)):
            raise DomainError("edge_index: expected edges within graphs, found one between two of them")
        where = place(self.device, self.context)
        source, target, entries = self._laplacians(edge_index, weight, len(batch))
        large = (orders > _DENSE) & (orders > 4 * self.k) & (not self.projectors)
        dense = torch.where(large, 0, orders)
        # The nodes' numbers in their graphs, and the place where the row of each begins.
        local = torch.arange(len(batch)) - (orders.cumsum(0) - orders)[batch]
        squares = dense * dense
        row = (squares.cumsum(0) - squares)[batch] + local * dense[batch]
        at, kept = row.index_select(0, source) + local.index_select(0, target), entries
        if large.any():
            is_dense = ~large[batch[source]]
            at, kept = at[is_dense], entries[is_dense]
        flat = entries.new_zeros(int(squares.sum())).index_add(0, at, kept)
        sizes = dense.tolist()
        k = max(self.k, *sizes) if self.projectors and sizes else self.k
        values, vectors, w = _gradients_graphs.eigh_ragged(flat, sizes, k, where)
        groups = self._groups(w, dense, k)
        projectors = self._projectors(vectors, groups, sizes) if self.projectors else None
        values, vectors, groups = values[:, : self.k], vectors[:, : self.k], groups[:, : self.k]
        if large.any():
            values, vectors, groups = self._with_large(
                (values, vectors, groups), (source, target, entries), (batch, orders, large), where
            )
        return SpectralPairs(vectors, values, groups, projectors)

    def _groups(self, w: Tensor, orders: Tensor, k: int) -> Tensor:
        """Returns the tie groups of the first k eigenvalues of each matrix, given all eigenvalues."""
        numbers = torch.from_numpy(~_gradients_graphs.ties(w, orders.tolist())).cumsum(0)
        pairs = torch.arange(k)
        exists = pairs < orders[:, None]
        at = torch.where(exists, (orders.cumsum(0) - orders)[:, None] + pairs, 0)
        found = numbers[at] if len(w) else torch.zeros_like(at)
        return torch.where(exists, found - found[:, :1], -1)

    def _projectors(self, vectors: Tensor, groups: Tensor, orders: list[int]) -> list[Tensor]:
        """Returns the projectors of each graph, given all eigenvectors and their tie groups."""
        projectors = []
        for n, own, numbers in zip(orders, vectors.split(orders), groups, strict=True):
            spans = numbers[:n].unique_consecutive(return_counts=True)[1].tolist()
            kept = own[:, :n].split(spans, 1) if n else ()
            projectors.append(torch.stack([x @ x.mT for x in kept]) if n else vectors.new_zeros((0, 0, 0)))
        return projectors

    def _with_large(self, pairs: Any, elements: Any, graphs: Any, where: str) -> tuple[Tensor, Tensor, Tensor]:
        """Returns the pairs of all graphs, given those of the graphs that are not large."""
        (values, vectors, groups), (source, target, entries), (batch, orders, large) = pairs, elements, graphs
        others = vectors.split(torch.where(large, 0, orders).tolist())
        parts, groups = list(others), groups.clone()
        for graph in large.nonzero()[:, 0].tolist():
            mine, begin = batch[source] == graph, int(orders[:graph].sum())
            n = int(orders[graph])
            found, rows, groups[graph] = self._iterated(source[mine] - begin, target[mine] - begin, entries[mine], n, where)
            values, parts[graph] = values.index_put((torch.tensor(graph),), found), rows.mT
        return values, torch.cat(parts), groups

    def _iterated(
        self, source: Tensor, target: Tensor, entries: Tensor, n: int, where: str
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Returns the eigenvalues of one large graph, its eigenvectors, which are rows, and their tie groups."""
        # The lower triangle, which is mirrored, because sums in another order are rounded differently.
        lower = source >= target
        keys, place = (source[lower] * n + target[lower]).unique(return_inverse=True)
        elements = entries.new_zeros(len(keys)).index_add(0, place, entries[lower])
        off = keys // n != keys % n
        keys, order = torch.cat([keys, (keys % n * n + keys // n)[off]]).sort()
        merged, rows = torch.cat([elements, elements[off]])[order], keys // n
        pattern = np.searchsorted(rows.numpy(), np.arange(n + 1)), (keys % n).numpy()
        options = {"k": self.k, "which": "smallest", "tolerance": None, "sigma": None, "seed": 0, "dense": False}
        values, vectors, residual, *_ = _gradients_graphs.eigsh(merged, pattern, options, where)
        # Eigenvalues are known up to their residuals, which are relative to the 1-norm.
        norm = merged.new_zeros(n).index_add(0, rows, merged.detach().abs()).max()
        tolerance = max(2 * float(residual.max()), torch.finfo(merged.dtype).eps, current.get()[0][1])
        apart = values.detach().diff() > norm * tolerance
        return values, vectors, torch.cat([torch.zeros(1, dtype=torch.long), apart.cumsum(0)])

    def _laplacians(self, edge_index: Tensor, weight: Tensor, nodes: int) -> tuple[Tensor, Tensor, Tensor]:
        """Returns the elements of all Laplacians, some of which are to be added: their rows, columns and values."""
        source, target = edge_index
        weight = torch.where(source == target, 0.0, weight / 2)
        degrees = weight.new_zeros(nodes).index_add(0, source, weight).index_add(0, target, weight)
        diagonal = degrees
        if self.laplacian == "symmetric":
            # An isolated node has a row of zeros.
            isolated = degrees == 0
            scale = torch.where(isolated, 0.0, torch.where(isolated, 1.0, degrees).rsqrt())
            diagonal = torch.where(isolated, 0.0, 1.0).to(weight.dtype)
            # `index_select` takes a third of the time of an index.
            weight = weight * scale.index_select(0, source) * scale.index_select(0, target)
        own = torch.arange(nodes)
        rows, columns = torch.cat([source, target, own]), torch.cat([target, source, own])
        return rows, columns, torch.cat([-weight, -weight, diagonal])


def encoded(
    edge_index: Any,
    edge_weight: Tensor,
    k: int,
    laplacian: str,
    precision: str,
    num_nodes: int | None,
    batch: Any,
    device: str | None,
    context: Context | None,
) -> Any:
    """Returns the encoding of an edge_index as `fiedler.encode` does, differentiably."""
    weight = edge_weight.double() if precision == "f64" else edge_weight
    return SpectralEncoding(k, laplacian=laplacian, device=device, context=context)(edge_index, weight, batch, num_nodes)
