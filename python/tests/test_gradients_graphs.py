"""Gradients with respect to edge weights, of many graphs and of large ones, where torch is installed."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import fiedler
from fiedler import linalg

torch = pytest.importorskip("torch")
import fiedler.torch  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def graphs(orders, seed=0):
    """Rings with chords and weights: the edges in both directions, the weights, and the graph of each node."""
    rng, edges, begin = np.random.default_rng(seed), [], 0
    for n in orders:
        pairs = {(i, (i + 1) % n) for i in range(n) if n > 2} | {(i, (3 * i + 1) % n) for i in range(n) if n > 5}
        edges += [(begin + i, begin + j) for i, j in sorted(pairs) if i != j]
        begin += n
    edges = np.array(edges, np.int64).reshape(-1, 2).T
    both = torch.from_numpy(np.concatenate([edges, edges[::-1]], 1))
    weight = torch.from_numpy(rng.uniform(0.5, 1.5, edges.shape[1]))
    return both, torch.cat([weight, weight]), torch.from_numpy(np.repeat(np.arange(len(orders)), orders))


def of(encoder, *inputs):
    """What does not depend on the signs of eigenvectors."""
    found = encoder(*inputs)
    return found.eigenvalues, found.eigenvectors**2


@pytest.mark.parametrize("laplacian", ["symmetric", "combinatorial"])
def test_unequal_orders_by_differences(laplacian):
    edges, weight, batch = graphs([5, 1, 4, 5, 7])
    encoder = fiedler.torch.SpectralEncoding(4, laplacian=laplacian)
    call = lambda w: of(encoder, edges, w, batch)  # noqa: E731
    weight.requires_grad_()
    assert torch.autograd.gradcheck(call, (weight,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(call, (weight,))


def test_each_graph_alone():
    """In a batch with empty graphs, graphs without edges and fewer nodes than pairs."""
    orders = [3, 0, 6, 2, 30, 1, 6, 0]
    edges, weight, batch = graphs(orders)
    encoder = fiedler.torch.SpectralEncoding(5)
    with torch.no_grad():
        together = encoder(edges, weight, batch)
    assert together.eigenvectors.shape == (48, 5) and together.eigenvalues.shape == (7, 5)
    assert together.groups[1].tolist() == [-1] * 5 and together.groups[3].tolist() == [0, 0, -1, -1, -1]
    begin = 0
    for graph, n in enumerate(orders):
        if n == 0:
            continue
        own = batch[edges[0]] == graph
        alone = encoder(edges[:, own] - begin, weight[own], None, n)
        torch.testing.assert_close(together.eigenvalues[graph], alone.eigenvalues[0])
        torch.testing.assert_close(together.eigenvectors[begin : begin + n] ** 2, alone.eigenvectors**2)
        assert torch.equal(together.groups[graph], alone.groups[0])
        begin += n


@pytest.mark.parametrize("laplacian", ["symmetric", "combinatorial"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_large_graphs_as_small_ones(monkeypatch, laplacian, dtype):
    """Iterated pairs have the gradient of whole decompositions, also between graphs that are not large."""
    edges, weight, batch = graphs([6, 70, 4, 90])
    encoder = fiedler.torch.SpectralEncoding(4, laplacian=laplacian)
    scale = torch.linspace(1, 2, 170)[:, None].to(dtype)
    made = []
    for most in (1000, 50):
        monkeypatch.setattr(fiedler.torch, "_DENSE", most)
        w = weight.to(dtype).requires_grad_()
        found = encoder(edges, w, batch)
        loss = (found.eigenvalues**2).sum() + (found.eigenvectors**4 * scale).sum()
        made.append((found, torch.autograd.grad(loss, w)[0]))
    (dense, wanted), (iterated, gradient) = made
    accuracy = 1e-8 if dtype == torch.float64 else 1e-3
    assert torch.equal(dense.groups, iterated.groups)
    torch.testing.assert_close(iterated.eigenvalues, dense.eigenvalues, rtol=accuracy, atol=accuracy)
    torch.testing.assert_close(iterated.eigenvectors.abs(), dense.eigenvectors.abs(), rtol=0, atol=accuracy)
    assert (gradient - wanted).abs().max() <= accuracy * wanted.abs().max()


def test_a_large_ring():
    """Its eigenvalues are 0 and pairs, so that 4 pairs cut a tie group, and 5 do not."""
    n = 1500
    nodes = torch.arange(n)
    edges = torch.stack([torch.cat([nodes, (nodes + 1) % n]), torch.cat([(nodes + 1) % n, nodes])])
    weight = torch.ones(2 * n, dtype=torch.float64, requires_grad=True)
    found = fiedler.encode(edges, 5, laplacian="combinatorial", edge_weight=weight)
    assert found.groups.tolist() == [[0, 1, 1, 2, 2]]
    with linalg.gradients(undefined="raise") as seen:
        # A projector on a tie group of a ring is a circulant matrix, so every node has the same share of it.
        shares = fiedler.encode(edges, 5, laplacian="combinatorial", edge_weight=weight).eigenvectors[:, 1:3] ** 2
        gradient = torch.autograd.grad((shares.sum(1) * torch.linspace(0, 1, n, dtype=torch.float64)).sum(), weight)[0]
    assert gradient.isfinite().all() and abs(gradient.sum()) < 1e-6 * gradient.abs().sum()
    assert seen.certificates[0][0].max() < 1e-9
    for k in (4, 5):
        vectors = fiedler.encode(edges, k, laplacian="combinatorial", edge_weight=weight).eigenvectors
        with pytest.warns(fiedler.UndefinedGradientWarning):
            torch.autograd.grad((vectors[:, 3] ** 2)[:7].sum(), weight)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
@pytest.mark.parametrize("which", ["SA", "LA"])
def test_sparse_tensors(which):
    rng = np.random.default_rng(4)
    dense = np.diag(np.arange(40.0)) + np.diag(rng.uniform(0.1, 0.3, 39), 1)
    dense = torch.from_numpy(dense + dense.T)
    made = []
    for a in (dense.clone().requires_grad_(), dense.to_sparse_csr().requires_grad_(), dense.to_sparse().requires_grad_()):
        if a.layout == torch.strided:
            found = linalg.eigh(a, k=3, which="smallest" if which == "SA" else "largest")
        else:
            found = linalg.eigsh(a, 3, which=which, tol=1e-13)
            assert found.null_space == 0 and len(found.certificates.residual) == 3
        loss = (found.eigenvalues**2).sum() + (found.eigenvectors**4).sum()
        made.append(torch.autograd.grad(loss, a)[0].to_dense())
    kept = dense != 0
    for gradient in made[1:]:
        torch.testing.assert_close(gradient, torch.where(kept, made[0], 0), rtol=1e-8, atol=1e-8)
    with pytest.raises(TypeError, match="sparse"):
        linalg.eigsh(dense.requires_grad_(), 3)
    with pytest.raises(fiedler.DomainError, match="sigma"):
        linalg.eigsh(dense.to_sparse(), 3, sigma=1.0)
    sparse = dense.detach().to_sparse_csr()
    with pytest.raises(fiedler.DomainError, match="lorentzian"), linalg.gradients("lorentzian", 0.1):
        linalg.eigsh(sparse, 3)
    assert linalg.eigsh(sparse.float(), 3, dtype=np.float64).eigenvalues.dtype == torch.float64
    assert linalg.eigsh(sparse, 0).eigenvectors.shape == (40, 0)
    for bad, error in ((sparse.to(torch.complex64), TypeError), (dense.detach().to_sparse_csc(), TypeError)):
        with pytest.raises(error, match="expected"):
            linalg.eigsh(bad, 3)
    with pytest.raises(fiedler.ShapeError, match="at most 40"):
        linalg.eigsh(sparse, 41)


def test_parts_of_tie_groups():
    """Also of losses of eigenvalues alone, whose part of a tie group has no gradient."""
    eye = torch.eye(50, dtype=torch.float64).to_sparse().requires_grad_()
    nodes = torch.arange(1002)
    ring = torch.stack([torch.cat([nodes, (nodes + 1) % 1002]), torch.cat([(nodes + 1) % 1002, nodes])])
    for dtype in (torch.float32, torch.float64):
        weight = torch.ones(2004, dtype=dtype, requires_grad=True)
        for k, defined in ((2, False), (3, True)):
            with linalg.gradients(undefined="ignore") as seen:
                found = fiedler.torch.SpectralEncoding(k, laplacian="combinatorial")(ring, weight)
            gradient = torch.autograd.grad(found.eigenvalues.sum(), weight)[0]
            assert (seen.certificates[0][0].item() < 1e-6) == defined and gradient.isfinite().all()
        with linalg.gradients(undefined="raise"):
            found = fiedler.torch.SpectralEncoding(3, laplacian="combinatorial")(ring, weight)
        scale = torch.linspace(0, 1, 1002, dtype=dtype)
        torch.autograd.grad((scale @ found.eigenvectors[:, 1:]).square().sum(), weight)
    for of in (lambda found: found.eigenvalues.sum(), lambda found: (found.eigenvectors @ found.eigenvectors.mT)[0, 1]):
        with linalg.gradients(undefined="raise"):
            loss = of(linalg.eigsh(eye, 3))
        with pytest.raises(fiedler.UndefinedGradientError):
            loss.backward()


def test_what_iterated_pairs_lack():
    nodes = torch.arange(1002)
    ring = torch.stack([torch.cat([nodes, (nodes + 1) % 1002]), torch.cat([(nodes + 1) % 1002, nodes])])
    weight = torch.rand(2004, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).requires_grad_()
    loss = fiedler.torch.SpectralEncoding(3)(ring, weight).eigenvalues.sum()
    with pytest.raises(NotImplementedError, match="second"):
        torch.autograd.grad(loss, weight, create_graph=True)
    with torch.autograd.forward_ad.dual_level(), pytest.raises(NotImplementedError, match="forward"):
        dual = torch.autograd.forward_ad.make_dual(weight.detach(), torch.ones_like(weight))
        fiedler.torch.SpectralEncoding(3)(ring, dual)


def test_inputs_are_refused():
    encoder, edges = fiedler.torch.SpectralEncoding(2), [[0, 1], [1, 0]]
    assert encoder(edges, [1.0, 1.0], np.zeros(2, np.int64)).eigenvalues.shape == (1, 2)
    for inputs, error in [
        (([[0.0, 1.0], [1.0, 0.0]],), TypeError),
        ((edges, torch.ones(2, dtype=torch.complex64)), TypeError),
        ((edges, None, [0.0, 0.0]), TypeError),
        ((edges, None, [[0, 0]]), fiedler.ShapeError),
        ((edges, None, [-1, 0]), fiedler.DomainError),
        ((edges, None, [0, 0], 3), fiedler.ShapeError),
        ((edges, None, None, -1), ValueError),
    ]:
        with pytest.raises(error, match="expected"):
            encoder(*inputs)


def test_weights_of_an_edge_index():
    edges, weight, batch = graphs([5, 4])
    plain = fiedler.encode(edges, 3, edge_weight=weight.numpy(), batch=batch, precision="f64")
    listed = fiedler.GraphBatch.from_edge_index(edges, weight=weight, batch=batch)
    np.testing.assert_array_equal(plain.eigenvectors, fiedler.encode(listed, 3, precision="f64").eigenvectors)
    tracked = fiedler.encode(edges, 3, edge_weight=weight.clone().requires_grad_(), batch=batch)
    np.testing.assert_allclose(tracked.eigenvalues.detach(), plain.eigenvalues, atol=1e-14)
    np.testing.assert_allclose(tracked.eigenvectors.detach().abs(), np.abs(plain.eigenvectors), atol=1e-12)
    narrow = fiedler.encode(edges, 3, edge_weight=weight.float().requires_grad_(), batch=batch, precision="f64")
    assert narrow.eigenvalues.dtype == torch.float64
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        narrow.eigenvalues.sum().backward()
    with torch.no_grad():
        assert torch.equal(fiedler.encode(edges, 3, edge_weight=weight, batch=batch).eigenvectors, tracked.eigenvectors)
    for option in ({"which": "largest"}, {"walk_steps": 2}, {"trivial": "first"}, {"symmetrize": "max"}):
        with pytest.raises(fiedler.DomainError, match="edge_weight"):
            fiedler.encode(edges, 3, edge_weight=weight.requires_grad_(), batch=batch, **option)
    with pytest.raises(fiedler.ShapeError):
        fiedler.encode(edges, 3, edge_weight=weight[1:], batch=batch)
