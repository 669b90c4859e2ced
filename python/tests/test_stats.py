"""fiedler.stats and fiedler.random beside NumPy and SciPy."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import scipy.spatial.distance
import scipy.stats

import fiedler
from fiedler import random, stats
from gates import layouts

SHAPES = [((20,), None), ((20,), 0), ((3, 20), 1), ((20, 3), 0), ((2, 20, 3), 1), ((2, 20, 3), -1), ((2, 3), None)]


def sample(shape, dtype=np.float64):
    return np.random.default_rng(1).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("ddof", [0, 1])
def test_describe(dtype, shape, axis, ddof):
    x = sample(shape, dtype)
    found = stats.describe(x, axis, ddof=ddof)
    wide = x.astype(np.float64)
    tolerance = {"rtol": 200 * np.finfo(dtype).eps, "atol": 200 * np.finfo(dtype).eps}
    np.testing.assert_allclose(found.mean, wide.mean(axis), **tolerance)
    np.testing.assert_allclose(found.variance, wide.var(axis, ddof=ddof), **tolerance)
    np.testing.assert_array_equal(found.min, x.min(axis))
    np.testing.assert_array_equal(found.max, x.max(axis))
    np.testing.assert_allclose(found.skewness, scipy.stats.skew(wide, axis), **tolerance)
    np.testing.assert_allclose(found.kurtosis, scipy.stats.kurtosis(wide, axis), **tolerance)
    assert np.all(found.count == (x.size if axis is None else shape[axis]))
    assert found.mean.dtype == dtype


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_quantile(shape, axis):
    x = sample(shape)
    for q in (0.3, [0.0, 0.25, 1.0], [[0.1, 0.2], [0.3, 0.9]]):
        np.testing.assert_allclose(stats.quantile(x, q, axis), np.quantile(x, q, axis), rtol=1e-12)
    with pytest.raises(fiedler.DomainError):
        stats.quantile(x, 1.5, axis)


@pytest.mark.parametrize("range_", [None, (-1.0, 0.5)])
def test_histogram(range_):
    x = sample((4, 50))
    x[1, 3] = np.nan
    found = stats.histogram(x, 7, range_ or (-3.0, 3.0), axis=1)
    for i, row in enumerate(x):
        counts, edges = np.histogram(row[~np.isnan(row)], 7, range_ or (-3.0, 3.0))
        np.testing.assert_array_equal(found.counts[i], counts)
        np.testing.assert_allclose(found.edges, edges)
        low, high = edges[0], edges[-1]
        assert (found.below[i], found.above[i]) == ((row < low).sum(), (row > high).sum())
        assert found.nan[i] == np.isnan(row).sum()
    whole = stats.histogram(sample((30,)), 5)
    np.testing.assert_array_equal(whole.counts, np.histogram(sample((30,)), 5)[0])


def test_nan_is_propagated_or_omitted():
    x = np.array([[1.0, np.nan, 3.0], [1.0, 2.0, 6.0]])
    assert np.isnan(stats.describe(x, 1).mean).tolist() == [True, False]
    np.testing.assert_allclose(stats.describe(x, 1, nan="omit").mean, [2.0, 3.0])
    np.testing.assert_allclose(stats.quantile(x, 0.5, 1, nan="omit"), [2.0, 2.0])
    with pytest.raises(ValueError, match="nan"):
        stats.describe(x, nan="drop")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_covariances(dtype):
    x = sample((5, 30), dtype)
    tolerance = {"rtol": 100 * np.finfo(dtype).eps, "atol": 100 * np.finfo(dtype).eps}
    wide = x.astype(float)
    for rowvar in (True, False):
        np.testing.assert_allclose(stats.cov(x, rowvar=rowvar), np.cov(wide, rowvar=rowvar), **tolerance)
        np.testing.assert_allclose(stats.corrcoef(x, rowvar=rowvar), np.corrcoef(wide, rowvar=rowvar), **tolerance)
    np.testing.assert_allclose(stats.cov(x[0]), np.cov(x[0].astype(float)), **tolerance)
    batch = stats.cov(np.stack([x, 2 * x]))
    np.testing.assert_allclose(batch[1], 4 * batch[0], **tolerance)


DIVERGENCES = {
    "kl": lambda p, q: scipy.stats.entropy(p, q),
    "js": lambda p, q: scipy.spatial.distance.jensenshannon(p, q) ** 2,
    "js-distance": scipy.spatial.distance.jensenshannon,
    "tv": lambda p, q: np.abs(p - q).sum() / 2,
    "hellinger": lambda p, q: np.linalg.norm(np.sqrt(p) - np.sqrt(q)) / np.sqrt(2),
    "chi-square": lambda p, q: ((p - q) ** 2 / q).sum(),
}


@pytest.mark.parametrize("kind", DIVERGENCES)
def test_divergences(kind):
    rng = np.random.default_rng(2)
    p, q = rng.random((2, 4, 9)) + 0.1
    p, q = p / p.sum(axis=1, keepdims=True), q / q.sum(axis=1, keepdims=True)
    truth = [DIVERGENCES[kind](a, b) for a, b in zip(p, q)]
    np.testing.assert_allclose(stats.divergence(p, q, kind), truth, rtol=1e-9)
    np.testing.assert_allclose(stats.divergence(p[0], q[0], kind), truth[0], rtol=1e-9)
    np.testing.assert_allclose(stats.divergence(5 * p, q, kind, normalize=True), truth, rtol=1e-9)
    every = [[DIVERGENCES[kind](a, b) for b in p] for a in p]
    np.testing.assert_allclose(stats.divergence(p, kind=kind), every, rtol=1e-9, atol=1e-12)
    one = [DIVERGENCES[kind](a, q[0]) for a in p]
    np.testing.assert_allclose(stats.divergence(p, q[:1], kind), one, rtol=1e-9)


def test_divergences_of_bad_input():
    half = np.full(2, 0.5)
    truth = scipy.stats.entropy(half, [0.25, 0.75], 2)
    assert stats.divergence(half, [0.25, 0.75], "kl", base=2.0) == pytest.approx(truth)
    with pytest.raises(fiedler.DomainError):
        stats.divergence(half * 3, half)
    with pytest.raises(fiedler.DomainError, match="known|expected"):
        stats.divergence(half, half, "euclid")
    with pytest.raises(fiedler.ShapeError, match="second histogram"):
        stats.divergence(half)
    with pytest.raises(fiedler.ShapeError, match="2 bins"):
        stats.divergence(half, np.ones(3) / 3)
    with pytest.raises(fiedler.DomainError, match="base"):
        stats.divergence(half, half, base=1.0)


def test_every_layout_gives_the_same_bits():
    x = sample((3, 8))
    truth = stats.describe(x, 0)
    for name, made in layouts(x).items():
        again = stats.describe(made, 0)
        assert all(one.tobytes() == other.tobytes() for one, other in zip(again, truth)), name
        assert stats.cov(made).tobytes() == stats.cov(x).tobytes(), name


def test_streams():
    def draw():
        stream = random.Stream(3, "test")
        return stream.normal((100, 50)), stream.uniform(10, 2.0, 3.0), stream.bernoulli((500,), 0.25), stream.words(4)

    normal, uniform, ones, words = first = draw()
    assert all(one.tobytes() == other.tobytes() for one, other in zip(first, draw()))
    assert scipy.stats.kstest(normal.ravel(), "norm").pvalue > 1e-6
    assert np.all((uniform >= 2) & (uniform < 3))
    assert 60 < ones.sum() < 190
    assert words.dtype == np.uint32
    stream = random.Stream(3, "test")
    start = stream.position
    stream.skip(5)
    assert stream.position == start + 5
    assert not np.array_equal(stream.substream(1).words(4), stream.substream(2).words(4))
    assert repr(stream.substream(4)) == "fiedler.random.Stream(3, 'test/4'), position 0"
    assert random.Stream(3, "other").words(1) != words[0]
    assert stream.normal(3, dtype=np.float64).dtype == np.float64
    with pytest.raises(TypeError, match="float32 or float64"):
        stream.uniform(3, dtype=np.int32)
    with pytest.raises(fiedler.DomainError):
        stream.uniform((2**40, 2**40))




def test_a_pickled_stream_goes_on_where_it_was():
    for stream in (random.Stream(3, "test"), random.Stream(3, "a/b", device="cpu").substream(4).substream(2**64 - 1)):
        stream.normal((5, 3))
        stream.skip(2**70 + 3)
        copied = pickle.loads(pickle.dumps(stream))
        other = copy.deepcopy(stream)
        assert (repr(copied), copied.position) == (repr(stream), stream.position)
        for draw in ("uniform", "normal", "bernoulli", "words"):
            truth = getattr(stream, draw)(7)
            np.testing.assert_array_equal(getattr(copied, draw)(7), truth)
            np.testing.assert_array_equal(getattr(other, draw)(7), truth)
        np.testing.assert_array_equal(copied.substream(1).words(3), stream.substream(1).words(3))
