"""Training, sampling and prediction."""

import errno
import pickle
import warnings

import numpy as np
import pytest

import fiedler
from conftest import command
from fiedler import train

X = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
Y = (X[:, 0] + X[:, 1] > 0).astype(int)


def test_a_run_is_a_function_of_its_row() -> None:
    trainer = train.Trainer(hidden=[np.int64(8)], optimizer={"kind": "adam", "lr": np.float32(0.01)}, epochs=5)
    both = trainer.fit(X, Y, runs=2, seed=7)
    alone = trainer.fit(X, Y, runs=1, seed=8, context=fiedler.Context("cpu", threads=1))
    assert [run["seed"] for run in both.runs] == [7, 8] and len(both) == 2
    for name, tensor in alone.weights(0).items():
        assert tensor.tobytes() == both.weights(1)[name].tobytes(), name
    assert both.runs[1]["test.confusion"].sum() == 40


def test_labels_are_classes_and_a_network_learns_them(tmp_path) -> None:
    words = np.where(Y == 1, "up", "down")
    fit = train.Trainer(hidden=[16], optimizer={"kind": "adam", "lr": 0.02}, epochs=60).fit(X, words, runs=3)
    assert list(fit.classes) == ["down", "up"]
    # 40 test samples: a network that learned nothing is right in about half of them.
    assert fit.metric("test.accuracy").min() > 0.8
    fit.save(tmp_path / "w.safetensors")
    model = train.Model(tmp_path / "w.safetensors")
    shares = model.predict(X)
    assert fit.predict(X).tobytes() == shares.tobytes()
    assert pickle.loads(pickle.dumps(fit)).predict(X).tobytes() == shares.tobytes()
    assert set(fit.runs[0]) >= {"test.auc", "test.log_loss"} and "test.r2" not in fit.runs[0]
    assert model.classes == ["down", "up"] and shares.shape == (200, 2)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-6)
    assert ((shares[:, 1] > 0.5) == (Y == 1)).mean() > 0.9


def test_values_are_fitted_by_mean_squares() -> None:
    target = X @ np.array([1.0, -2.0, 0.5], np.float32)
    fit = train.Trainer(optimizer={"kind": "adam", "lr": 0.05}, epochs=200, batch=140).fit(X, target)
    assert fit.classes is None and fit.metric("test.loss")[0] < 1e-3
    assert fit.metric("test.r2")[0] > 0.99 and fit.metric("test.mae")[0] <= fit.metric("test.rmse")[0]
    assert repr(fit) == "fiedler.train.Fit of 1 run, 1 of which ended well"


def test_a_grid_trains_every_combination() -> None:
    fit = train.Trainer(hidden=[4], epochs=2).fit(X, Y, runs=2, grid={"lr": [0.1, 0.01], "weight_decay": [0.0, 0.1]})
    assert len({(run["seed"], run["hyper"]["lr"], run["hyper"]["weight_decay"]) for run in fit.runs}) == 8


def test_chains_have_a_bound_at_every_temperature() -> None:
    chains = train.Sgld(loss="bounded", betas=[0, 10, 100], epochs=3, chains=2, batch=50).sample(X, Y)
    assert chains.metric("train.loss").shape == (2, 3)
    bounds = chains.bounds()
    assert [bound.beta for bound in bounds] == [0, 10, 100]
    assert all(bound.training <= bound.expected <= 1 for bound in bounds)
    assert list(chains.weights(1, 2)) == ["layers.0.weight", "layers.0.bias"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_pickled_training_is_the_same(tmp_path, dtype) -> None:
    trainer = train.Trainer(hidden=[4], norm="batch", epochs=2)
    fit = trainer.fit(X.astype(dtype), np.where(Y == 1, "up", "down"), runs=3)
    copied = pickle.loads(pickle.dumps(fit))
    copied = pickle.loads(pickle.dumps(copied))
    assert (len(copied), copied.best_run, copied.why, repr(copied)) == (3, fit.best_run, fit.why, repr(fit))
    assert copied.classes.tolist() == ["down", "up"]
    assert copied.metric("test.accuracy").tolist() == fit.metric("test.accuracy").tolist()
    for run in range(3):
        one, other = copied.weights(run), fit.weights(run)
        assert list(one) == list(other)
        for name, tensor in one.items():
            assert (tensor.dtype, tensor.shape, tensor.tobytes()) == (dtype, other[name].shape, other[name].tobytes())
    copied.weights(0)["layers.0.bias"][:] = 7
    for made, name in ((fit, "fit"), (copied, "copied")):
        made.save(tmp_path / f"{name}.safetensors")
        made.export(tmp_path / f"{name}-1.safetensors", 1)
    for end in (".safetensors", "-1.safetensors"):
        assert (tmp_path / f"fit{end}").read_bytes() == (tmp_path / f"copied{end}").read_bytes()
    with pytest.raises(fiedler.DomainError, match="expected a run below 3, found 3"):
        copied.weights(3)


def test_a_missing_folder_is_told_of_before_the_training(tmp_path) -> None:
    fit = train.Trainer(epochs=1).fit(X, Y)
    missing = tmp_path / "missing" / "w.safetensors"
    trained = []
    for call in (
        lambda: fit.save(missing),
        lambda: pickle.loads(pickle.dumps(fit)).save(missing),
        lambda: fit.export(missing),
        lambda: train.Trainer(epochs=1).fit(X, Y, checkpoint=missing, progress=lambda *done: trained.append(done)),
    ):
        with pytest.raises(FileNotFoundError, match="cannot write") as caught:
            call()
        assert (caught.value.errno, str(caught.value.filename)) == (errno.ENOENT, str(missing))
    assert not trained and not missing.parent.exists()
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        train.Trainer(epochs=1).fit(X, Y, checkpoint=tmp_path / "file" / "w.safetensors")
    assert len(train.Trainer(epochs=1).fit(X, Y, checkpoint=tmp_path / "w.safetensors")) == 1


def test_progress_and_wrong_calls(tmp_path) -> None:
    told = []
    train.Trainer(epochs=3).fit(X, Y, runs=2, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (2, 2)
    fit = train.Trainer(epochs=1).fit(X, Y)
    for call, words in [
        (lambda: train.Trainer(epoch=3).fit(X, Y), "epoch"),
        (lambda: train.Trainer(activation="leaky-relu").fit(X, Y), "leaky"),
        (lambda: train.Trainer(optimizer={"kind": "adam", "lr": float("nan")}).fit(X, Y), "finite"),
        (lambda: train.Trainer(split=(0.5, 0.5)), "split"),
        (lambda: train.Trainer().fit(X, Y, runs=-1), "runs"),
        (lambda: train.Trainer().fit(X, Y[:5]), "200 targets"),
        (lambda: train.Trainer().fit(np.full_like(X, np.nan), Y), "finite"),
        (lambda: train.Trainer(loss="mse").fit(X, np.array(["a", "b"])[Y]), "mse"),
        (lambda: fit.metric("test.accurcy"), "test.accuracy"),
        (lambda: fit.weights(3), "run"),
        (lambda: fit.weights(-1), "run"),
        (lambda: fit.save(tmp_path / "w.npz"), "safetensors"),
        (lambda: train.Model(tmp_path / "none.safetensors"), "none.safetensors"),
    ]:
        with pytest.raises((fiedler.Error, ValueError, TypeError, OSError), match=words):
            call()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_predictions_are_in_the_precision_of_the_training(tmp_path, dtype) -> None:
    x = X.astype(dtype)
    fit = train.Trainer(epochs=3, scale="none").fit(x, x @ [1.0, -2.0, 0.5], runs=2)
    fit.save(tmp_path / "w.safetensors")
    model = train.Model(tmp_path / "w.safetensors")
    assert (fit.weights()["layers.0.bias"].dtype, len(model)) == (dtype, 2)
    found = fit.predict(x, runs=[1])
    # A sum of four products, each of which is rounded once.
    weights = {name: tensor.astype(float) for name, tensor in fit.weights(1).items()}
    truth = x.astype(float) @ weights["layers.0.weight"].T + weights["layers.0.bias"]
    bound = np.abs(x.astype(float)) @ np.abs(weights["layers.0.weight"].T) + np.abs(weights["layers.0.bias"])
    assert np.all(np.abs(found - truth) <= 8 * np.finfo(dtype).eps * bound)
    assert model.predict(x, runs=[1]).tobytes() == found.tobytes()
    assert pickle.loads(pickle.dumps(fit)).predict(x, runs=[1]).tobytes() == found.tobytes()
    other = np.float64 if dtype == np.float32 else np.float32
    named = {np.float32: "f32", np.float64: "f64"}[other]
    assert train.Trainer(epochs=1, precision=named).fit(x, Y).weights()["layers.0.bias"].dtype == other


def test_labels_in_a_column_are_classes() -> None:
    pandas = pytest.importorskip("pandas")
    for y in (Y[:, None], pandas.DataFrame({"target": Y}), pandas.DataFrame({"target": np.array(["a", "b"])[Y]})):
        fit = train.Trainer(epochs=1).fit(X, y)
        assert len(fit.classes) == 2 and "test.accuracy" in fit.runs[0]
    assert train.Trainer(epochs=1).fit(X, np.stack([Y, Y], axis=1) * 0.5).classes is None
    with pytest.raises(fiedler.DomainError, match="labels of one type, found int and str"):
        train.Trainer().fit(X, np.array([1, "a"] * 100, object))
    with pytest.raises(fiedler.ShapeError, match="200 targets, one for each sample, found a number"):
        train.Trainer().fit(X, 1)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_predictions_need_the_inputs_by_name(tmp_path, library) -> None:
    home = pytest.importorskip(library)
    table = home.table if library == "pyarrow" else home.DataFrame
    columns = {name: X[:, place] for place, name in enumerate("abc")}
    fit = train.Trainer(hidden=[4], epochs=5).fit(table(columns), Y)
    fit.save(tmp_path / "w.safetensors")
    model = train.Model(tmp_path / "w.safetensors")
    assert fit.inputs == model.inputs == ["a", "b", "c"]
    wanted = fit.predict(X)
    for one in (fit, model, pickle.loads(pickle.dumps(fit))):
        assert one.predict(table(columns)).tobytes() == wanted.tobytes()
        with pytest.warns(UserWarning, match="left out: `kind`; the model has no such input") as caught:
            found = one.predict(table({"kind": ["u"] * 200, **columns}))
        assert found.tobytes() == wanted.tobytes() and caught[0].filename == __file__
        for names, said in (("cba", " in this order, found c, b, a"), ("abd", ", found a, b, d")):
            with pytest.raises(fiedler.DomainError, match=f"x: expected the inputs a, b, c{said}$"):
                one.predict(table(dict(zip(names, columns.values()))))
    plain = train.Trainer(epochs=1).fit(X, Y)
    assert plain.inputs is None and plain.predict(table(columns)).shape == (200, 2)
    if library == "pandas":
        assert train.Trainer(epochs=1).fit(home.DataFrame(X), Y).inputs is None


def test_the_command_and_python_know_the_same_names(tmp_path) -> None:
    table = pytest.importorskip("pandas").DataFrame(X, columns=list("abc"))
    for name, columns in (("d", "abc"), ("other", "bac")):
        table[list(columns)].assign(label=Y).to_csv(tmp_path / f"{name}.csv", index=False)
    done = command("train", tmp_path / "d.csv", "-o", tmp_path / "runs", "--epochs", 2)
    assert done.returncode == 0, done.stderr
    model = train.Model(tmp_path / "runs" / "weights.safetensors")
    assert model.inputs == ["a", "b", "c"] and model.predict(table).shape == (200, 2)
    train.Trainer(epochs=2).fit(table, Y).save(tmp_path / "runs" / "weights.safetensors")
    done = command("predict", tmp_path / "runs", tmp_path / "d.csv", "-o", tmp_path / "p.csv")
    assert done.returncode == 0, done.stderr
    done = command("predict", tmp_path / "runs", tmp_path / "other.csv", "-o", tmp_path / "q.csv")
    assert done.returncode != 0 and "the inputs a, b, c" in done.stderr


def test_images_become_rows_of_numbers() -> None:
    for axes, said in (((3, 2), "3 x 2"), ((2, 2, 3), "2 x 2 x 3")):
        x = np.random.default_rng(1).normal(size=(100, *axes))
        y = x.reshape(100, -1)[:, 0] > 0
        fit = train.Trainer(epochs=2, scale="none").fit(x, y)
        rows = train.Trainer(epochs=2, scale="none").fit(x.reshape(100, -1), y)
        assert fit.notes == [f"samples of {said} as rows of numbers"] and rows.notes == []
        assert fit.predict(x).tobytes() == rows.predict(x.reshape(100, -1)).tobytes()
    x[:, 1, 1] = 0  # the border of an image
    x[:, 1, 0, 2] = np.arange(100)
    with pytest.warns(UserWarning, match=r"`x\[:, 1, 0, 2\]` numbers the samples"):
        train.Trainer(epochs=1).fit(x, y)
    assert train.Sgld(epochs=1, chains=1).sample(x[..., :2], y).notes == ["samples of 2 x 2 x 2 as rows of numbers"]
    with pytest.raises(fiedler.ShapeError, match=r"expected \(samples, inputs\), found the shape \(100,\)"):
        train.Trainer().fit(x[:, 0, 0, 0], y)


def test_a_metric_that_is_not_defined_is_nan() -> None:
    x = X[:5]
    values = train.Trainer(epochs=1).fit(x, x.sum(axis=1))
    assert np.isnan(values.metric("test.r2")).all() and values.metric("test.rmse")[0] >= 0
    one = train.Trainer(epochs=1, split=(0.5, 0.0, 0.5), split_seed=0).fit(X[:20], [0] * 19 + [1], runs=2)
    assert np.isnan(one.metric("test.auc")).sum() + np.isnan(one.metric("train.auc")).sum() == 2
    with pytest.raises(ValueError, match="found 'test.r2'"):
        one.metric("test.r2")


def test_small_data_and_suspicious_inputs() -> None:
    x, y = X[:20].copy(), Y[:20]
    fit = train.Trainer(epochs=1).fit(x, y)
    assert fit.notes == ["batches of 14 instead of 32"]
    assert train.Trainer(epochs=1).fit(x[:3], [0, 1, 0]).notes[1] == "no samples for validation"
    with pytest.raises(fiedler.DomainError, match="at most 14 training samples, found 15"):
        train.Trainer(epochs=1, batch=15).fit(x, y)
    stopped = train.Trainer(epochs=1, stop={"on": "validation.auc"}).fit(x[:5], [0, 1, 0, 1, 0])
    assert "validation.auc was defined in no epoch of 1 run, so it chose none" in stopped.notes
    with pytest.raises(fiedler.DomainError, match="y: expected at least two classes, found only 0"):
        train.Trainer(epochs=1).fit(x[:1], [0])
    for labels, found in (
        (["a", ""], "an empty field, of sample 1"),
        (["NA", "b"], '"NA", which stands for a missing one, of sample 0'),
        (np.array(["a", None], object), "None, of sample 1"),
    ):
        with pytest.raises(fiedler.DomainError, match=f"y: expected a label, found {found}"):
            train.Trainer(epochs=1).fit(x[:2], labels)
    with pytest.raises(fiedler.DomainError, match="finite targets, found NaN at sample 1"):
        train.Trainer(epochs=1).fit(x[:2], [0.5, np.nan])
    values = train.Trainer(epochs=1, loss="mse", stop="train.loss").fit(x, y)
    assert values.classes is None and "test.r2" in values.runs[0] and values.notes == ["batches of 14 instead of 32"]
    x[:, 1] = np.arange(20)
    with pytest.warns(UserWarning, match=r"`x\[:, 1\]` numbers the samples"):
        train.Trainer(epochs=1).fit(x, y)
    frame = pytest.importorskip("pandas").DataFrame({"ID": range(20), "a": X[:20, 0], "code": y * 3.0})
    frame.insert(0, "Unnamed: 0", [7, *range(19)])  # the index of a part that was drawn
    with pytest.warns(UserWarning) as caught:
        fit = train.Trainer(epochs=1).fit(frame, y)
    assert (fit.inputs, fit.notes[0]) == (["a", "code"], "left out: `Unnamed: 0` (index), `ID` (ids)")
    assert ["`code` determines the label" in str(one.message) for one in caught] == [True]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone = fit.predict(frame[["a", "code"]])
        assert fit.predict(frame).tobytes() == alone.tobytes()
        words = frame.assign(ID=[f"s{i}" for i in range(20)]).rename(columns={"Unnamed: 0": "__index_level_0__"})
        assert fit.predict(words).tobytes() == alone.tobytes()
    words.columns = ["index", "a", "a", "code"]
    with pytest.raises(fiedler.DomainError, match="x: expected each column name once, found 2 columns named a"):
        train.Trainer(epochs=1).fit(words, y)
    with pytest.raises(fiedler.DomainError, match="x: expected numbers, found 'u' in the column `kind`"):
        train.Trainer(epochs=1).fit(frame.assign(kind="u"), y)
    assert {one.filename for one in caught} == {__file__}
    with pytest.warns(UserWarning, match="numbers of 21 classes in 40 samples; if they are values, y as floats"):
        train.Trainer(epochs=1).fit(np.tile(X[:20], (2, 1)), np.arange(40) % 21)
    assert train.Trainer(epochs=1).fit(X[:20], np.eye(2, dtype=int)[y]).notes[0] == (
        "rows of 2 integers as values, not as labels"
    )
    x[:, 1] = 7
    for call in (train.Trainer(epochs=1).fit, train.Sgld(epochs=1, chains=1, batch=8).sample):
        with pytest.warns(UserWarning, match=r"`x\[:, 1\]` is the same in all samples; leave out") as caught:
            call(x, y)
        assert [one.filename for one in caught] == [__file__]
