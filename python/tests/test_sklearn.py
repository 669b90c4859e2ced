"""The estimators beside scikit-learn's own, and scikit-learn's checks."""

from __future__ import annotations

import pickle
import re
import runpy

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier as TheirClassifier
from sklearn.neural_network import MLPRegressor as TheirRegressor
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import fiedler
from conftest import ROOT, laplacian
from fiedler.sklearn import (
    PCA,
    LaplacianEncoder,
    MLPClassifier,
    MLPRegressor,
    SpectralClustering,
    SpectralEmbedding,
    TruncatedSVD,
)

ESTIMATORS = [
    PCA(),
    PCA(n_components=2, whiten=True, svd_solver="full"),
    PCA(n_components=0.9, svd_solver="covariance_eigh"),
    PCA(n_components=1, svd_solver="randomized", random_state=0),
    TruncatedSVD(),
    SpectralEmbedding(),
    SpectralEmbedding(n_components=1, affinity="rbf"),
    SpectralClustering(),
    SpectralClustering(affinity="nearest_neighbors", assign_labels="cluster_qr"),
    MLPClassifier(learning_rate_init=0.01),
    MLPRegressor(learning_rate_init=0.01, n_runs=2),
    MLPRegressor(learning_rate_init=0.01, early_stopping=True),
]


@parametrize_with_checks(ESTIMATORS)
# The checks' own data have constant features, duplicates and clusters apart, and array_api_compat may not be there.
@pytest.mark.filterwarnings("ignore::fiedler.UncertifiedWarning", "ignore:Graph is not fully connected")
@pytest.mark.filterwarnings("ignore:An ill-conditioned matrix", "ignore:Nearest neighbors affinity currently")
def test_scikit_learns_checks(estimator, check):
    if "cuda" in repr(check):
        pytest.skip("tensors on a GPU are not taken")
    check(estimator)


def test_laplacian_encoder(edge_lists):
    graphs = [edges.T for _, edges in edge_lists if edges.size]
    sizes = [int(graph.max()) + 1 for graph in graphs]
    rows = LaplacianEncoder(4, walk_steps=2).fit_transform(graphs)
    assert [row.shape for row in rows] == [(n, 6) for n in sizes]
    found = fiedler.encode(graphs, 4, walk_steps=2)
    np.testing.assert_array_equal(np.concatenate(rows), np.hstack([found.eigenvectors, found.random_walk]))
    most = max(sizes)
    moments = LaplacianEncoder(most, pooling="moments", walk_steps=1).fit_transform(graphs)
    heat = LaplacianEncoder(most, pooling="heat", times=(0.5, 2.0)).fit_transform(graphs)
    assert moments.dtype == heat.dtype == np.float32
    for i, graph in enumerate(graphs):
        a = laplacian(sizes[i], graph.T)
        traces = [np.trace(np.linalg.matrix_power(a, power)) / sizes[i] for power in (1, 2, 3, 4)]
        np.testing.assert_allclose(moments[i], [*traces, 0], atol=1e-5)
        values = np.linalg.eigvalsh(a)
        np.testing.assert_allclose(heat[i], [np.exp(-t * values).sum() for t in (0.5, 2.0)], rtol=1e-5)


def test_pooled_rows_do_not_depend_on_the_order_of_nodes(edge_lists):
    n, edges = edge_lists[-1]
    order = np.random.default_rng(3).permutation(n)
    encoder = LaplacianEncoder(6, pooling="heat", walk_steps=3)
    one, other = encoder.fit_transform([edges.T, order[edges].T])
    np.testing.assert_allclose(one, other, atol=1e-5)


def test_laplacian_encoder_is_an_estimator():
    encoder = LaplacianEncoder(3, pooling="moments", walk_steps=2)
    assert clone(encoder).get_params() == encoder.get_params()
    names = ["moment1", "moment2", "moment3", "moment4", "return1", "return2"]
    assert encoder.get_feature_names_out().tolist() == names
    assert LaplacianEncoder(pooling="heat", times=[1]).get_feature_names_out().tolist() == ["heat1"]
    assert repr(pickle.loads(pickle.dumps(encoder))) == repr(encoder)
    rings = [np.array([np.arange(n), (np.arange(n) + 1) % n]) for n in range(3, 23)]
    stars = [np.array([np.zeros(n, int), np.arange(1, n + 1)]) for n in range(3, 23)]
    graphs, y = rings + stars, [0] * 20 + [1] * 20
    model = make_pipeline(LaplacianEncoder(4, pooling="heat", walk_steps=2), LogisticRegression(C=1e3, max_iter=5000))
    search = GridSearchCV(model, {"laplacianencoder__k": [2, 4]}, cv=2).fit(graphs, y)
    assert search.best_score_ > 0.8
    assert encoder.transform([]).shape == (0, 6)
    assert LaplacianEncoder().transform([]) == []
    assert encoder.__sklearn_tags__().no_validation
    with pytest.raises(ValueError, match="pooling"):
        LaplacianEncoder(pooling="mean").fit(graphs)
    with pytest.raises(ValueError, match="names"):
        LaplacianEncoder().get_feature_names_out()


def test_moons_at_eigenvalues_that_numpy_loses():
    # By mpmath with 80 digits. The kernel's rounding, gamma times that of a squared distance, is below 1e-12.
    truth = {300: 9.4676705318090921e-17, 500: 4.9246319356846735e-26, 1000: 1.7248888269133173e-49}
    for gamma, _, _, value, agreement in runpy.run_path(str(ROOT / "examples" / "moons.py"))["rows"]():
        assert agreement == 1 or gamma < 30
        assert value == pytest.approx(truth.get(gamma, value), rel=1e-11)



@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_networks_are_as_good_as_scikit_learns_and_survive_pickling():
    x, sides = make_moons(300, noise=0.1, random_state=0)
    values = np.sin(2 * x[:, 0]) + x[:, 1]
    words = {"hidden_layer_sizes": (32,), "learning_rate_init": 0.01, "random_state": 1}
    for ours, theirs, y in (
        (MLPClassifier, TheirClassifier, np.array(["left", "right"])[sides]),
        (MLPRegressor, TheirRegressor, values),
    ):
        for solver in ("adam", "sgd"):
            found = ours(**words, solver=solver, batch_size=32, n_runs=3).fit(x[:200], y[:200])
            wanted = theirs(**words, solver=solver, batch_size=32).fit(x[:200], y[:200])
            assert found.score(x[200:], y[200:]) > wanted.score(x[200:], y[200:]) - 0.05
        again = pickle.loads(pickle.dumps(found))
        np.testing.assert_array_equal(again.predict(x), found.predict(x))
        one = clone(found).fit(x[:200], y[:200])
        np.testing.assert_array_equal(one.predict(x), found.predict(x))


def test_an_ensemble_is_the_mean_of_its_runs_and_takes_few_samples():
    x = np.random.default_rng(0).normal(size=(40, 2))
    found = MLPClassifier(max_iter=5, n_runs=3).fit(x, x[:, 0] > 0)
    alone = [found.fit_.predict(x.astype(np.float32), runs=[run]) for run in range(3)]
    np.testing.assert_allclose(found.predict_proba(x), np.mean(alone, axis=0), atol=1e-6)
    for samples in (1, 2, 5, 39):
        MLPRegressor(max_iter=2).fit(x[:samples], x[:samples, 0]).predict(x)
    assert MLPRegressor(early_stopping=True, max_iter=2).fit(x, x).predict(x).shape == (40, 2)


def test_probabilities_are_those_of_scikit_learns_metrics():
    x, y = make_moons(100, noise=0.2, random_state=0)
    found = MLPClassifier(max_iter=20, n_runs=3).fit(x, y)
    assert found.loss_ == found.loss_curve_[-1]
    shares = found.predict_proba(x)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=4 * np.finfo(float).eps)
    # It warns if a sum is not 1.
    assert log_loss(y, shares) == pytest.approx(-found.predict_log_proba(x)[np.arange(100), y].mean())
    far = MLPClassifier(max_iter=1, random_state=0).fit(x * 1e4, y).predict_log_proba(x * 1e6)
    assert np.isneginf(far).any() and not np.isnan(far).any()


@pytest.mark.parametrize("samples", [2, 3, 4, 5, 11])
def test_early_stopping_takes_few_samples(samples):
    x, y = np.random.default_rng(0).normal(size=(samples, 2)), np.arange(samples) % 2
    for estimator, share, held in ((MLPClassifier, 0.1, 1 + samples // 11), (MLPRegressor, 0.999, samples - 1)):
        found = estimator(early_stopping=True, validation_fraction=share, max_iter=2).fit(x, y)
        score = found.fit_.runs[0]
        assert score.get("validation.confusion", np.full((1, 1), held)).sum() == held
        assert found.predict(x).shape == (samples,)


def test_wrong_parameters_are_named_as_the_user_named_them():
    x, y = make_moons(20, random_state=0)
    for estimator in (MLPClassifier, MLPRegressor):
        with pytest.raises(TypeError, match=rf"^{estimator.__name__}\.__init__\(\) got an unexpected .* 'tol'$"):
            estimator(tol=1e-3)
        with pytest.raises(TypeError, match="sample_weight"):
            estimator().fit(x, y, sample_weight=np.ones(20))
        for name, value, said in (
            ("alpha", -1, "alpha: expected a number in [0, inf), found -1.0"),
            ("alpha", "a", "alpha: expected a number, found str"),
            ("learning_rate_init", 0, "learning_rate_init: expected a number in (0, inf), found 0.0"),
            ("momentum", 2, "momentum: expected a number in [0, 1), found 2.0"),
            ("beta_2", np.nan, "beta_2: expected a number in [0, 1), found nan"),
            ("batch_size", 0, f"batch_size: expected an integer from 1 to {2**63 - 1}, found 0"),
            ("batch_size", 2.5, "batch_size: expected an integer, found float"),
            ("max_iter", 0, f"max_iter: expected an integer from 1 to {2**63 - 1}, found 0"),
            ("n_runs", 0, f"n_runs: expected an integer from 1 to {2**63 - 1}, found 0"),
            ("hidden_layer_sizes", 0, f"hidden_layer_sizes: expected an integer from 1 to {2**63 - 1}, found 0"),
        ):
            with pytest.raises((TypeError, ValueError), match=f"^{re.escape(said)}$"):
                estimator(**{name: value}).fit(x, y)
        with pytest.raises(ValueError, match="early_stopping: expected at least 2 samples, found 1 sample"):
            estimator(early_stopping=True)._train(x[:1], y[:1])


def test_networks_know_the_names_of_features():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": np.arange(6.0), "b": np.ones(6), "c": np.ones(6)})
    # Without a warning of what is constant, which is for the caller to know.
    table["a"] /= 2
    found = MLPClassifier(max_iter=2).fit(table, [0, 1] * 3)
    assert list(found.feature_names_in_) == ["a", "b", "c"]


def test_networks_warn_of_inputs_that_number_the_samples():
    pandas = pytest.importorskip("pandas")
    x = np.random.default_rng(0).normal(size=(20, 2))
    drawn = pandas.DataFrame(x, columns=["a", "b"], index=[30, *range(19)])
    table = drawn.reset_index(drop=True)
    cases = [(table.reset_index(), "`index`"), (drawn.reset_index(), "`index`")]
    for index in (range(20), drawn.index, [3, *range(19)]):
        indexed = table.copy()
        indexed.insert(0, "Unnamed: 0", index)
        cases.append((indexed, "`Unnamed: 0`"))
    cases.append((np.column_stack([x, np.arange(20)]), "`x[:, 2]`"))
    for estimator in (MLPClassifier, MLPRegressor):
        for samples, name in cases:
            with pytest.warns(UserWarning) as caught:
                found = estimator(max_iter=1).fit(samples, [0, 1] * 10)
            said = [f"the input {name} numbers the samples; leave out what is no input"]
            assert [str(one.message) for one in caught] == said
            assert {one.filename for one in caught} == {__file__} and found.n_features_in_ == 3
        # Others that are called so, and what repeats.
        estimator(max_iter=1).fit(table.assign(index=x[:, 0]), [0, 1] * 10)
        estimator(max_iter=1).fit(table.assign(Index=[0.0, 1.0] * 10), [0, 1] * 10)
