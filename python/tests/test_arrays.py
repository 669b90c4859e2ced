"""Arrays of other libraries are read where they are, and results are of the library of the input."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

import fiedler
import standins
from conftest import script
from fiedler import _arrays, fft, linalg, stats


@pytest.fixture
def torch(monkeypatch):
    made = standins.torch()
    monkeypatch.setitem(sys.modules, "torch", made)
    return made


def test_what_the_native_half_reads_is_the_memory_of_the_input():
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 4))
    fixed = x.view()
    fixed.flags.writeable = False
    for array in (x, fixed, standins.Tensor(x), x.view(np.ndarray)):
        read, _ = _arrays.as_numpy(array)
        batch, _ = _arrays.matrices(_arrays.prepared(read, "a"), "a")
        assert batch.ctypes.data == x.ctypes.data
        three, _ = _arrays.along(_arrays.prepared(read, "a"), -1, "axis")
        assert three.ctypes.data == x.ctypes.data
    assert _arrays.prepared(x.astype(np.float32), "a").dtype == np.float32


def test_the_native_half_refuses_what_it_would_read_wrongly():
    native = fiedler.Context(device="cpu")._native
    x = np.zeros((2, 3, 3))
    unaligned = np.zeros(x.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(x.shape)
    for wrong in (x[:, ::2, ::2], np.asfortranarray(x), unaligned):
        with pytest.raises(ValueError, match="C order"):
            fiedler._fiedler.eigh(native, wrong, False, None, "smallest", True)
    for wrong in (x.astype(np.int64), x.astype(">f8"), [[1.0]], None):
        with pytest.raises(TypeError, match="f32 or f64"):
            fiedler._fiedler.eigh(native, wrong, False, None, "smallest", True)
    with pytest.raises(ValueError, match="two axes"):
        fiedler._fiedler.eigh(native, x[0, 0], False, None, "smallest", True)


def test_tensors(torch):
    x = np.random.default_rng(1).standard_normal((3, 4, 4)).astype(np.float32)
    t = standins.Tensor(x)
    for found, truth in (
        (linalg.eigh(t), linalg.eigh(x)),
        (linalg.svd(t), linalg.svd(x)),
        (linalg.svd_truncated(t, 2), linalg.svd_truncated(x, 2)),
        ([linalg.eigvalsh(t), linalg.svdvals(t)], [linalg.eigvalsh(x), linalg.svdvals(x)]),
        ([linalg.matmul(t, t), fft.fft(t), fft.rfft(t)], [linalg.matmul(x, x), fft.fft(x), fft.rfft(x)]),
        (stats.describe(t, 0), stats.describe(x, 0)),
        ([stats.quantile(t, 0.5, 0), stats.cov(t[0])], [stats.quantile(x, 0.5, 0), stats.cov(x[0])]),
    ):
        for one, other in zip(found, truth, strict=True):
            assert isinstance(one, standins.Tensor)
            np.testing.assert_array_equal(one.array, other)


def test_tensors_on_devices_and_with_gradients():
    x = np.eye(2, dtype=np.float32)
    for call in (linalg.eigh, linalg.svd, fft.fft, stats.describe):
        with pytest.raises(TypeError, match=r"\.cpu\(\)"):
            call(standins.Tensor(x, "cuda:0"))
        with pytest.raises(TypeError, match=r"\.detach\(\)"):
            call(standins.Tensor(x, requires_grad=True))


def test_arrays_of_jax(monkeypatch):
    class Array(standins.Tensor):
        __module__ = "jaxlib"

    jax = types.ModuleType("jax.numpy")
    jax.asarray = Array
    monkeypatch.setitem(sys.modules, "jax.numpy", jax)
    found = linalg.eigh(Array(np.eye(3)))
    assert all(isinstance(part, Array) for part in found)


def test_arrays_of_a_library_without_a_way_back():
    xp = pytest.importorskip("array_api_strict")
    x = np.array([[2.0, 1.0], [1.0, 2.0]])
    w, v = linalg.eigh(xp.asarray(x))
    np.testing.assert_array_equal(w, linalg.eigh(x).eigenvalues)
    assert isinstance(v, np.ndarray)
    np.testing.assert_array_equal(fft.fft(xp.asarray(x)), fft.fft(x))
    edges = xp.asarray(np.array([[0, 1], [1, 2]]))
    assert fiedler.encode(edges, 2).eigenvectors.shape == (3, 2)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_whatever_numpy_takes():
    class Interface:
        def __init__(self, x):
            self.kept = x
            self.__array_interface__ = x.__array_interface__

    x = np.array([[2.0, 1.0], [1.0, 2.0]])
    truth = linalg.eigvalsh(x)
    for made in (Interface(x), memoryview(x), x.tolist(), np.matrix(x)):
        np.testing.assert_array_equal(linalg.eigvalsh(made), truth)
    assert type(linalg.eigvalsh(np.matrix(x))) is np.ndarray


def test_masked_elements_are_not_read():
    masked = np.ma.masked_array(np.eye(3), mask=np.eye(3, dtype=bool))
    edges = np.ma.masked_array([[0, 1], [1, 2]], mask=[[False, True], [False, False]])
    for call in (
        lambda: linalg.eigh(masked),
        lambda: linalg.matmul(np.eye(3), masked),
        lambda: fft.fft(masked),
        lambda: stats.describe(masked),
        lambda: fiedler.features.extract(masked, "stats"),
        lambda: fiedler.train.Trainer().fit(masked, [0, 1, 2]),
        lambda: fiedler.encode(edges),
        lambda: fiedler.GraphBatch.from_edges(edges),
        lambda: fiedler.GraphBatch.from_edge_index([[0], [1]], weight=np.ma.masked_array([1.0], mask=True)),
    ):
        with pytest.raises(fiedler.DomainError, match=r"without masked elements, found [13] of them; use numpy\.ma"):
            call()
    plain = np.ma.masked_array(np.eye(3), mask=False)
    np.testing.assert_array_equal(linalg.eigvalsh(plain), [1, 1, 1])
    np.testing.assert_array_equal(stats.describe(masked.filled(0.0)).max, 0)


MEMORY = """
import resource
import numpy as np
import fiedler

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10

context = fiedler.Context(device="cpu")
n = 1 << 26
x = np.ones((1 << 10, n >> 10), np.float32)  # 256 MiB
small = x[:2].copy()
describe = lambda a: fiedler.stats.describe(a, 1, context=context)
matmul = lambda a: fiedler.linalg.matmul(a, a[:1].T, context=context)
for call in (describe, matmul):
    call(small)
    before = peak()
    call(x)
    print((peak() - before) / x.nbytes < 0.1)
fiedler.fft.fft(small.astype(np.complex64), context=context)
z = np.ones((1 << 10, n >> 11), np.complex64)
before = peak()
made = fiedler.fft.fft(z, context=context)
print((peak() - before) / made.nbytes < 1.2, made.nbytes == z.nbytes)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ru_maxrss is in other units")
def test_nothing_is_copied():
    assert script(MEMORY).split() == ["True"] * 4
