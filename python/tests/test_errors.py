"""Every error has its class and its attributes; panics, log records, progress, uncertified results."""

from __future__ import annotations

import errno
import logging
import os
import pickle
import sys
import threading
import warnings

import numpy as np
import pytest

import fiedler
from conftest import script

RING = np.array([[0, 1, 2], [1, 2, 0]])


@pytest.mark.parametrize(
    ("name", "bases"),
    [
        ("ShapeError", ValueError),
        ("DomainError", ValueError),
        ("ParseError", ValueError),
        ("LimitError", ValueError),
        ("OutOfMemoryError", MemoryError),
        ("DeviceError", RuntimeError),
        ("DeviceLostError", fiedler.DeviceError),
        ("NoAdapterError", fiedler.DeviceError),
        ("InternalError", RuntimeError),
        ("UncertifiedError", np.linalg.LinAlgError),
    ],
)
def test_classes(name, bases):
    made = getattr(fiedler, name)
    assert issubclass(made, fiedler.Error)
    assert issubclass(made, bases)
    assert issubclass(made, Exception)
    assert made.__module__ == "fiedler._errors"
    copied = pickle.loads(pickle.dumps(made("words")))
    assert (type(copied), str(copied)) == (made, "words")


@pytest.mark.parametrize(
    "call",
    [
        lambda index, path: fiedler.GraphBatch.from_edges(index.T),
        lambda index, path: fiedler.GraphBatch.from_edge_index(index),
        lambda index, path: fiedler.encode(index, 2, cache=False),
        lambda index, path: fiedler.encode(path, 2, cache=False),
        lambda index, path: fiedler.GraphBatch.read(path),
    ],
)
def test_warnings_are_at_the_line_of_the_caller(tmp_path, call):
    np.save(tmp_path / "edge_index.npy", RING + 1)
    with pytest.warns(fiedler.Notice, match="ids seem to begin at 1") as caught:
        call(RING + 1, tmp_path / "edge_index.npy")
    assert [one.filename for one in caught] == [__file__]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("g.csv", "a,b\n1,2\n2,3\n", "the columns `a` and `b` were read as the ends"),
        ("g.csv", "src,dst,since\n1,2,5\n2,3,6\n", "the column `since` was read as the weights"),
        ("g.csv", "src,dst,kind\n1,2,x\n2,3,y\n", "the column `kind` was not read"),
        ("g.txt", "a b\nb a\nb c\n", "1 of 2 edges is listed in one direction, the others in both"),
        ("g.txt", "a b 1\nb a 2\n", "some edges are listed with different weights, of which the one of largest magnitude was used"),
    ],
)
def test_how_a_file_was_read_is_a_warning(tmp_path, name, text, words):
    (tmp_path / name).write_text(text)
    with pytest.warns(fiedler.Notice, match=words) as caught:
        fiedler.encode(tmp_path / name, 2, cache=False)
    assert [one.filename for one in caught] == [__file__]


def test_an_array_of_two_edges_is_a_warning(tmp_path):
    np.save(tmp_path / "two.npy", np.array([[0, 1], [1, 2]]))
    with pytest.warns(fiedler.Notice, match="its rows were read as the sources and the targets"):
        fiedler.encode(tmp_path / "two.npy", 2, cache=False)


def test_merged_edges_are_a_warning(tmp_path):
    mixed = np.array([[0, 1, 1], [1, 0, 2]])
    with pytest.warns(fiedler.Notice, match="edge_index: 1 of 2 edges is listed in one direction") as caught:
        fiedler.GraphBatch.from_edge_index(mixed)
    assert [one.filename for one in caught] == [__file__]
    with pytest.warns(fiedler.Notice, match="edge_index: some edges are listed with different weights"):
        fiedler.GraphBatch.from_edges([(0, 1), (0, 1)], weight=[1.0, 2.0])
    (tmp_path / "list.csv").write_text("source,target\n0,1\n1,0\n1,2\n")
    with pytest.warns(fiedler.Notice, match="is listed in one direction"):
        fiedler.encode(tmp_path / "list.csv", 2, cache=False)
    # Said by the caller.
    fiedler.encode(tmp_path / "list.csv", 2, symmetrize="max", cache=False)
    fiedler.GraphBatch.from_edge_index(mixed, preset="networkx")
    fiedler.GraphBatch.from_edges([(0, 1), (0, 1)], weight=[1.0, 2.0], preset="scipy", symmetrize="sum")


def test_options_of_the_command_have_the_names_of_parameters(tmp_path, molecules):
    table = tmp_path / "t.csv"
    table.write_text("label,a,target\nx,1,2\ny,3,4\n")
    with pytest.raises(fiedler.ParseError, match="or `label` with the name of one, found label and target"):
        fiedler.features.extract(table, "raw")
    (tmp_path / "a --b.txt").write_text("0 1\n1 2 x y z\n")
    with pytest.raises(fiedler.ParseError):
        fiedler.encode(tmp_path / "a --b.txt")


def test_files_that_cannot_be_read(tmp_path):
    absent = tmp_path / "absent.txt"
    with pytest.raises(FileNotFoundError) as caught:
        fiedler.encode(absent)
    assert caught.value.errno == errno.ENOENT
    assert os.fspath(caught.value.filename) == str(absent)
    assert "cannot" in caught.value.strerror


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("edges.txt", "0 1\n1 2\n2 x y z\n", 3),
        ("matrix.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 9 1.0\n", 3),
        ("edges.csv", "source,target,weight\n0,1,1.0\n1,2,heavy\n", 3),
    ],
)
def test_files_with_wrong_content(tmp_path, name, text, line):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(fiedler.ParseError) as caught:
        fiedler.encode(path)
    assert str(caught.value.path) == str(path)
    assert caught.value.line == line
    assert name in str(caught.value)


def test_shapes_and_domains():
    with pytest.raises(fiedler.ShapeError, match="square"):
        fiedler.linalg.eigh(np.ones((2, 3)))
    with pytest.raises(fiedler.DomainError, match="edge 0"):
        fiedler.GraphBatch.from_edge_index(RING + 5, 3)


def test_adapters_that_are_not_there():
    with pytest.raises(fiedler.NoAdapterError):
        fiedler.Context(device="gpu", adapter="no such adapter").show()
    with pytest.raises(fiedler.NoAdapterError):
        fiedler.linalg.eigh(np.eye(3, dtype=np.float32), context=fiedler.Context(adapter="no such adapter"))


def test_limits():
    small = fiedler.Context(device="cpu", memory_budget=1 << 20)
    ring = np.stack([np.arange(1000), np.roll(np.arange(1000), 1)])
    with pytest.raises((fiedler.LimitError, fiedler.OutOfMemoryError), match="48000000 needed, 1048576 allowed"):
        fiedler.encode(ring, 4, method="exact", context=small)


def test_settings_of_contexts():
    for options in (
        {"device": "tpu"},
        {"threads": 0},
        {"threads": 5000},
        {"memory_budget": "2X"},
        {"memory_budget": "many"},
        {"memory_budget": 0},
        {"device": "cpu", "adapter": "x"},
    ):
        with pytest.raises(ValueError, match="expected"):
            fiedler.Context(**options)
    with pytest.raises(ValueError, match="threads"):
        fiedler.set_num_threads(0)
    budgets = {"512M": 512 << 20, "2GiB": 2 << 30, "3gb": 3 << 30, 4096: 4096, "100000K": 100000 << 10}
    for text, amount in budgets.items():
        assert fiedler.Context(device="cpu", memory_budget=text).show()["memory_budget"] == amount
    context = fiedler.Context("cpu", threads=2, memory_budget="1G")
    copied = pickle.loads(pickle.dumps(context))
    assert repr(copied) == repr(context)
    assert repr(context) == "fiedler.Context(device='cpu', threads=2, memory_budget=1073741824)"
    assert copied.show() == context.show()


def test_a_wrong_environment():
    program = """
import numpy as np
import fiedler
try:
    fiedler.linalg.eigvalsh(np.eye(2))
except ValueError as error:
    print(type(error).__name__, "FIEDLER_" in str(error))
"""
    for name in ("FIEDLER_BACKEND", "FIEDLER_THREADS", "FIEDLER_MEMORY_BUDGET"):
        assert script(program, **{name: "none of these"}) == "DomainError True\n", name


@pytest.mark.parametrize("context", [fiedler.Context(device="cpu")])
def test_a_panic_is_an_exception(context, capfd):
    with pytest.raises(fiedler.InternalError) as caught:
        fiedler._fiedler.panic(context._native)
    assert isinstance(caught.value, Exception)
    assert "as asked" in str(caught.value)
    assert "python/src/lib.rs" in str(caught.value)
    assert "report it" in str(caught.value)
    assert capfd.readouterr().err == ""
    np.testing.assert_array_equal(fiedler.linalg.eigvalsh(np.eye(3), context=context), [1, 1, 1])


def test_uncertified_results():
    found = fiedler.encode(RING, 3)
    found.status[0] = 1
    with pytest.raises(fiedler.UncertifiedError, match="1 of 1 graphs.*graph 0: not converged") as caught:
        found.raise_for_status()
    assert caught.value.encoding is found
    assert fiedler.encode(RING, 3).raise_for_status().eigenvalues.shape == (1, 3)


def test_what_happens_to_uncertified_results(monkeypatch):
    native = fiedler._fiedler.encode

    def spoiled(*arguments):
        arrays, report = native(*arguments)
        arrays["status"][:] = 3
        return arrays, report

    class Native:
        encode = staticmethod(spoiled)

    monkeypatch.setattr("fiedler._encode._fiedler", Native)
    with pytest.warns(fiedler.UncertifiedWarning, match="not resolved") as told:
        kept = fiedler.encode(RING, 3)
    assert told[0].filename == __file__
    assert kept.status.tolist() == [3]
    with pytest.raises(fiedler.UncertifiedError) as caught:
        fiedler.encode(RING, 3, on_uncertified="raise")
    assert caught.value.encoding.eigenvalues.shape == (1, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fiedler.encode(RING, 3, on_uncertified="ignore")


def test_log_records(caplog):
    ring = np.stack([np.arange(3000), np.roll(np.arange(3000), 1)])
    with caplog.at_level(logging.DEBUG, "fiedler"):
        fiedler.encode(ring, 4, device="cpu")
    assert caplog.records
    assert {record.name for record in caplog.records} == {"fiedler"}
    assert all(record.levelno in (10, 20, 30, 40) for record in caplog.records)
    caplog.clear()
    with caplog.at_level(logging.CRITICAL, "fiedler"):
        fiedler.encode(ring, 4, device="cpu")
    assert not caplog.records


def test_progress(capsys):
    graphs = [RING] * 5000
    told = []
    main = threading.get_ident()

    def progress(done, total):
        assert threading.get_ident() == main
        told.append((done, total))

    fiedler.encode(graphs, 2, progress=progress)
    assert told[-1] == (5000, 5000)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    pytest.importorskip("tqdm")
    fiedler.encode(graphs, 2, progress=True)
    assert "5000/5000" in capsys.readouterr().err
    fiedler.encode(graphs, 2)
    assert capsys.readouterr().err == ""


def test_progress_without_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert len(fiedler.encode([RING] * 3, 2, progress=True)) == 3


NEGATIVE = {
    "eigh": lambda: fiedler.linalg.eigh(np.eye(3), k=-1),
    "svd_truncated": lambda: fiedler.linalg.svd_truncated(np.eye(3), -1),
    "seed": lambda: fiedler.linalg.svd_truncated(np.eye(3), 1, seed=-1),
    "eigsh": lambda: fiedler.linalg.eigsh(RING, k=-1, laplacian="symmetric"),
    "histogram": lambda: fiedler.stats.histogram(np.ones(3), bins=-1),
    "describe": lambda: fiedler.stats.describe(np.ones(3), ddof=-1),
    "stream": lambda: fiedler.random.Stream(2**64),
    "shape": lambda: fiedler.random.Stream(1).words((2, -1)),
    "skip": lambda: fiedler.random.Stream(1).skip(-1),
    "nodes": lambda: fiedler.encode(RING, 2, num_nodes=-1),
}


@pytest.mark.parametrize("call", NEGATIVE.values(), ids=NEGATIVE.keys())
def test_integers_that_are_out_of_range(call):
    with pytest.raises(fiedler.DomainError, match="expected an integer from 0 to"):
        call()


WRONG_TYPES = {
    "k: expected an integer, found float": lambda: fiedler.linalg.eigh(np.eye(3), k=1.5),
    "seed: expected an integer, found str": lambda: fiedler.random.Stream("1"),
    "name: expected a text, found int": lambda: fiedler.random.Stream(1, 2),
    "shape: expected an integer, found float": lambda: fiedler.random.Stream(1).words((2, 1.5)),
    "low: expected a number, found str": lambda: fiedler.random.Stream(1).uniform(2, "low"),
    "dtype: expected float32 or float64, found 'no type'": lambda: fiedler.random.Stream(1).normal(2, dtype="no type"),
    "k: expected an integer, found str": lambda: fiedler.encode(RING, "8"),
    "laplacian: expected a text, found int": lambda: fiedler.encode(RING, 2, laplacian=1),
    "which: expected a text, found NoneType": lambda: fiedler.encode(RING, 2, which=None),
    "trivial: expected 'keep', 'components' or 'first', found bool": lambda: fiedler.encode(RING, 2, trivial=True),
    "walk_steps: expected an integer, found float": lambda: fiedler.encode(RING, 2, walk_steps=2.0),
    "method: expected a text, found list": lambda: fiedler.encode(RING, 2, method=["auto"]),
    "precision: expected 'f32' or 'f64', found type": lambda: fiedler.encode(RING, 2, precision=np.float32),
    "preset: expected a text or None, found int": lambda: fiedler.encode(RING, 2, preset=3),
    "symmetrize: expected a text or None, found bool": lambda: fiedler.encode(RING, 2, symmetrize=True),
    "num_nodes: expected an integer, found str": lambda: fiedler.encode(RING, 2, num_nodes="3"),
    "sign: expected an integer, found NoneType": lambda: fiedler.encode(RING, 2, sign=None),
    "cache: expected True or False, found str": lambda: fiedler.encode(RING, 2, cache="folder"),
    "resume: expected a path, found bool": lambda: fiedler.encode(RING, 2, resume=True),
    "progress: expected True, False, None or a function": lambda: fiedler.encode(RING, 2, progress="yes"),
    "on_uncertified: expected 'warn', 'raise' or": lambda: fiedler.encode(RING, 2, on_uncertified=False),
    "device: expected a text or None, found list": lambda: fiedler.encode(RING, 2, device=["cpu"]),
    "context: expected a fiedler.Context, found str": lambda: fiedler.encode(RING, 2, context="cpu"),
    "threads: expected an integer, found str": lambda: fiedler.Context(threads="2"),
    "memory_budget: expected bytes such as 512M or 2G, found float": lambda: fiedler.Context(memory_budget=2e9),
    "cache_dir: expected a path, found int": lambda: fiedler.Context(cache_dir=3),
    "path: expected a path, found int": lambda: fiedler.GraphBatch.read(3),
    "edges: expected pairs of nodes, found int": lambda: fiedler.GraphBatch.from_edges(3),
    "edge_weight_column: expected an integer": lambda: fiedler.GraphBatch.read("x", edge_weight_column="w"),
    "UPLO: expected 'L' or 'U', found bool": lambda: fiedler.linalg.eigh(np.eye(2), True),
    "full_matrices: expected True or False, found str": lambda: fiedler.linalg.svd(np.eye(2), "full"),
    "sigma: expected a number, found str": lambda: fiedler.linalg.eigsh(RING, 2, sigma="0", laplacian="symmetric"),
    "axis: expected an integer, found float": lambda: fiedler.fft.fft(np.ones(4), axis=1.0),
    "n: expected an integer, found float": lambda: fiedler.fft.fft(np.ones(4), 2.5),
    "norm: expected 'backward', 'ortho', 'forward' or None, found bool": lambda: fiedler.fft.fft(np.ones(4), norm=True),
    "bands: expected a sequence of numbers, found float": lambda: fiedler.fft.power_spectrum(np.ones(4), bands=1.0),
    "rate: expected a number, found str": lambda: fiedler.fft.power_spectrum(np.ones(4), rate="fast"),
    "window: expected a text, found int": lambda: fiedler.fft.power_spectrum(np.ones(4), window=1),
    "nan: expected 'propagate' or 'omit', found bool": lambda: fiedler.stats.describe(np.ones(4), nan=True),
    "q: expected a number or an array of numbers, found str": lambda: fiedler.stats.quantile(np.ones(4), "half"),
    "range: expected the first edge and the last one, found int": lambda: fiedler.stats.histogram(np.ones(4), 2, 3),
    "kind: expected a text, found int": lambda: fiedler.stats.divergence([0.5, 0.5], [0.5, 0.5], 1),
    "base: expected a number, found str": lambda: fiedler.stats.divergence([0.5, 0.5], [0.5, 0.5], base="e"),
    "representations: expected a text or a seq": lambda: fiedler.features.extract([[1.0]], 3),
    "layers: expected a sequence of names, found str": lambda: fiedler.features.extract([[1.0]], "stats", layers="x"),
    "hidden: expected a sequence of integers, found int": lambda: fiedler.train.Trainer(8),
    "hidden: expected an integer, found float": lambda: fiedler.train.Trainer([8.0]),
    "optimizer: expected a text or a mapping": lambda: fiedler.train.Trainer(optimizer=0.1),
    "split: expected a sequence of numbers, found float": lambda: fiedler.train.Trainer(split=0.8),
    "dropout: expected a number, found str": lambda: fiedler.train.Trainer(dropout="some"),
    "grid: expected a mapping": lambda: fiedler.train.Trainer().fit(np.eye(4), [0, 1, 0, 1], grid=[0.1]),
    "checkpoint: expected a path, found int": lambda: fiedler.train.Trainer().fit(np.eye(2), [0, 1], checkpoint=3),
    "checkpoint_every: expected a number": lambda: fiedler.train.Trainer().fit(np.eye(2), [0, 1], checkpoint_every="1"),
    "betas: expected a sequence of numbers, found float": lambda: fiedler.train.Sgld(betas=1.0),
    "epochs: expected an integer, found float": lambda: fiedler.train.Sgld(epochs=1.5),
}


@pytest.mark.parametrize("words", WRONG_TYPES)
def test_arguments_of_a_wrong_type(words):
    with pytest.raises(TypeError) as caught:
        WRONG_TYPES[words]()
    assert str(caught.value).startswith(words)


def test_numbers_of_numpy_are_numbers():
    assert fiedler.random.Stream(np.int64(3)).words(np.int32(2)).shape == (2,)
