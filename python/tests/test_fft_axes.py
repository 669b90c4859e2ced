"""Transforms along several axes, of Hermitian signals, their frequencies and the backend of SciPy, beside the peers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.fft

import fiedler
from fiedler import fft
from test_fft import near

SEVERAL = ["fft2", "ifft2", "fftn", "ifftn", "rfft2", "irfft2", "rfftn", "irfftn"]
HERMITIAN = ["hfft2", "ihfft2", "hfftn", "ihfftn"]


def drawn(rng, name, shape, dtype=np.float64):
    x = rng.standard_normal(shape)
    if name.lstrip("i")[0] == "r" and name[0] != "i" or name.startswith("ihfft"):
        return x.astype(dtype)
    return (x + 1j * rng.standard_normal(shape)).astype(np.result_type(dtype, np.complex64))


@pytest.mark.parametrize("name", SEVERAL + HERMITIAN)
@pytest.mark.parametrize("seed", range(12))
def test_shapes_lengths_and_norms_from_a_seed(name, seed):
    rng = np.random.default_rng(seed)
    dtype = [np.float32, np.float64][seed % 2]
    shape = tuple(rng.integers(2, 9, size=rng.integers(2, 5)))
    x = drawn(rng, name, shape, dtype)
    several = 2 if name.endswith("2") else int(rng.integers(1, len(shape) + 1))
    axes = tuple(int(axis) for axis in rng.permutation(len(shape))[:several] - len(shape) * int(rng.integers(2)))
    s = [None, tuple(int(n) for n in rng.integers(2, 10, size=several))][int(rng.integers(2))]
    norm = [None, "backward", "ortho", "forward"][int(rng.integers(4))]
    before = x.copy()
    wide = x.astype(np.result_type(x, np.float64))
    truth = getattr(scipy.fft, name)(wide, s, axes, norm)
    near(getattr(fft, name)(x, s, axes, norm), truth, dtype)
    np.testing.assert_array_equal(x, before)
    assert getattr(fft, name)(x, s, axes, norm).real.dtype == dtype


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn"])
def test_axes_by_default(name):
    x = drawn(np.random.default_rng(1), name, (3, 4, 5))
    ours, theirs = getattr(fft, name), getattr(scipy.fft, name)
    near(ours(x), theirs(x), np.float64)
    near(ours(x, (4, 6)), theirs(x, (4, 6)), np.float64)
    near(ours(x, axes=1), theirs(x, axes=1), np.float64)
    near(ours(x, s=(-1, 7), axes=(0, 2)), theirs(x, s=(3, 7), axes=(0, 2)), np.float64)


@pytest.mark.parametrize("name", ["hfft", "ihfft"])
@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("n", [None, 1, 6, 7])
@pytest.mark.parametrize("axis", [0, -1])
def test_hermitian_signals(name, norm, n, axis):
    x = drawn(np.random.default_rng(2), name, (4, 5))
    near(getattr(fft, name)(x, n, axis, norm), getattr(np.fft, name)(x, n, axis, norm), np.float64)
    near(getattr(fft, name)(x.real, n, axis, norm), getattr(np.fft, name)(x.real, n, axis, norm), np.float64)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", *SEVERAL])
def test_out(name):
    x = drawn(np.random.default_rng(3), name, (4, 6))
    truth = getattr(fft, name)(x)
    out = np.empty_like(truth)
    assert getattr(fft, name)(x, out=out) is out
    np.testing.assert_array_equal(out, truth)
    with pytest.raises(fiedler.ShapeError, match="out: expected the shape"):
        getattr(fft, name)(x, out=np.empty(3, truth.dtype))
    with pytest.raises(TypeError, match="out: expected an array that holds"):
        getattr(fft, name)(x, out=np.empty(truth.shape, int))
    with pytest.raises(TypeError, match="out: expected a NumPy array or None, found list"):
        getattr(fft, name)(x, out=[])


def test_what_scipy_passes():
    x = np.arange(6.0)
    np.testing.assert_array_equal(fft.fft(x, overwrite_x=True, workers=2), fft.fft(x))
    np.testing.assert_array_equal(fft.hfftn(x, None, None, None, True, -1), fft.hfftn(x))
    np.testing.assert_array_equal(x, np.arange(6.0))
    with pytest.raises(NotImplementedError, match="plan"):
        fft.fft(x, plan="plan")
    with pytest.raises(ValueError, match="workers: expected"):
        fft.fft(x, workers=0)
    with pytest.raises(TypeError, match="workers: expected an integer"):
        fft.dct(x, workers="all")
    with pytest.raises(fiedler.ShapeError, match="axes: expected at least one"):
        fft.rfftn(x, axes=())


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
@pytest.mark.parametrize("n", [1, 2, 7, 10])
def test_frequencies(name, n):
    ours, theirs = getattr(fft, name), getattr(np.fft, name)
    np.testing.assert_array_equal(ours(n, 0.3), theirs(n, 0.3))
    np.testing.assert_array_equal(ours(n, d=-2.0, device="cpu"), theirs(n, -2.0))
    assert ours(n, dtype=np.float32).dtype == np.float32 and ours(n, xp=np).dtype == np.float64
    with pytest.raises(fiedler.DomainError, match="n: expected an integer from 1"):
        ours(0)
    with pytest.raises(TypeError, match="dtype: expected real"):
        ours(n, dtype=np.complex64)
    with pytest.raises(ValueError, match="device: expected 'cpu'"):
        ours(n, device="gpu")


def test_frequencies_of_other_libraries():
    torch = pytest.importorskip("torch")
    made = fft.fftfreq(5, 0.5, xp=torch)
    assert made.dtype == torch.get_default_dtype()
    torch.testing.assert_close(made, torch.fft.fftfreq(5, 0.5))
    assert fft.rfftfreq(5, dtype=torch.float64, device="cpu", xp=torch).dtype == torch.float64
    with pytest.raises(TypeError, match="dtype: expected real"):
        fft.fftfreq(5, dtype=torch.int64, xp=torch)


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
@pytest.mark.parametrize("axes", [None, 0, -1, (0, 1), (1, 1), ()])
def test_shifts(name, axes):
    ours, theirs = getattr(fft, name), getattr(np.fft, name)
    x = np.arange(35).reshape(5, 7)
    np.testing.assert_array_equal(ours(x, axes), theirs(x, axes))
    np.testing.assert_array_equal(ours(x[0].tolist()), theirs(x[0]))
    with pytest.raises(np.exceptions.AxisError):
        ours(x, 2)
    torch = pytest.importorskip("torch")
    made = ours(torch.from_numpy(x), axes)
    assert isinstance(made, torch.Tensor)
    np.testing.assert_array_equal(made, theirs(x, axes))
    jax = pytest.importorskip("jax")
    made = jax.jit(lambda x: ours(x, axes))(x)
    np.testing.assert_array_equal(made, theirs(x, axes))


def test_tensors_and_gradients():
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(np.random.default_rng(5).standard_normal((4, 6)))
    for name in ("fftn", "rfftn", "hfft", "ihfftn", "rfft2"):
        made = getattr(fft, name)(x)
        assert isinstance(made, torch.Tensor), name
        torch.testing.assert_close(made, getattr(torch.fft, name)(x), rtol=1e-12, atol=1e-12)
        leaf = x.clone().requires_grad_()
        (ours,) = torch.autograd.grad((getattr(fft, name)(leaf).abs() ** 2).sum(), leaf)
        (theirs,) = torch.autograd.grad((getattr(torch.fft, name)(leaf).abs() ** 2).sum(), leaf)
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)
    z = fft.rfftn(x).requires_grad_()
    (ours,) = torch.autograd.grad((fft.irfftn(z, (4, 6)) ** 3).sum(), z)
    (theirs,) = torch.autograd.grad((torch.fft.irfftn(z, (4, 6)) ** 3).sum(), z)
    torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)
    with pytest.raises(TypeError, match="out: expected None"):
        fft.fft(x.clone().requires_grad_(), out=np.empty(3))
