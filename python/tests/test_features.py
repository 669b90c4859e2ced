"""Features of arrays and of files."""

import multiprocessing
import threading
import warnings

import numpy as np
import pytest

import fiedler
from fiedler import features

MOMENTS = "moments(columns=['mean', 'sd'])"


def test_moments_are_those_of_numpy() -> None:
    x = np.random.default_rng(0).normal(size=(20, 30))
    found = features.extract(x, MOMENTS, cache=False)
    assert found.names == ["moments.mean", "moments.sd"]
    assert found.values.dtype == np.float32 and not found.status.any()
    # f64 results, rounded to f32 once.
    np.testing.assert_allclose(found.values[:, 0], x.mean(axis=1), rtol=2e-7, atol=1e-8)
    np.testing.assert_allclose(found.values[:, 1], x.std(axis=1, ddof=0), rtol=2e-7)


def test_layers_lists_and_files_agree(tmp_path) -> None:
    x = np.random.default_rng(1).normal(size=(5, 12)).astype(np.float32)
    alone = features.extract(x, "core33", cache=False)
    np.save(tmp_path / "x.npy", x)
    of_file = features.extract(tmp_path / "x.npy", "core33", cache=False)
    ragged = features.extract([*x, x[0][:7]], "core33", cache=False)
    two = features.extract({"a": x, "b": x[:, :7]}, "core33", layers=["a"], cache=False)
    for other in (of_file.values, ragged.values[:5], two.values):
        assert alone.values.tobytes() == other.tobytes()
    assert two.names == alone.names


def test_the_cache_finds_what_was_computed(tmp_path) -> None:
    x = np.random.default_rng(2).normal(size=(6, 8))
    context = fiedler.Context("cpu", cache_dir=tmp_path)
    first = features.extract(x, MOMENTS, context=context)
    again = features.extract(x, MOMENTS, context=context)
    assert (first.report["computed"], again.report["computed"]) == (1, 0)
    assert first.values.tobytes() == again.values.tobytes()


def _in_a_worker(queue) -> None:
    queue.put(features.extract(np.ones((3, 4)), MOMENTS, cache=False).values)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_worker_has_one_thread_and_no_deadlock(method) -> None:
    features.extract(np.ones((3, 4)), MOMENTS, cache=False)
    processes = multiprocessing.get_context(method)
    queue = processes.Queue()
    worker = processes.Process(target=_in_a_worker, args=(queue,))
    worker.start()
    assert queue.get(timeout=60).shape == (3, 2)
    worker.join(timeout=60)
    assert worker.exitcode == 0


def test_as_many_calls_as_threads() -> None:
    context = fiedler.Context("cpu", threads=2)
    x = np.random.default_rng(3).normal(size=(200, 64))
    made: list[bytes] = []

    def call() -> None:
        made.extend(features.extract(x, "core33", cache=False, context=context).values.tobytes() for _ in range(5))

    threads = [threading.Thread(target=call, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(made) == 20 and len(set(made)) == 1


def test_progress_and_wrong_calls() -> None:
    told = []
    features.extract(np.ones((5, 4)), MOMENTS, cache=False, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (5, 5)
    for call, words in [
        (lambda: features.extract(np.ones((2, 3)), "momnts"), "moments"),
        (lambda: features.extract(np.ones((2, 3, 0)), MOMENTS), "samples of values"),
        (lambda: features.extract(np.ones((0, 3)), MOMENTS), "samples"),
        (lambda: features.extract({"a": np.ones((2, 3)), "b": np.ones((3, 3))}, MOMENTS), "2 samples in b"),
        (lambda: features.extract(np.ones((2, 3)), MOMENTS, layers=["zz"]), "zz"),
        (lambda: features.extract(np.ones((2, 3)), MOMENTS, layers="ab"), "sequence of names"),
    ]:
        with pytest.raises((fiedler.Error, TypeError), match=words):
            call()


def test_columns_of_tables_have_roles(tmp_path) -> None:
    table = tmp_path / "t.csv"
    rows = "".join(f"{i},{i},{i * 37 % 11},{'ab'[i // 5]}\n" for i in range(10))
    table.write_text(",step,x1,label\n" + rows)
    with pytest.warns(UserWarning, match=r"`step` numbers the samples; ignore=\['step'\] leaves it out"):
        found = features.extract(table, "raw", cache=False)
    assert found.values.shape == (10, 2) and found.ids == [str(i) for i in range(10)]
    assert found.labels == ["a"] * 5 + ["b"] * 5
    assert found.notes == ["labels from column `label`", "left out: `Unnamed: 0` (index)"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert features.extract(table, "raw", ignore=["step"], cache=False).values.shape == (10, 1)
        taken = features.extract(table, "raw", label="step", take=["Unnamed: 0"], ignore=["label"], cache=False)
    assert taken.values.shape == (10, 2) and taken.labels[9] == "9"
    np.savez(tmp_path / "a.npz", x=np.column_stack([np.arange(10), np.arange(10) * 37 % 11]), y=np.arange(10) // 5)
    with pytest.warns(UserWarning, match=r"`x\[0\]` numbers the samples; leave it out of the array"):
        features.extract(tmp_path / "a.npz", "raw", cache=False)
    with pytest.raises(fiedler.ParseError, match="a column named shade to leave out"):
        features.extract(table, "raw", ignore=["shade"], cache=False)
    with pytest.raises(TypeError, match="files, or a table with names, beside label, ignore or take"):
        features.extract(np.ones((3, 2)), "raw", ignore=["a"])


def test_places_of_columns_beside_words(tmp_path) -> None:
    table = tmp_path / "t.data"
    table.write_text("842302,M,17.5,2.5\n842517,B,20.5,3.5\n")
    found = features.extract(table, "raw", label="2", ignore=["1"], cache=False)
    assert found.values.tolist() == [[17.5, 2.5], [20.5, 3.5]] and found.labels == ["M", "B"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_tables_in_memory_have_the_roles_of_a_file(tmp_path, library) -> None:
    home = pytest.importorskip(library)
    table = home.table if library == "pyarrow" else home.DataFrame
    x = np.random.default_rng(4).normal(size=(10, 2))
    x[3, 1] = np.nan
    columns = {
        "Unnamed: 0": np.arange(10),
        "id": [f"s{i}" for i in range(10)],
        "step": np.arange(10),
        "x, 1": x[:, 0].astype(np.float32),
        "400": x[:, 1],
        "flag": x[:, 0] > 0,
        "label": ["a", "b"] * 5,
    }
    with pytest.warns(UserWarning, match="`step` numbers the samples") as caught:
        found = features.extract(table(columns), "raw", cache=False)
    assert [one.filename for one in caught] == [__file__]
    assert found.ids == columns["id"] and found.labels == columns["label"]
    assert found.notes == ["labels from column `label`", "left out: `Unnamed: 0` (index), `id` (ids)"]
    wanted = np.column_stack([columns[name] for name in ("step", "x, 1", "400", "flag")]).astype(np.float32)
    wanted[3] = np.nan  # a sample with a number that is missing
    np.testing.assert_array_equal(found.values, wanted)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        some = features.extract(table(columns), "raw", ignore=["step", "400"], cache=False)
        wanted[3, [1, 3]] = columns["x, 1"][3], columns["flag"][3]
        np.testing.assert_array_equal(some.values, wanted[:, [1, 3]])
        plain = features.extract(table({"a": x[:, 0]}), "raw", cache=False)
        assert plain.values.tolist() == wanted[:, 1:2].tolist() and plain.labels is None
    for name, call, said in (
        ("shade", {"ignore": ["shade"]}, "data:1: expected a column named shade to leave out"),
        ("target", {}, "the labels, or `label` with the name of one, found target and label"),
        ("kind", {}, 'expected a (finite )?number.*found "u" in column `kind`'),
    ):
        with pytest.raises(fiedler.ParseError, match=said):
            features.extract(table({name: ["u"] * 10, **columns} if name != "shade" else columns), "raw", **call)


def test_a_table_without_names_is_an_array() -> None:
    pandas = pytest.importorskip("pandas")
    x = np.arange(12.0).reshape(6, 2)
    found = features.extract(pandas.DataFrame(x), "raw", cache=False)
    assert found.values.shape == (6, 2) and found.labels is None
    with pytest.raises(TypeError, match="a table with names"):
        features.extract(pandas.DataFrame(x), "raw", label="1")
