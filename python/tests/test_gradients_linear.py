"""Gradients of Fourier transforms, covariances and principal components, where torch or JAX is installed."""

from __future__ import annotations

import numpy as np
import pytest

import fiedler
from conftest import script
from fiedler import fft, linalg, stats

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

KINDS = ["fft", "ifft", "rfft", "irfft", "fft2", "ifft2"]
OPTIONS = [{}, {"n": 3, "norm": "ortho"}, {"n": 8, "norm": "forward"}, {"axis": 0}, {"n": 1, "axis": -2}]


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.mark.parametrize("kind", KINDS)
def test_transforms_by_differences(torch, kind):
    generator = torch.Generator().manual_seed(2)
    dtype = torch.float64 if kind == "rfft" else torch.complex128
    own = getattr(fft, kind)
    for options in OPTIONS if "2" not in kind else [{}, {"s": (3, 6)}, {"axes": (0, 1), "norm": "ortho"}]:
        x = torch.randn(2, 4, 5, dtype=dtype, generator=generator).requires_grad_()
        torch.testing.assert_close(own(x, **options), getattr(torch.fft, kind)(x, **torched(options)))
        assert torch.autograd.gradcheck(lambda x, o=options: own(x, **o), (x,), check_forward_ad=True)
        assert torch.autograd.gradgradcheck(lambda x, o=options: own(x, **o), (x,))
    # Real numbers are taken as complex ones.
    x = torch.randn(6, dtype=torch.float64, generator=generator).requires_grad_()
    if "2" not in kind:
        assert torch.autograd.gradcheck(lambda x: torch.view_as_real(own(x) + 0j), (x,))


def torched(options):
    """The parameters with torch's names."""
    return {{"axis": "dim", "axes": "dim"}.get(name, name): value for name, value in options.items()}


@pytest.mark.parametrize("window", ["rectangular", "hann", "hamming", "blackman"])
def test_power_spectra(torch, window):
    generator = torch.Generator().manual_seed(3)
    for shape, axis, bands in [((2, 7, 3), 1, (0.1, 1.0, 1.5)), ((8,), -1, (0.0, 0.5)), ((3, 1), -1, ()), ((6, 2), 0, (0.7, 1))]:
        x = torch.randn(*shape, dtype=torch.float64, generator=generator)

        def of(x, axis=axis, bands=bands):
            found = fft.power_spectrum(x, axis=axis, window=window, rate=3.0, bands=bands)
            return [found.power, found.centroid] + ([found.band_powers] if bands else [])

        plain = of(x)
        assert torch.autograd.gradcheck(lambda *x: of(*x), (x.requires_grad_(),), check_forward_ad=True)
        torch.testing.assert_close(of(x), plain)
    # The mean frequency of silence is 0, and has no gradient but 0.
    x = torch.zeros(4, requires_grad=True)
    found = fft.power_spectrum(x, window=window)
    assert found.centroid == 0 and found.band_powers is None
    assert torch.autograd.grad(found.centroid, x)[0].abs().max() == 0


def test_transforms_under_transformations(torch):
    x = torch.randn(3, 7, dtype=torch.float64)
    power = lambda x: fft.rfft(x).abs().square().sum()  # noqa: E731
    wanted = torch.func.vmap(torch.func.grad(lambda x: torch.fft.rfft(x).abs().square().sum()))(x)
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(power))(x), wanted)
    torch.testing.assert_close(torch.func.vmap(lambda x: fft.fft(x, 9))(x), torch.fft.fft(x, 9))
    y = x.clone().requires_grad_()
    bars = torch.eye(4, dtype=torch.complex128).expand(2, 4, 4)[:, :3]
    batched = torch.autograd.grad(fft.rfft(y), y, bars, is_grads_batched=True)
    torch.testing.assert_close(batched, torch.autograd.grad(torch.fft.rfft(y), y, bars, is_grads_batched=True))
    compiled = torch.compile(lambda x: fft.irfft(fft.rfft(x) * 2, 7), backend="aot_eager")
    y = x.clone().requires_grad_()
    compiled(y).square().sum().backward()
    torch.testing.assert_close(y.grad, 8 * x)
    assert fft.fft(x.bfloat16().requires_grad_()).dtype == torch.complex64


def test_transforms_are_refused(torch):
    x = torch.randn(4, requires_grad=True)
    for call, error in [
        (lambda: fft.fft(x, 0), fiedler.DomainError),
        (lambda: fft.irfft(x, 0), fiedler.DomainError),
        (lambda: fft.fft(x, axis=1), np.exceptions.AxisError),
        (lambda: fft.fft(x, axis="0"), TypeError),
        (lambda: fft.fft(x, norm="none"), ValueError),
        (lambda: fft.rfft(x + 0j), TypeError),
        (lambda: fft.fft2(x), fiedler.ShapeError),
        (lambda: fft.power_spectrum(x + 0j), TypeError),
        (lambda: fft.power_spectrum(x, axis=1), np.exceptions.AxisError),
        (lambda: fft.power_spectrum(x, window="kaiser"), fiedler.DomainError),
        (lambda: fft.power_spectrum(x, axis="0"), TypeError),
        (lambda: fft.power_spectrum(x, rate=0.0), fiedler.DomainError),
        (lambda: fft.power_spectrum(x, bands=[0.2]), fiedler.DomainError),
        (lambda: fft.power_spectrum(x, bands=[0.2, 0.1]), fiedler.DomainError),
        (lambda: fft.power_spectrum(x[:0]), fiedler.DomainError),
    ]:
        with pytest.raises(error):
            call()


@pytest.mark.parametrize("rowvar", [True, False])
def test_covariances(torch, rowvar):
    generator = torch.Generator().manual_seed(4)
    for shape in [(2, 4, 3), (3, 5), (4,)]:
        x = torch.randn(*shape, dtype=torch.float64, generator=generator).requires_grad_()
        for own in (stats.cov, stats.corrcoef):
            with torch.no_grad():
                plain = own(x.numpy(), rowvar=rowvar)
            torch.testing.assert_close(own(x, rowvar=rowvar), torch.as_tensor(plain))
            if own is stats.cov or len(shape) > 1:
                assert torch.autograd.gradcheck(lambda x, own=own: own(x, rowvar=rowvar), (x,), check_forward_ad=True)
    assert stats.cov(torch.zeros(3, 1, requires_grad=True)).isnan().all()
    # A NaN stays in its variable.
    x = torch.tensor([[1.0, float("nan"), 2], [1, 2, 4], [3, 1, 2]], requires_grad=True)
    assert stats.corrcoef(x).isnan().sum() == 5


def test_principal_components(torch):
    from fiedler.torch import pca

    generator = torch.Generator().manual_seed(6)
    for shape, k in [((6, 3), 2), ((2, 4, 5), 2), ((4, 4), 1)]:
        x = torch.randn(*shape, dtype=torch.float64, generator=generator).requires_grad_()
        found = pca(x, k)
        torch.testing.assert_close(found.components @ found.components.mT, torch.eye(k, dtype=x.dtype).expand(*shape[:-2], k, k))
        plain = torch.linalg.svdvals(x - x.mean(-2, keepdim=True))[..., :k] ** 2 / (shape[-2] - 1)
        torch.testing.assert_close(found.explained_variance, plain)

        def of(x, k=k):
            found = pca(x, k)
            return found.explained_variance, found.mean, found.scores @ found.components, found.components**2

        assert torch.autograd.gradcheck(of, (x,))
    for bad, k in [(torch.zeros(3), 1), (torch.zeros(1, 3), 1), (torch.zeros(3, 3), 3), (torch.zeros(3, 3), 0)]:
        with pytest.raises((fiedler.ShapeError, fiedler.DomainError)):
            pca(bad, k)


def test_jax():
    """In a process of its own, because JAX starts threads, which other tests count."""
    pytest.importorskip("jax")
    assert script(IN_JAX, timeout=300) == "done\n"


IN_JAX = """
import jax
import jax.numpy as jnp
import numpy as np
from fiedler import fft, stats

jax.config.update("jax_enable_x64", True)
rng = np.random.default_rng(3)
for kind in ("fft", "ifft", "rfft", "irfft", "fft2", "ifft2"):
    x = jnp.asarray(rng.standard_normal((3, 6)) + (0 if kind == "rfft" else 1j * rng.standard_normal((3, 6))))
    own, theirs = getattr(fft, kind), getattr(jnp.fft, kind)
    scale = jnp.asarray(rng.standard_normal(theirs(x).shape))

    def loss(x, of):
        return (jnp.abs(of(x)) ** 2 * scale + (of(x) * scale).real ** 3).sum()

    wanted = jax.grad(loss)(x, theirs)
    for found in (jax.grad(loss)(x, own), jax.jit(jax.grad(loss), static_argnums=1)(x, own)):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-11)
    second = jax.grad(lambda x: jnp.abs(jax.grad(loss)(x, own)).sum())(x)
    np.testing.assert_allclose(second, jax.grad(lambda x: jnp.abs(jax.grad(loss)(x, theirs)).sum())(x), rtol=1e-9, atol=1e-9)
x = jnp.asarray(rng.standard_normal((4, 6)))
for own, theirs in ((stats.cov, jnp.cov), (stats.corrcoef, jnp.corrcoef)):
    np.testing.assert_allclose(jax.jacrev(own)(x), jax.jacrev(theirs)(x), rtol=1e-11, atol=1e-12)
powers = jax.jit(lambda x: fft.power_spectrum(x, axis=0, window="hann", bands=[0.1, 0.3, 0.5]))
frequencies = np.fft.rfftfreq(4)
by_hand = lambda x: jnp.abs(jnp.fft.rfft(x * (0.5 - 0.5 * np.cos(np.pi / 2 * np.arange(4)))[:, None], axis=0)) ** 2 / 4 * np.array([[1], [2], [1]])  # noqa: E731
np.testing.assert_allclose(jax.jacrev(lambda x: powers(x).power)(x), jax.jacrev(by_hand)(x), rtol=1e-11, atol=1e-12)
found, plain = powers(x), fft.power_spectrum(np.asarray(x), axis=0, window="hann", bands=[0.1, 0.3, 0.5])
for name in ("power", "centroid", "band_powers", "frequencies"):
    np.testing.assert_allclose(getattr(found, name), getattr(plain, name), rtol=1e-12)
of = [jax.vmap(jax.grad(lambda x, f=f: jnp.abs(f(x)).sum()))(x) for f in (fft.rfft, jnp.fft.rfft)]
np.testing.assert_allclose(*of, rtol=1e-11)
assert jax.jit(fft.fft)(jnp.arange(4)).dtype == jnp.complex128 and jax.jit(stats.cov)(jnp.eye(3, dtype=int)).dtype == jnp.float64
assert jax.grad(lambda x: jnp.abs(fft.rfft(x)).sum())(x.astype(jnp.bfloat16)[0]).dtype == jnp.bfloat16
print("done")
"""


def test_a_chain(torch):
    """The spectrum of an autocovariance, through three operations of the library."""
    x = torch.randn(4, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(8)).requires_grad_()
    of = lambda x: linalg.eigvalsh(stats.cov(fft.irfft(fft.rfft(x)[..., 1:6], 12)))  # noqa: E731
    assert torch.autograd.gradcheck(of, (x,))
