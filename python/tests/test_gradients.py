"""Gradients: what the native half returns, and tensors of torch, where torch is installed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import fiedler
from conftest import script
from fiedler import _fiedler, linalg
from fiedler._context import _context

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_native_products(dtype):
    """A diagonal matrix, whose gradient is G itself."""
    native, eye = _context(None, "cpu"), np.broadcast_to(np.eye(3, dtype=dtype), (2, 3, 3)).copy()
    w = np.array([[0, 1, 3], [1, 1, 2]], dtype)
    v_bar = np.zeros((2, 3, 3), dtype)
    v_bar[:, 1, 0] = 2  # rows are vectors: the cotangent of the second vector along the first
    found = _fiedler.eigh_vjp(native, w, eye, np.ones((2, 3), dtype), v_bar, ("exact", 0.0))
    gradient, defined, undefined, sensitivity = found
    assert gradient[0].tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert gradient[1].tolist() == np.eye(3).tolist()
    assert defined.tolist() == [True, False] and undefined.tolist() == [0, 0.5] and sensitivity.tolist() == [3, 2]
    with pytest.raises(fiedler.DomainError, match="mode"):
        _fiedler.eigh_vjp(native, w, eye, None, None, ("nothing", 0.0))
    with pytest.raises(fiedler.ShapeError, match="expected 6 numbers"):
        _fiedler.eigh_vjp(native, w, eye, w[:1], None, ("exact", 0.0))
    # Two rows and three columns: the gradient of the sum of singular values is U Vh.
    a = np.array([[3.0, 0, 4], [0, 1, 0]], dtype)
    u, s, vh = linalg.svd(a, full_matrices=False)
    gradient, *_ = _fiedler.svd_vjp(native, u, s, vh, None, np.ones_like(s), None, ("exact", 0.0))
    np.testing.assert_allclose(gradient, u @ vh, atol=4 * np.finfo(dtype).eps)


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def symmetric(torch, *shape, seed=0):
    a = torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    return (a + a.mT) / 2


def of_pairs(a, **options):
    """The eigenvalues, and the squares of the coordinates of a vector, which do not depend on signs."""
    import torch

    w, v = linalg.eigh((a + a.mT) / 2, **options)
    return w, (v.mT @ torch.linspace(1, 2, v.shape[-2], dtype=v.dtype)) ** 2


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("options", [{}, {"k": 1}, {"k": 1, "which": "largest"}, {"UPLO": "U", "device": "cpu"}])
def test_eigenpairs_by_differences(torch, n, options):
    a = symmetric(torch, 2, n, n).requires_grad_()
    assert torch.autograd.gradcheck(lambda a: of_pairs(a, **options), (a,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(lambda a: of_pairs(a, **options), (a,))
    assert torch.autograd.gradcheck(lambda a: linalg.eigvalsh((a + a.mT) / 2), (a,), check_forward_ad=True)


@pytest.mark.parametrize("shape", [(2, 3, 3), (5, 3), (2, 6), (1, 1)])
def test_singular_triplets_by_differences(torch, shape):
    a = torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).requires_grad_()

    def of(a):
        u, s, vh = linalg.svd(a, full_matrices=False)
        return s, u @ torch.diag_embed(torch.linspace(1, 2, s.shape[-1], dtype=s.dtype)) @ vh, u * u, vh * vh

    assert torch.autograd.gradcheck(of, (a,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(of, (a,))
    assert torch.autograd.gradcheck(linalg.svdvals, (a,), check_forward_ad=True)


def test_products_by_differences(torch):
    shapes = [((2, 3), (3, 4)), ((5, 1, 2, 3), (2, 3, 1)), ((3,), (3, 2)), ((2, 3), (3,)), ((3,), (3,))]
    for first, second in shapes:
        a, b = (torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in (first, second))
        assert torch.autograd.gradcheck(linalg.matmul, (a, b), check_forward_ad=True)
        assert torch.autograd.gradgradcheck(linalg.matmul, (a, b))
        torch.testing.assert_close(linalg.matmul(a, b), a @ b)


def test_the_gradient_is_that_of_torch_where_eigenvalues_are_simple(torch):
    for n in (2, 7, 20):
        values = torch.arange(n, dtype=torch.float64)
        q = torch.linalg.qr(torch.randn(3, n, n, dtype=torch.float64, generator=torch.Generator().manual_seed(n)))[0]
        a = (q @ torch.diag_embed(values) @ q.mT).requires_grad_()
        x = torch.linspace(1, 2, n, dtype=torch.float64)
        made = []
        for library in (linalg, torch.linalg):
            w, v = library.eigh(a)
            made.append(torch.autograd.grad(((v.mT @ x) ** 2 * x).sum() + (w**3).sum(), a)[0])
        wanted = (made[1] + made[1].mT) / 2
        assert (made[0] - wanted).abs().max() <= 1e-12 * wanted.abs().max()


def test_ties(torch):
    """A triangle, whose two largest eigenvalues are equal: torch divides by 0, or by a rounding error."""
    triangle = (3 * torch.eye(3, dtype=torch.float64) - 1).requires_grad_()
    w, v = linalg.eigh(triangle)
    ((v[:, 1:] @ v[:, 1:].mT)[0, 1] + w[1:].sum()).backward()
    # The projector on what is orthogonal to ones: with u = 1 / sqrt(3), its derivative along D is
    # (P D u u' + u u' D P) / 3, up to the sign.
    u = torch.full((3, 1), 3**-0.5, dtype=torch.float64)
    p = torch.eye(3, dtype=torch.float64) - u @ u.mT
    c = torch.zeros(3, 3, dtype=torch.float64)
    c[0, 1] = c[1, 0] = 0.5
    wanted = (p @ c @ (u @ u.mT) + (u @ u.mT) @ c @ p) / 3 + p
    torch.testing.assert_close(triangle.grad, wanted, rtol=0, atol=1e-14)


def test_a_loss_without_a_gradient_is_reported(torch):
    a = torch.eye(3, dtype=torch.float64, requires_grad=True)
    with pytest.warns(fiedler.UndefinedGradientWarning, match="1 of 1 matrices has no gradient"):
        linalg.eigvalsh(a)[-1].backward()
    assert torch.isfinite(a.grad).all()
    with fiedler.linalg.gradients(undefined="raise"):
        w = linalg.eigvalsh(a)
    with pytest.raises(fiedler.UndefinedGradientError, match="a share of 1.0e"):
        w[-1].backward()
    with fiedler.linalg.gradients(undefined="ignore") as said:
        w, v = linalg.eigh(torch.diag(torch.tensor([0.0, 1.0, 1.0 + 1e-9], dtype=torch.float64)).requires_grad_())
        v[0, 1].backward(retain_graph=True)
    ((undefined, sensitivity),) = said.certificates
    assert undefined == 0 and 0.9e9 < sensitivity < 1.1e9
    for mode in ("group", "lorentzian"):
        with fiedler.linalg.gradients(mode, 1e-6, undefined="ignore"):
            x = torch.diag(torch.tensor([0.0, 1.0, 1.0 + 1e-9], dtype=torch.float64)).requires_grad_()
            linalg.eigh(x)[1][2, 1].backward()
        assert x.grad.abs().max() < 1e6, mode
    with pytest.raises(ValueError, match="mode"):
        fiedler.linalg.gradients("nothing")
    with pytest.raises(fiedler.DomainError, match="number"):
        fiedler.linalg.gradients("group", -1)


def reported(torch, loss, a):
    """Whether the gradient of a loss is reported to be undefined."""
    with linalg.gradients(undefined="raise"):
        try:
            loss(a.detach().clone().requires_grad_())
        except fiedler.UndefinedGradientError:
            return True
    return False


def test_what_is_0_by_coincidence_is_reported_too(torch):
    """In the basis of unit vectors, which a solver chooses for a diagonal matrix, these losses look defined."""

    def heat(a, i, j):
        w, v = linalg.eigh(a)
        ((v * (-w).exp()) @ v.mT)[i, j].backward()

    def turned_back(a):
        (linalg.eigh(a)[1] ** 4)[:, 0].sum().backward()

    def second(a, of):
        (gradient,) = torch.autograd.grad(of(a), a, create_graph=True)
        gradient[0, 1].backward()

    def whole(a):
        v = linalg.eigh(a)[1]
        (v @ v.mT)[0, 1].backward()

    def polar(a):
        u, _, vh = linalg.svd(a)
        (u @ vh)[0, 1].backward()

    ring = torch.zeros(4, 4, dtype=torch.float64)
    for i in range(4):
        ring[i, (i + 1) % 4] = ring[(i + 1) % 4, i] = 1
    assert all(reported(torch, lambda a: heat(a, i, j), ring) for i in range(4) for j in range(4))
    for n in (2, 3, 5):
        eye = torch.eye(n, dtype=torch.float64)
        assert reported(torch, lambda a: heat(a, 0, 1), eye) and reported(torch, turned_back, eye)
        assert reported(torch, lambda a: second(a, lambda a: linalg.eigvalsh(a).log().sum()), eye)
        assert reported(torch, lambda a: second(a, lambda a: (linalg.svdvals(a) ** 2).sum()), eye)
        assert not reported(torch, whole, eye) and not reported(torch, polar, eye)


def test_modes_that_torch_does_not_pass_on_are_refused(torch):
    a = symmetric(torch, 3, 3)
    for of in (linalg.eigvalsh, linalg.svdvals, lambda a: linalg.matmul(a, a)):
        once = lambda a, of=of: torch.func.jvp(lambda a: of(a).sum(), (a,), (a,))[1]
        assert torch.isfinite(once(a))
        with pytest.raises(NotImplementedError, match="one forward mode, found one within another"):
            torch.func.jvp(once, (a,), (a,))


def test_without_gradients(torch):
    """A parameter is read where torch does not differentiate, and certificates of transformations are left out."""
    weight = torch.nn.Parameter(torch.eye(3, dtype=torch.float64))
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            assert linalg.eigvalsh(weight).tolist() == [1, 1, 1]
            assert torch.equal(fiedler.torch.matrix_function(weight, lambda w: 2 * w), 2 * weight.detach())
    with linalg.gradients() as said, said:
        torch.func.vmap(torch.func.grad(lambda a: linalg.eigvalsh(a).sum()))(symmetric(torch, 2, 3, 3))
    assert said.certificates == []
    linalg.eigh(weight).certificates.raise_for_status()
    with pytest.warns(fiedler.UndefinedGradientWarning, match="there is a NaN or an infinity") as seen:
        linalg.eigvalsh(weight * torch.nan).sum().backward()
    assert seen[0].filename == __file__


def test_torch_func_and_compile(torch):
    a = symmetric(torch, 3, 4, 4)

    def loss(a):
        w, v = linalg.eigh(a)
        return (w**2).sum() + ((v @ torch.diag_embed(w) @ v.mT) ** 2).sum()

    torch.testing.assert_close(torch.func.grad(loss)(a[0]), 4 * a[0])
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(loss))(a), 4 * a)
    torch.testing.assert_close(torch.func.vmap(linalg.eigvalsh, 1)(a.movedim(0, 1)), torch.linalg.eigvalsh(a))
    turned = torch.func.vmap(linalg.svdvals, in_dims=2, out_dims=1)(a)
    torch.testing.assert_close(turned, torch.linalg.svdvals(a.movedim(2, 0)).T)
    torch.testing.assert_close(torch.func.vmap(linalg.matmul, in_dims=(0, None))(a, a[0]), a @ a[0])
    exact = torch.func.hessian(lambda a: (a**2).sum())(a[0])
    found = torch.func.hessian(lambda a: (linalg.eigvalsh((a + a.mT) / 2) ** 2).sum())(a[0])
    torch.testing.assert_close(found, (exact + exact.movedim(2, 3)) / 2)
    both = lambda a: linalg.eigvalsh(a).exp().sum() + linalg.svdvals(a).sum()
    compiled = torch.compile(both, fullgraph=True, backend="aot_eager")
    tracked = a.clone().requires_grad_()
    compiled(tracked).backward()
    u, _, vh = torch.linalg.svd(a)
    torch.testing.assert_close(tracked.grad, torch.linalg.matrix_exp(a) + u @ vh)


def test_operators(torch):
    """What torch checks of operators: their schema, and that the tensors without data have the right shapes."""
    from fiedler import _gradients_torch as _gradients

    checks = ("test_schema", "test_faketensor")
    for shape in ((3, 3), (2, 4, 4)):
        a = symmetric(torch, *shape)
        torch.library.opcheck(_gradients._eigh, (a, False, "cpu"), test_utils=checks)
        w, rows, *_ = _gradients._eigh(a, False, "cpu")
        arguments = (w, rows, w, None, "cpu", "exact", 0.0, "warn")
        torch.library.opcheck(_gradients._eigh_vjp, arguments, test_utils=checks)
        torch.library.opcheck(_gradients._svd, (a[..., :2], "cpu"), test_utils=checks)


def test_functions_of_matrices(torch):
    """A heat kernel at ties, with a time that is learned."""
    time = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    cube = torch.zeros(8, 8, dtype=torch.float64)
    for i, j in itertools.product(range(8), range(8)):
        cube[i, j] = float((i ^ j).bit_count() == 1)

    def heat(a, time):
        return fiedler.torch.matrix_function((a + a.mT) / 2, lambda w: torch.exp(-time * w))

    for a in (symmetric(torch, 2, 4, 4), cube, torch.eye(3, dtype=torch.float64)):
        torch.testing.assert_close(heat(a, time), torch.linalg.matrix_exp(-time * a))
        assert torch.autograd.gradcheck(heat, (a.requires_grad_(), time))
    # Divided differences at every distance, whatever the rule for ties.
    for gap in (10.0**-digits for digits in range(1, 16)):
        a = torch.diag(torch.tensor([1, 1 + gap], dtype=torch.float64)).requires_grad_()
        with linalg.gradients("lorentzian", 0.1):
            fiedler.torch.matrix_function(a, torch.exp)[0, 1].backward()
        gap = a[1, 1].item() - 1
        exact = np.exp(1) * np.expm1(gap) / gap / 2
        assert abs(a.grad[0, 1].item() / exact - 1) < 1e-10
    step = fiedler.torch.matrix_function(cube.detach().requires_grad_(), lambda w: (w < 0).to(w.dtype))
    torch.testing.assert_close(step @ step, step)
    with pytest.raises(NotImplementedError, match="second"):
        a = torch.eye(2, requires_grad=True)
        torch.autograd.grad(fiedler.torch.matrix_function(a, torch.exp).sum(), a, create_graph=True)


def test_entropies_of_symmetric_graphs(torch):
    """The entropy of ``M / tr M`` has the gradient ``-(log(M / tr M) + S) / tr M``, whatever is tied."""
    squares = {i * i % 13 for i in range(1, 13)}
    graphs = {
        "cycle": [[(i - j) % 6 in (1, 5) for j in range(6)] for i in range(6)],
        "cube": [[bin(i ^ j).count("1") == 1 for j in range(8)] for i in range(8)],
        "complete": [[i != j for j in range(5)] for i in range(5)],
        "Paley": [[(i - j) % 13 in squares for j in range(13)] for i in range(13)],
        "bipartite": [[i % 2 != j % 2 for j in range(6)] for i in range(6)],
        "none": [[False] * 4 for i in range(4)],
    }
    for name, edges in graphs.items():
        adjacency = torch.tensor(edges, dtype=torch.float64)
        m = torch.diag(adjacency.sum(0)) - adjacency + 0.1 * torch.eye(len(edges), dtype=torch.float64)
        m.requires_grad_()
        with linalg.gradients(undefined="raise"):
            w = linalg.eigvalsh(m)
            entropy = -(w / w.sum() * torch.log(w / w.sum())).sum()
            found = torch.autograd.grad(entropy, m)[0]
        values, vectors = torch.linalg.eigh(m.detach())
        trace = values.sum()
        wanted = -(vectors * (torch.log(values / trace) + entropy.detach())) @ vectors.mT / trace
        assert (found - wanted).abs().max() <= 1e-13 * wanted.abs().max() + 1e-15, name


def test_types_and_refusals(torch):
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        a = torch.eye(3, dtype=dtype, requires_grad=True)
        w = linalg.eigvalsh(a)
        w.sum().backward()
        assert (w.dtype, a.grad.dtype) == (torch.float32, dtype)
    square = torch.eye(2, dtype=torch.complex64, requires_grad=True)
    with pytest.raises(TypeError, match=r"a: expected a tensor of real numbers, found torch\.complex64"):
        linalg.eigh(square)
    with pytest.raises(fiedler.ShapeError, match="square"):
        linalg.eigh(torch.ones(2, 3, requires_grad=True))
    with pytest.raises(fiedler.DomainError, match="full_matrices: expected False"):
        linalg.svd(torch.ones(2, 3, requires_grad=True))
    with pytest.raises(ValueError, match="which"):
        linalg.eigh(torch.eye(2, requires_grad=True), which="LA")
    with pytest.raises(ValueError, match="found both"):
        linalg.eigh(torch.eye(2, requires_grad=True), device="cpu", context=fiedler.Context(device="cpu"))
    assert linalg.matmul(torch.ones(2, 0, requires_grad=True), torch.ones(0, 3)).tolist() == [[0, 0, 0]] * 2
    with pytest.raises(fiedler.ShapeError, match="k: expected at most 2 pairs, found 3"):
        linalg.eigh(torch.eye(2, requires_grad=True), k=3)
    with pytest.raises(fiedler.ShapeError, match="as many columns in a as rows in b"):
        linalg.matmul(torch.ones(2, 3, requires_grad=True), torch.ones(2, 3))
    # Contexts count too, and nothing is tracked where torch does not.
    context = fiedler.Context(device="cpu", threads=1)
    assert linalg.eigh(torch.eye(3, requires_grad=True), context=context).certificates.status == 0
    with torch.no_grad():
        assert not linalg.eigvalsh(torch.eye(3, requires_grad=True).detach()).requires_grad


def edges_of(torch, graphs):
    """Both directions of the edges of several graphs, given as lists of pairs with numbers of nodes."""
    pairs, batch, offset = [], [], 0
    for number, (nodes, edges) in enumerate(graphs):
        pairs += [(offset + a, offset + b) for i, j in edges for a, b in ((i, j), (j, i))]
        batch += [number] * nodes
        offset += nodes
    return torch.tensor(pairs).T.reshape(2, -1), torch.tensor(batch)


@pytest.mark.parametrize("laplacian", ["symmetric", "combinatorial"])
def test_encodings(torch, laplacian):
    ring = (4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    path = (3, [(0, 1), (1, 2)])
    lonely = (2, [])
    edges, batch = edges_of(torch, [ring, path, lonely, ring])
    encoder = fiedler.torch.SpectralEncoding(3, laplacian=laplacian, projectors=True)
    found = encoder(edges, None, batch)
    encoded = fiedler.encode(edges, 3, batch=batch, laplacian=laplacian)
    np.testing.assert_allclose(found.eigenvalues[:2].numpy(), encoded.eigenvalues[:2], atol=1e-6)
    assert found.groups.tolist() == [[0, 1, 1], [0, 1, 2], [0, 0, -1], [0, 1, 1]]
    assert found.eigenvectors.shape == (13, 3) and (found.eigenvectors[7:9, 2] == 0).all()
    assert [p.shape for p in found.projectors] == [(3, 4, 4), (3, 3, 3), (1, 2, 2), (3, 4, 4)]
    torch.testing.assert_close(found.projectors[0].sum(0), torch.eye(4), atol=1e-6, rtol=0)
    # In the weights: eigenvalues of the path, and the sum of the pair of the ring, whose own derivatives do not exist.
    weight = torch.rand(edges.shape[1] // 2, dtype=torch.float64, generator=torch.Generator().manual_seed(3)) + 0.5
    weight = weight.repeat_interleave(2).requires_grad_()
    assert torch.autograd.gradcheck(lambda weight: encoder(edges, weight, batch).eigenvalues[1], (weight,))
    ones = torch.ones_like(weight, requires_grad=True)
    encoder(edges, ones, batch).eigenvalues[0, 1:].sum().backward()
    assert ones.grad[:8].isfinite().all() and (ones.grad[8:] == 0).all()
    with pytest.warns(fiedler.UndefinedGradientWarning):
        encoder(edges, ones, batch).eigenvalues[0, 1].backward()


def test_encodings_are_refused(torch):
    encoder = fiedler.torch.SpectralEncoding(2)
    edges = torch.tensor([[0, 1], [1, 0]])
    for arguments, error, words in [
        ((edges[0],), fiedler.ShapeError, "edge_index: expected the shape"),
        ((edges, torch.ones(3)), fiedler.ShapeError, "edge_weight: expected the shape"),
        ((edges, torch.tensor([1.0, -1.0])), fiedler.DomainError, "not negative, found -1.0"),
        ((edges, torch.tensor([1.0, torch.nan])), fiedler.DomainError, "found nan"),
        ((edges, None, torch.tensor([0])), fiedler.DomainError, "expected nodes from 0 to 0, found 1"),
        ((edges - 1,), fiedler.DomainError, "expected nodes from 0 to 0, found -1"),
        ((edges, None, torch.tensor([1, 0])), fiedler.DomainError, "batch: expected an ascending tensor"),
        ((edges, None, torch.tensor([0, 1])), fiedler.DomainError, "between two of them"),
    ]:
        with pytest.raises(error, match=words):
            encoder(*arguments)
    for k in (0, 1.5):
        with pytest.raises((TypeError, ValueError), match="k"):
            fiedler.torch.SpectralEncoding(k)
    empty = encoder(torch.zeros(2, 0, dtype=torch.long))
    assert empty.eigenvalues.shape == (0, 2) and empty.eigenvectors.shape == (0, 2)


def test_a_network_learns_on_graphs_with_ties(torch):
    """Complete graphs and rings, most of whose eigenvalues are tied: 200 steps on projectors, and none is NaN."""
    graphs = []
    for n in (4, 5, 6):
        graphs += [(n, list(itertools.combinations(range(n), 2))), (n, [(i, (i + 1) % n) for i in range(n)])]
    edges, batch = edges_of(torch, graphs)
    label = torch.tensor([1.0, 0.0]).repeat(3)
    torch.manual_seed(0)
    weights = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1), torch.nn.Softplus())
    head = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    encoder = fiedler.torch.SpectralEncoding(6, projectors=True)
    optimizer = torch.optim.Adam([*weights.parameters(), *head.parameters()], lr=0.02)
    degrees = torch.bincount(edges[0]).float()
    losses = []
    for _ in range(200):
        optimizer.zero_grad()
        found = encoder(edges, weights(torch.stack([degrees[edges[0]], degrees[edges[1]]], 1))[:, 0], batch)
        features = torch.stack(
            [torch.stack([values.sum(), (values**2).sum(), (p[-1].diagonal() ** 2).sum()])
             for values, p in zip(found.eigenvalues, found.projectors, strict=True)]
        )
        loss = torch.nn.functional.binary_cross_entropy_with_logits(head(features)[:, 0], label)
        loss.backward()
        assert all(p.grad.isfinite().all() for p in weights.parameters())
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]


def test_jax():
    """In a process of its own, because JAX starts threads, which other tests count."""
    pytest.importorskip("jax")
    assert script(IN_JAX, timeout=300) == "done\n"


IN_JAX = """
import warnings
import jax
import jax.numpy as jnp
import numpy as np
import fiedler
from fiedler import linalg
from jax.test_util import check_grads

jax.config.update("jax_enable_x64", True)
random = np.random.default_rng(0)
a = jnp.asarray(random.standard_normal((3, 5, 5)))
a = a + a.mT
x = jnp.linspace(1, 2, 5)

def of_pairs(a, **options):
    w, v = linalg.eigh((a + a.mT) / 2, **options)
    return ((v.mT @ x) ** 2).sum() + (w**3).sum()

# What differences of second order are good for.
near = {"modes": ["rev"], "rtol": 1e-3, "atol": 1e-3}
for options in ({}, {"k": 2}, {"k": 2, "which": "largest"}, {"UPLO": "U", "device": "cpu"}):
    check_grads(lambda a: of_pairs(a, **options), (a,), order=2, **near)
check_grads(jax.jit(of_pairs), (a,), order=1, modes=["rev"])
for one in a:
    exact = jax.hessian(lambda a: (jnp.linalg.eigh((a + a.mT) / 2)[0] ** 3).sum())(one)
    found = jax.jacrev(jax.grad(lambda a: (linalg.eigvalsh((a + a.mT) / 2) ** 3).sum()))(one)
    np.testing.assert_allclose(found, exact, atol=1e-12 * np.abs(exact).max())
wanted = np.stack([jax.grad(of_pairs)(one) for one in a])
np.testing.assert_allclose(jax.vmap(jax.grad(of_pairs))(a), wanted, rtol=1e-12)
np.testing.assert_allclose(jax.jit(linalg.eigvalsh)(a), np.linalg.eigvalsh(a), rtol=1e-12)
theirs = jax.grad(lambda a: (jnp.linalg.eigh(a, symmetrize_input=False)[0] ** 3).sum())(a[0])
ours = jax.grad(lambda a: (linalg.eigh(a)[0] ** 3).sum())(a[0])
np.testing.assert_allclose(ours, (theirs + theirs.T) / 2, atol=1e-12 * np.abs(theirs).max())
for shape in ((2, 4, 4), (5, 3), (3, 6)):
    b = jnp.asarray(random.standard_normal(shape))

    def of_triplets(b):
        u, s, vh = linalg.svd(b, full_matrices=False)
        return (s**2).sum() + ((u * s[..., None, :] ** 2) @ vh).sum() + (u**4).sum() + (vh**4).sum()

    check_grads(of_triplets, (b,), order=2, **near)
    np.testing.assert_allclose(jax.jit(linalg.svdvals)(b), np.linalg.svd(b, compute_uv=False), rtol=1e-12)
m, n = jnp.asarray(random.standard_normal((2, 3))), jnp.asarray(random.standard_normal((4, 3, 2)))
check_grads(linalg.matmul, (m, n), order=2, **near)
check_grads(linalg.matmul, (m, n[0, :, 0]), order=2, **near)
np.testing.assert_allclose(jax.vmap(linalg.matmul, (None, 0))(m, n), m @ n, rtol=1e-12)

triangle = 3 * jnp.eye(3) - 1
tied = jax.jit(jax.grad(lambda a: (lambda v: (v[:, 1:] @ v[:, 1:].mT)[0, 1])(linalg.eigh(a)[1])))(triangle)
u = np.full((3, 1), 3**-0.5)
p = np.eye(3) - u @ u.T
c = np.zeros((3, 3))
c[0, 1] = c[1, 0] = 0.5
np.testing.assert_allclose(tied, (p @ c @ u @ u.T + u @ u.T @ c @ p) / 3, atol=1e-14)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    largest = jax.grad(lambda a: linalg.eigvalsh(a)[-1])(jnp.eye(3))
assert np.isfinite(largest).all() and [one.category for one in seen] == [fiedler.UndefinedGradientWarning]
with linalg.gradients(undefined="raise"):
    try:
        jax.block_until_ready(jax.grad(lambda a: linalg.eigvalsh(a)[-1])(jnp.eye(3)))
        raise SystemExit("no error")
    except jax.errors.JaxRuntimeError as error:
        assert "has no gradient" in str(error)
half = jax.grad(lambda a: linalg.eigvalsh(a).sum())(jnp.eye(3, dtype=jnp.bfloat16))
assert half.dtype == jnp.bfloat16
try:
    jax.jit(linalg.eigvalsh)(jnp.eye(2) * 1j)
    raise SystemExit("no error")
except TypeError as error:
    assert "real numbers" in str(error)
print("done")
"""
