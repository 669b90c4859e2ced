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

import torch
from torch import Tensor

from . import _gradients_torch, linalg
from ._arguments import flag, whole, word
from ._context import Context
from ._errors import DomainError, ShapeError
from ._ties import current, place

__all__ = ["SpectralEncoding", "SpectralPairs", "matrix_function"]


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
    see `fiedler.linalg.gradients`.

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
        edge_index: Tensor,
        edge_weight: Tensor | None = None,
        batch: Tensor | None = None,
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
            The graph of each node, ascending; by default there is one graph.
        num_nodes : int, optional
            The number of nodes, if there is no ``batch``; by default the largest number in ``edge_index`` and 1.
        """
        if edge_index.ndim != 2 or edge_index.shape[0] != 2:
            raise ShapeError(f"edge_index: expected the shape (2, edges), found {tuple(edge_index.shape)}")
        edges = edge_index.shape[1]
        weight = torch.ones(edges) if edge_weight is None else _gradients_torch.wide(edge_weight)
        if weight.shape != (edges,):
            raise ShapeError(f"edge_weight: expected the shape ({edges},), found {tuple(weight.shape)}")
        bad = ~(weight.detach() >= 0) | weight.detach().isinf()
        if bad.any():
            found = weight[bad.nonzero()[0, 0]].item()
            raise DomainError(f"edge_weight: expected finite weights that are not negative, found {found}")
        if batch is None:
            least = int(edge_index.max()) + 1 if edges else 0
            batch = torch.zeros(least if num_nodes is None else num_nodes, dtype=torch.long)
        if edges and not 0 <= int(edge_index.min()) <= int(edge_index.max()) < len(batch):
            found = int(edge_index.min()) if int(edge_index.min()) < 0 else int(edge_index.max())
            raise DomainError(f"edge_index: expected nodes from 0 to {len(batch) - 1}, found {found}")
        if len(batch) and not bool((batch.diff() >= 0).all()):
            raise DomainError("batch: expected an ascending tensor, found one that is not")
        return self._encoded(edge_index, weight, batch)

    def _encoded(self, edge_index: Tensor, weight: Tensor, batch: Tensor) -> SpectralPairs:
        graphs = int(batch[-1]) + 1 if len(batch) else 0
        orders = torch.bincount(batch, minlength=graphs)
        own = batch[edge_index[0]]
        if not torch.equal(own, batch[edge_index[1]]):
            raise DomainError("edge_index: expected edges within graphs, found one between two of them")
        # The Laplacians are one after the other, by their orders, so that those of one order are one batch.
        sequence = orders.argsort(stable=True)
        sizes = orders[sequence]
        begins = torch.empty_like(orders)
        begins[sequence] = (sizes * sizes).cumsum(0) - sizes * sizes
        local = torch.arange(len(batch)) - (orders.cumsum(0) - orders)[batch]
        row = begins[batch] + local * orders[batch]
        flat = self._laplacians(edge_index, weight, row, local, int((sizes * sizes).sum()))
        distinct, counts = sizes.unique_consecutive(return_counts=True)
        parts = flat.split((counts * distinct * distinct).tolist())
        values, vectors, groups, projectors = [], [], [], []
        where = place(self.device, self.context)
        for part, n, count in zip(parts, distinct.tolist(), counts.tolist(), strict=True):
            w, rows, *_ = _gradients_torch.eigh(part.view(count, n, n), False, where)
            tied = _gradients_torch.formulas.groups(w, current.get()[0])[1] if n else w.long()
            if self.projectors:
                for own_rows, own_groups in zip(rows, tied, strict=True):
                    spans = own_groups.unique_consecutive(return_counts=True)[1].tolist()
                    kept = own_rows.split(spans) if n else ()
                    projectors.append(torch.stack([x.mT @ x for x in kept]) if n else rows.new_zeros((0, 0, 0)))
            rows, padding = rows[:, : self.k], (0, max(self.k - n, 0))
            if n:
                largest = rows.detach().gather(-1, rows.detach().abs().argmax(-1, keepdim=True))
                rows = torch.where(largest < 0, -rows, rows)
            values.append(torch.nn.functional.pad(w[:, : self.k], padding))
            vectors.append(torch.nn.functional.pad(rows.mT, padding).flatten(0, 1))
            groups.append(torch.nn.functional.pad(tied[:, : self.k], padding, value=-1))
        # Back from the sequence of the orders to that of the graphs.
        back = torch.empty_like(sequence)
        back[sequence] = torch.arange(graphs)
        nodes = (sizes.cumsum(0) - sizes)[back][batch] + local
        empty = weight.new_zeros((0, self.k))
        ordered = [projectors[i] for i in back.tolist()] if self.projectors else None
        return SpectralPairs(
            torch.cat(vectors)[nodes] if vectors else empty,
            torch.cat(values)[back] if values else empty,
            torch.cat(groups)[back] if groups else empty.long(),
            ordered,
        )

    def _laplacians(self, edge_index: Tensor, weight: Tensor, row: Tensor, local: Tensor, length: int) -> Tensor:
        """Returns the elements of all Laplacians, given where the row of each node begins, and its place in a row."""
        weight = torch.where(edge_index[0] == edge_index[1], 0.0, weight / 2)
        source, target = torch.cat([edge_index, edge_index.flip(0)], 1)
        weight = weight.repeat(2)
        degrees = weight.new_zeros(len(row)).index_add(0, source, weight)
        diagonal = degrees
        if self.laplacian == "symmetric":
            # An isolated node has a row of zeros.
            isolated = degrees == 0
            scale = torch.where(isolated, 0.0, torch.where(isolated, 1.0, degrees).rsqrt())
            diagonal = torch.where(isolated, 0.0, 1.0).to(weight.dtype)
            weight = weight * scale[source] * scale[target]
        at = torch.cat([row[source] + local[target], row + local])
        return weight.new_zeros(length).index_add(0, at, torch.cat([-weight, diagonal]))
