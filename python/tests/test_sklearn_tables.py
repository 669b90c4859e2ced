"""Decompositions, embeddings and clusters with scikit-learn's names, beside its own."""

from __future__ import annotations

import inspect
import pickle
import types

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.sparse
import sklearn.cluster
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_moons, make_swiss_roll
from sklearn.decomposition import PCA as TheirPCA
from sklearn.decomposition import TruncatedSVD as TheirSVD
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import SpectralEmbedding as TheirEmbedding
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import fiedler
from fiedler import _decomposition
from fiedler.sklearn import PCA, SpectralClustering, SpectralEmbedding, TruncatedSVD


@pytest.mark.parametrize("ours", [PCA, SpectralClustering, SpectralEmbedding, TruncatedSVD])
def test_signatures_are_supersets_of_scikit_learns(ours):
    theirs = ours.__base__
    assert theirs.__module__.startswith("sklearn.") and theirs.__name__ == ours.__name__
    assert ours().get_params().items() >= theirs().get_params().items()
    for name, method in inspect.getmembers(theirs, callable):
        if isinstance(method, types.FunctionType) and (name == "__init__" or not name.startswith("_")):
            wanted, found = (inspect.signature(getattr(one, name)).parameters for one in (theirs, ours))
            assert [(w.name, w.default, w.kind) for w in found.values()][: len(wanted)] == [
                (w.name, w.default, w.kind) for w in wanted.values()
            ], name
    assert ours(device="cpu").device == "cpu" and clone(ours(device="cpu")).device == "cpu"
    with pytest.raises(TypeError, match="unexpected keyword argument 'nothing'"):
        ours(nothing=1)
    with pytest.raises(ValueError, match="parameter of " + ours.__name__):
        ours("three").fit(points())


@pytest.mark.parametrize(
    ("estimator", "name", "sparse"),
    [
        (PCA(3, svd_solver="full"), "pca", False),
        (PCA(3, svd_solver="covariance_eigh"), "pca", False),
        (PCA(3, svd_solver="covariance_eigh"), "eigh", True),
        (PCA(3, svd_solver="randomized", iterated_power=4), "svd_truncated", False),
        (TruncatedSVD(2), "svd_truncated", False),
        (TruncatedSVD(2), "eigsh", True),
    ],
)
def test_decompositions_are_not_scikit_learns(estimator, name, sparse, monkeypatch):
    calls = []
    home = _decomposition._fiedler if name == "pca" else _decomposition.linalg
    own = getattr(home, name)
    monkeypatch.setattr(home, name, lambda *a, **k: calls.append(1) or own(*a, **k))
    x = points()
    estimator.fit_transform(scipy.sparse.csr_array(x) if sparse else x)
    assert calls == [1]


def test_both_precisions_are_kept():
    tags = PCA().__sklearn_tags__()
    assert tags.transformer_tags.preserves_dtype == ["float64", "float32"]
    for affinity, pairwise in (("rbf", False), ("precomputed", True)):
        assert SpectralEmbedding(affinity=affinity).__sklearn_tags__().input_tags.pairwise is pairwise


def points(dtype=np.float64, shape=(60, 8)):
    rng = np.random.default_rng(0)
    return (rng.standard_normal(shape) * np.arange(1, shape[1] + 1) + 3).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh", "randomized"])
@pytest.mark.parametrize("k", [None, 3, 0.8])
def test_pca(dtype, whiten, solver, k):
    if solver == "randomized" and k != 3:
        k = 5
    x = points(dtype)
    ours = PCA(k, whiten=whiten, svd_solver=solver).fit(x)
    theirs = TheirPCA(ours.n_components_, whiten=whiten, svd_solver="full").fit(x.astype(np.float64))
    tolerance = {"rtol": 1e-3 if dtype == np.float32 else 1e-9, "atol": 1e-4 if dtype == np.float32 else 1e-9}
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_", "components_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), **tolerance, err_msg=name)
        assert getattr(ours, name).dtype == dtype, name
    np.testing.assert_allclose(ours.noise_variance_, theirs.noise_variance_, **tolerance)
    made = ours.transform(x)
    assert made.dtype == dtype
    np.testing.assert_allclose(made, theirs.transform(x.astype(np.float64)), **tolerance)
    np.testing.assert_allclose(ours.inverse_transform(made), theirs.inverse_transform(made), **tolerance)
    np.testing.assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    if isinstance(k, float):
        assert ours.n_components_ == TheirPCA(k, svd_solver="full").fit(x).n_components_


@pytest.mark.parametrize(("shape", "k"), [((525, 61), 7), ((30, 601), 2)])
def test_pca_of_all_components_where_they_take_less_time(shape, k, monkeypatch):
    monkeypatch.setattr("fiedler.linalg.svd_truncated", lambda *args, **words: pytest.fail("it was called"))
    x = np.random.default_rng(5).standard_normal(shape) * np.linspace(3, 1, shape[1])
    made, exact = PCA(k).fit(x), TheirPCA(k, svd_solver="full").fit(x)
    named = PCA(k, svd_solver="randomized").fit(x)
    np.testing.assert_array_equal(named.components_, made.components_)
    assert made._fit_svd_solver == "randomized"
    # Residuals of 1e-8 are errors of their squares in the variances, and of their quotients by the gaps in the vectors.
    np.testing.assert_allclose(made.explained_variance_, exact.explained_variance_, rtol=1e-11)
    np.testing.assert_allclose(made.components_, exact.components_, atol=1e-5)
    np.testing.assert_allclose(made.noise_variance_, exact.noise_variance_, rtol=1e-9)


@pytest.mark.parametrize("shape", [(5, 9), (9, 5), (2, 1)])
def test_pca_of_few_samples(shape):
    x = points(shape=shape)
    ours, theirs = PCA().fit(x), TheirPCA().fit(x)
    assert ours.components_.shape == theirs.components_.shape
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, atol=1e-9)
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(x)), x, atol=1e-9)


def test_pca_in_a_search_and_with_bad_parameters():
    x = points()
    y = x[:, 7] > 3
    search = GridSearchCV(make_pipeline(PCA(), LogisticRegression()), {"pca__n_components": [1, 4]}).fit(x, y)
    assert search.best_score_ > 0.8
    for wrong in (9, 1.5, 1.0, "all", -1):
        with pytest.raises(ValueError, match="n_components"):
            PCA(wrong).fit(x)
    with pytest.raises(ValueError, match="svd_solver"):
        PCA(svd_solver="fast").fit(x)
    copied = pickle.loads(pickle.dumps(PCA(2).fit(x)))
    np.testing.assert_array_equal(copied.transform(x), PCA(2).fit(x).transform(x))


def test_pca_has_scikit_learns_methods_and_words():
    x = load_iris().data
    for words in (
        {"n_components": 2},
        {"n_components": 3, "whiten": True},
        {"n_components": "mle"},
        {"n_components": 0},
        {"n_components": 0.95, "svd_solver": "full"},
        {"n_components": 2, "svd_solver": "arpack", "tol": 1e-9},
        {"n_components": 2, "svd_solver": "randomized", "iterated_power": 20, "n_oversamples": 2, "random_state": 1},
        {"n_components": 2, "power_iteration_normalizer": "QR", "copy": False},
    ):
        ours, theirs = PCA(**words).fit(x.copy()), TheirPCA(**words).fit(x.copy())
        assert (ours.n_components_, ours.n_samples_) == (theirs.n_components_, 150)
        for name in ("get_covariance", "get_precision"):
            np.testing.assert_allclose(getattr(ours, name)(), getattr(theirs, name)(), rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(ours.score_samples(x), theirs.score_samples(x), rtol=1e-7)
        assert ours.score(x) == pytest.approx(theirs.score(x), rel=1e-9)
        np.testing.assert_allclose(ours.fit_transform(x.copy()), theirs.transform(x), atol=1e-9)
    with pytest.raises(ValueError, match="'mle' is only supported if n_samples >= n_features"):
        PCA("mle").fit(x.T)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("solver", ["auto", "arpack", "covariance_eigh"])
def test_pca_of_sparse_matrices(solver, dtype):
    x = scipy.sparse.random_array((80, 30), density=0.2, rng=np.random.default_rng(0), format="csr", dtype=dtype)
    ours, theirs = PCA(3, svd_solver=solver).fit(x), TheirPCA(3, svd_solver="full").fit(x.toarray().astype(float))
    tolerance = {"rtol": 1e-3, "atol": 1e-4} if dtype == np.float32 else {"rtol": 1e-7, "atol": 1e-10}
    for name in ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), **tolerance, err_msg=name)
    np.testing.assert_allclose(ours.noise_variance_, theirs.noise_variance_, **tolerance)
    np.testing.assert_allclose(ours.transform(x), theirs.transform(x.toarray()), **tolerance)
    with pytest.raises(TypeError, match="sparse inputs"):
        PCA(3, svd_solver="full").fit(x)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("k", [2, 8, 12, 0.7])
def test_pca_of_fewer_samples_than_features_averages_all_noise_of_the_covariances(k, sparse):
    x = points(shape=(13, 17))
    x = scipy.sparse.csr_array(x) if sparse else x
    ours, theirs = [kind(k, svd_solver="covariance_eigh").fit(x) for kind in (PCA, TheirPCA)]
    assert ours.n_components_ == theirs.n_components_
    np.testing.assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-9, atol=1e-12)


def test_pca_keeps_small_variances_beside_a_large_mean():
    # Scikit-learn loses them: the square of the mean has more digits than float32.
    x = (points(shape=(500, 8)) + 3e4).astype(np.float32)
    truth = TheirPCA(svd_solver="full").fit(x.astype(np.float64)).explained_variance_
    np.testing.assert_allclose(PCA(svd_solver="covariance_eigh").fit(x).explained_variance_, truth, rtol=1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("algorithm", ["arpack", "randomized"])
@pytest.mark.parametrize("shape", [(300, 90), (70, 200)])
def test_truncated_svd(shape, algorithm, sparse, dtype):
    x = scipy.sparse.random_array(shape, density=0.1, rng=np.random.default_rng(2), format="csr", dtype=dtype)
    dense = x.toarray().astype(np.float64)
    ours = TruncatedSVD(5, algorithm=algorithm, n_iter=30, device="cpu")
    made = ours.fit_transform(x if sparse else x.toarray())
    theirs = TheirSVD(5, algorithm="arpack").fit(dense)
    tolerance = {"rtol": 1e-3, "atol": 1e-3} if dtype == np.float32 else {"rtol": 1e-6, "atol": 1e-7}
    for name in ("components_", "singular_values_", "explained_variance_", "explained_variance_ratio_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), **tolerance, err_msg=name)
        assert getattr(ours, name).dtype == dtype, name
    np.testing.assert_allclose(made, theirs.transform(dense), **tolerance)
    np.testing.assert_allclose(ours.inverse_transform(made), theirs.inverse_transform(made), **tolerance)


def test_truncated_svd_of_a_lower_rank():
    for shape in ((120, 60), (60, 120)):
        x = scipy.sparse.lil_array(shape)
        x[:4, :4] = np.diag([4.0, 3.0, 2.0, 1.0])
        found = TruncatedSVD(6).fit(x)
        np.testing.assert_allclose(found.singular_values_, [4, 3, 2, 1, 0, 0], atol=1e-7)
        np.testing.assert_allclose(found.components_ @ found.components_.T, np.eye(6), atol=1e-10)
    for words in ({"n_components": 61}, {"n_components": 60, "algorithm": "arpack"}):
        with pytest.raises(ValueError, match="n_components|0 < k < "):
            TruncatedSVD(**words).fit(np.eye(70, 60))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("affinity", ["nearest_neighbors", "rbf", "precomputed", "precomputed_nearest_neighbors"])
@pytest.mark.parametrize("drop_first", [True, False])
def test_spectral_embedding(affinity, dtype, drop_first):
    x, _ = make_swiss_roll(120, random_state=0)
    x = (x / 10).astype(dtype)
    if affinity == "precomputed":
        x = rbf_kernel(x)
    if affinity == "precomputed_nearest_neighbors":
        x = np.linalg.norm(x[:, None] - x, axis=-1)
    ours = SpectralEmbedding(3, affinity=affinity, n_neighbors=12, drop_first=drop_first)
    found = ours.fit_transform(x)
    # The same matrix, in double precision, by LAPACK. Scikit-learn's option stands for the affinities alone.
    theirs = TheirEmbedding(3, affinity=affinity, n_neighbors=12, random_state=0).fit(x.astype(np.float64))
    w, other = (np.asarray(scipy.sparse.coo_array(e.affinity_matrix_).todense(), float) for e in (ours, theirs))
    np.testing.assert_allclose(w, other, atol=1e-6)
    np.fill_diagonal(w, 0)
    roots = np.sqrt(w.sum(axis=1))
    _, vectors = np.linalg.eigh(np.eye(len(w)) - w / roots[:, None] / roots)
    truth = vectors[:, 1:4] if drop_first else vectors[:, :3]
    truth = truth / roots[:, None]
    truth *= np.sign(truth[np.abs(truth).argmax(axis=0), np.arange(3)])
    scale = np.abs(truth).max()
    np.testing.assert_allclose(found, truth, atol=scale * (1e-3 if dtype == np.float32 else 1e-5))
    assert (found.dtype, found.shape) == (dtype, (120, 3))
    if drop_first:
        np.testing.assert_allclose(found, theirs.embedding_, atol=1e-3 * scale)


@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
def test_spectral_embedding_of_sparse_affinities_and_callables():
    w = scipy.sparse.random_array((40, 40), density=0.3, rng=np.random.default_rng(1))
    w = (w + w.T).tocsr()
    sparse = SpectralEmbedding(affinity="precomputed").fit_transform(w)
    np.testing.assert_allclose(SpectralEmbedding(affinity="precomputed").fit_transform(w.toarray()), sparse)
    x = points()
    np.testing.assert_allclose(SpectralEmbedding(affinity="precomputed").fit_transform(w * 4), sparse / 2)
    called = SpectralEmbedding(affinity=lambda x: rbf_kernel(x, gamma=0.01)).fit(x)
    plain = SpectralEmbedding(affinity="rbf", gamma=0.01).fit(x)
    np.testing.assert_array_equal(called.embedding_, plain.embedding_)
    assert plain.gamma_ == 0.01
    far = SpectralEmbedding(affinity="rbf", gamma=1e3).fit(x)
    assert np.all(np.isfinite(far.embedding_))
    for options, words in (({"affinity": "linear"}, "affinity"), ({"n_components": 60}, "n_components")):
        with pytest.raises(ValueError, match=words):
            SpectralEmbedding(**options).fit(x)
    with pytest.raises(fiedler.DomainError):
        SpectralEmbedding(affinity="precomputed").fit(-w)


@pytest.mark.parametrize("labels", ["kmeans", "discretize", "cluster_qr"])
@pytest.mark.parametrize(
    "words",
    [
        {"gamma": 20.0},
        {"affinity": "nearest_neighbors", "n_neighbors": 8},
        {"affinity": "laplacian", "gamma": 5.0},
        {"affinity": "precomputed"},
        {"affinity": "precomputed_nearest_neighbors", "n_neighbors": 8},
        {"affinity": lambda x, y, scale: np.exp(-scale * np.square(x - y).sum()), "kernel_params": {"scale": 20.0}},
        {"gamma": 20.0, "n_components": 3, "eigen_solver": "lobpcg", "n_jobs": 1},
    ],
)
@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
def test_spectral_clustering(words, labels):
    x, sides = make_moons(150, noise=0.05, random_state=0)
    if words.get("affinity") == "precomputed":
        x = rbf_kernel(x, gamma=20.0)
    elif words.get("affinity") == "precomputed_nearest_neighbors":
        x = np.linalg.norm(x[:, None] - x, axis=-1)
    words = {"n_clusters": 2, "assign_labels": labels, "random_state": 0, **words}
    ours, theirs = SpectralClustering(**words).fit(x), sklearn.cluster.SpectralClustering(**words).fit(x)
    one, other = (scipy.sparse.coo_array(e.affinity_matrix_).toarray() for e in (ours, theirs))
    np.testing.assert_array_equal(one, other)
    # Several bases of one null space divide it in as many ways.
    if scipy.sparse.csgraph.connected_components(one)[0] == 1:
        assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1
    if words.get("affinity") == "nearest_neighbors":
        assert adjusted_rand_score(ours.labels_, sides) == 1


def test_spectral_clustering_of_signs_components_and_squares(capsys):
    x = np.random.default_rng(0).normal(scale=0.6, size=(40, 3)) + np.repeat([[1.0], [4.0]], 20, axis=0)
    words = {"n_clusters": 2, "affinity": "linear", "random_state": 0}
    ours, theirs = SpectralClustering(**words).fit(x), sklearn.cluster.SpectralClustering(**words)
    assert ours.affinity_matrix_.min() < 0 and adjusted_rand_score(ours.labels_, theirs.fit(x).labels_) == 1
    blobs, sides = make_blobs(60, centers=[[0, 0], [100, 100]], random_state=0)
    with pytest.warns(UserWarning, match="not fully connected"):
        found = SpectralClustering(2, affinity="nearest_neighbors", verbose=True, random_state=0).fit(blobs)
    assert adjusted_rand_score(found.labels_, sides) == 1
    assert "Computing label assignment using kmeans" in capsys.readouterr().out
    with pytest.warns(UserWarning, match="affinity='precomputed'"):
        SpectralClustering(2).fit(np.eye(6) + 1)
    copied = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(copied.labels_, found.labels_)
    with pytest.raises(fiedler.DomainError):
        SpectralClustering(2, affinity="precomputed").fit(-rbf_kernel(x))
