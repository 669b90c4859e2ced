"""Tables of Arrow: every library's, in and out; the same bytes however they are divided; pickling; what is refused."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import warnings

import numpy as np
import pytest

import fiedler
from fiedler.arrow import Encoder, FeatureEncoder, Table

pa = pytest.importorskip("pyarrow")


def molecules(count: int, seed: int = 5) -> pa.Table:
    """Trees with some rings, an id each."""
    random = np.random.default_rng(seed)
    rows = {"id": [], "src": [], "dst": [], "num_nodes": []}
    for i in range(count):
        n = int(random.integers(1, 30))
        parents = [int(random.integers(0, v)) for v in range(1, n)]
        extra = np.sort(random.integers(0, n, (2, n // 5)), axis=0)[::-1]  # no edge is listed in both directions
        rows["id"].append(i)
        rows["src"].append([*range(1, n), *extra[0].tolist()])
        rows["dst"].append([*parents, *extra[1].tolist()])
        rows["num_nodes"].append(n)
    return pa.table(rows)


def added(table: pa.Table) -> pa.Table:
    return table.select(table.column_names[table.column_names.index("eigenvalues") :]).combine_chunks()


def test_rows_are_those_of_encode() -> None:
    table = molecules(40)
    made = Encoder(k=3, walk_steps=2)(table)
    assert isinstance(made, pa.Table) and made.column_names[:4] == table.column_names
    want = fiedler.encode(table, k=3, walk_steps=2, symmetrize="max")
    listed = made["eigenvalues"].to_pylist()
    values = np.array([[np.nan if v is None else v for v in row] for row in listed], np.float32)
    assert np.array_equal(values, want.eigenvalues, equal_nan=True)
    vectors = np.concatenate([np.asarray(row, np.float32).reshape(-1, 3) for row in made["eigenvectors"].to_pylist()])
    assert np.array_equal(vectors, want.eigenvectors)
    walks = np.concatenate([np.asarray(row, np.float32).reshape(-1, 2) for row in made["random_walk"].to_pylist()])
    assert np.array_equal(walks, want.random_walk)
    assert made["components"].to_pylist() == want.components.tolist()
    assert set(made["status"].to_pylist()) == {"converged"} and made["error"].null_count == 40
    assert made.schema.metadata[b"fiedler.version"].decode() == fiedler.__version__
    # Lists of fixed size, and no edges.
    fixed = Encoder(k=3, layout="fixed", edges=False)(table)
    assert fixed.column_names[:2] == ["id", "num_nodes"]
    assert fixed["eigenvectors"].type.value_type == pa.list_(pa.field("item", pa.float32(), nullable=False), 3)


def test_every_library_gets_its_own_back() -> None:
    table, encoder = molecules(12), Encoder(k=2)
    want = encoder(table)
    batch = table.combine_chunks().to_batches()[0]
    made = encoder(batch)
    assert isinstance(made, pa.RecordBatch) and pa.table(made).equals(want.combine_chunks())
    reader = encoder(table.to_reader())
    assert isinstance(reader, pa.RecordBatchReader) and reader.read_all().equals(want)
    own = encoder(Shy(table))
    assert isinstance(own, Table) and len(own) == 12 and pa.table(own).equals(want)
    assert "12 rows" in repr(own) and own.column_names == want.column_names


class Shy:
    """A table that has nothing but the interface."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    table, encoder = molecules(12), Encoder(k=2)
    frame = encoder(table.to_pandas(types_mapper=pandas.ArrowDtype))
    assert isinstance(frame, pandas.DataFrame)
    assert frame["status"].tolist() == ["converged"] * 12
    assert added(pa.table(frame)).drop(["error"]).to_pylist() == added(encoder(table)).drop(["error"]).to_pylist()


def test_pandas_keeps_its_index_and_has_floats_for_missing_integers() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"src": [[0], [0]], "dst": [[1], [1]], "num_nodes": [3, None]}, index=[7, 9])
    made = Encoder(k=1)(frame)
    assert made.index.tolist() == [7, 9] and made["components"].tolist() == [2, 1]
    assert len(Encoder(k=1)(frame.iloc[:0])) == 0
    lists = {"src": [[0], [0, np.nan], [0], [0.5]], "dst": [[1], [1, 2], [2], [1]]}
    ends = Encoder(k=1)(pandas.DataFrame(lists | {"weight": [[2.0], [1.0, 1.0], [np.nan], [1.0]]}))
    assert ends["status"].tolist() == ["converged", *["bad input"] * 3]
    assert "found null" in ends["error"][1] and "found NaN at (0, 2)" in ends["error"][2]
    assert "expected a whole number, found 0.5" in ends["error"][3]
    edges = pandas.DataFrame({"graph": pandas.Categorical(["a", "a", "b"]), "src": [0, 1, 0], "dst": [1, 2, 1]})
    assert Encoder(k=1)(edges)["graph"].tolist() == ["a", "b"]


def test_polars() -> None:
    polars = pytest.importorskip("polars")
    table, encoder = molecules(12), Encoder(k=2)
    frame = encoder(polars.DataFrame(table))
    assert isinstance(frame, polars.DataFrame) and frame["id"].to_list() == list(range(12))
    assert frame["eigenvalues"].to_list() == encoder(table)["eigenvalues"].to_pylist()


def test_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    graphs = molecules(12)  # noqa: F841, the name in the query
    relation = duckdb.sql("select id, src, dst, num_nodes from graphs order by id")
    made = Encoder(k=2)(relation)
    found = duckdb.sql("select count(*), min(len(eigenvalues)) from made where status = 'converged'").fetchall()
    assert found == [(12, 2)]


def test_rows_do_not_depend_on_their_batch() -> None:
    table = molecules(200)
    want = added(Encoder(k=4)(table))
    cuts = [0, 1, 38, 38, 75, 150, 199, 200]
    parts = [Encoder(k=4)(table.slice(a, b - a)) for a, b in zip(cuts, cuts[1:])]
    assert added(pa.concat_tables(parts)).equals(want)
    order = np.random.default_rng(1).permutation(200)
    for threads in (1, 2, 3, 8):
        encoder = Encoder(k=4, context=fiedler.Context("cpu", threads=threads))
        assert added(encoder(table.take(order))).equals(want.take(order))
    chunked = pa.concat_tables([table.slice(0, 7), table.slice(7, 90), table.slice(97)])
    assert added(Encoder(k=4)(chunked)).equals(want)


def test_a_table_of_edges() -> None:
    table = molecules(30)
    columns = (table[name].to_pylist() for name in ("id", "src", "dst", "num_nodes"))
    rows = [(i, u, v, n) for i, us, vs, n in zip(*columns) for u, v in zip(us, vs)]
    graph, src, dst, nodes = zip(*rows)
    long = pa.table({"graph": graph, "src": src, "dst": dst, "num_nodes": nodes})
    made = Encoder(k=3)(pa.concat_tables([long.slice(0, 100), long.slice(100, 3), long.slice(103)]))
    with_edges = table.filter(pa.compute.greater(pa.compute.list_value_length(table["src"]), 0))
    assert made["graph"].to_pylist() == with_edges["id"].to_pylist()
    assert added(made).equals(added(Encoder(k=3)(with_edges)))


def test_ids_of_any_kind_in_a_table_of_edges() -> None:
    pd = pytest.importorskip("pandas")
    words = pd.DataFrame({"from": ["ann", "bob"], "to": ["bob", "cy"]})
    encoding = fiedler.encode(words, 2)
    assert list(encoding.node_ids) == ["ann", "bob", "cy"] and encoding.components[0] == 1
    gaps = pa.table({"u": [0, 1, 5], "v": [1, 2, 6]})
    graphs = fiedler.GraphBatch.from_arrow(gaps)
    assert graphs.num_nodes == 5 and list(graphs.node_ids) == [0, 1, 2, 5, 6]
    made = Encoder(k=2)(gaps)
    assert made["node_ids"].to_pylist() == [[0, 1, 2, 5, 6]] and made["components"].to_pylist() == [2]
    pairs = pa.table({"edge": [[10**9, 7], [7, 8]]})
    assert list(fiedler.GraphBatch.from_arrow(pairs).node_ids) == [7, 8, 10**9]


def test_the_same_edges_in_a_file(tmp_path) -> None:
    import pyarrow.parquet as pq

    (tmp_path / "g.csv").write_text("src,dst\n3,9\n9,4\n")
    pq.write_table(pa.table({"src": [3, 9], "dst": [9, 4]}), tmp_path / "g.parquet")
    csv, parquet = (fiedler.encode(tmp_path / name, 2) for name in ("g.csv", "g.parquet"))
    assert list(csv.node_ids) == list(parquet.node_ids) == [3, 4, 9]
    assert all(np.array_equal(a, b) for a, b in zip(csv.arrays().values(), parquet.arrays().values()))


def test_numbers_that_begin_at_1_are_warned_of() -> None:
    index = np.array([[1, 2], [2, 3]])
    with pytest.warns(UserWarning, match="ids seem to begin at 1"):
        graphs = fiedler.GraphBatch.from_edge_index(index)
    assert len(graphs.notices) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fiedler.GraphBatch.from_edge_index(index, 4)
        fiedler.GraphBatch.from_edge_index(index - 1)
        fiedler.GraphBatch.from_edge_index(np.array([[0, 1, 2], [0, 2, 3]]))  # the self-loop names node 0


def test_merged_edges_of_tables_are_a_warning() -> None:
    rows = pa.table({"src": [[0, 1], [0, 1, 1]], "dst": [[1, 2], [1, 0, 2]]})
    edges = pa.table({"src": ["a", "b", "b"], "dst": ["b", "a", "c"], "weight": [1.0, 2.0, 1.0]})
    told = ((rows, "table: 3 of 4 edges are listed"), (edges, "table: 1 of 2 edges is listed .* different weights"))
    for table, words in told:
        with pytest.warns(fiedler.Notice, match=words) as caught:
            Encoder(k=2)(table)
        assert [one.filename for one in caught] == [__file__]
        for said in ({"symmetrize": "max"}, {"preset": "networkx", "symmetrize": "max"}):
            Encoder(k=2, **said)(table)
    with pytest.warns(fiedler.Notice, match="node 0 alone, so ids seem to begin at 1"):
        Encoder(k=2)(pa.table({"src": [[1, 2]], "dst": [[2, 3]]}))


def test_how_a_table_was_read_is_a_warning() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"src": [0, 1], "dst": [1, 2], "since": [5, 6]})
    for call in (Encoder(k=2), FeatureEncoder("graph(top=2)"), fiedler.GraphBatch.from_arrow, fiedler.encode):
        with pytest.warns(UserWarning, match="`since` was read as the weights of the edges") as caught:
            call(frame)
        assert [one.filename for one in caught] == [__file__]


def test_an_index_that_pandas_stored_has_no_weights(tmp_path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"src": [0, 1], "dst": [1, 2]}, index=pandas.Index([5, 6], name="line"))
    frame.to_parquet(tmp_path / "g.parquet", index=True)
    with pytest.warns(UserWarning, match="`line` was not read, and every edge weighs 1"):
        found = fiedler.encode(tmp_path / "g.parquet", 3)
    assert np.array_equal(found.eigenvalues, fiedler.encode(np.array([[0, 1], [1, 2]]), 3).eigenvalues)


def test_an_edge_index_is_two_lists_or_pairs() -> None:
    table = molecules(20)
    pairs = list(zip(table["src"].to_pylist(), table["dst"].to_pylist()))
    index = pa.table({"edge_index": [list(pair) for pair in pairs], "num_nodes": table["num_nodes"]})
    of_pairs = pa.array([list(zip(*pair)) for pair in pairs], pa.list_(pa.list_(pa.int64(), 2)))
    listed = pa.table({"edge_index": of_pairs, "num_nodes": table["num_nodes"]})
    want = added(Encoder(k=2)(table))
    assert added(Encoder(k=2)(index)).equals(want) and added(Encoder(k=2)(listed)).equals(want)


def test_bad_rows_say_why_and_spoil_no_other() -> None:
    table = pa.table({"src": [[0], [0], None], "dst": [[1], [7], [1]], "num_nodes": [2, 2, 2]})
    made = Encoder(k=1)(table)
    assert made["status"].to_pylist() == ["converged", "bad input", "bad input"]
    assert "names node 7" in made["error"].to_pylist()[1] and "found null" in made["error"].to_pylist()[2]
    with pytest.raises(fiedler.ParseError, match="names node 7"):
        fiedler.encode(table)


def test_encoders_are_pickled_by_their_settings() -> None:
    context = fiedler.Context("cpu", threads=1, rates=fiedler.Context("cpu").rates())
    encoder = Encoder(k=3, laplacian="combinatorial", columns={"src": "dst", "dst": "src"}, context=context)
    again = pickle.loads(pickle.dumps(encoder))
    assert repr(again) == repr(encoder) and "combinatorial" in repr(again)
    assert again(molecules(5)).equals(encoder(molecules(5)))
    assert again._context.rates() == context.rates()
    features = pickle.loads(pickle.dumps(FeatureEncoder("graph(top=2)")))
    assert features(molecules(5)).equals(FeatureEncoder("graph(top=2)")(molecules(5)))
    cloudpickle = pytest.importorskip("cloudpickle")
    assert cloudpickle.loads(cloudpickle.dumps(encoder))(molecules(5)).equals(encoder(molecules(5)))


def test_features() -> None:
    table = pa.table({"id": [1, 2, 3], "x": [[1.0, 3.0], [2.0, 2.0], None]})
    made = FeatureEncoder("moments(columns=['mean', 'sd'])")(table)
    assert made["moments.mean"].to_pylist() == [2.0, 2.0, None]
    assert made["status"].to_pylist() == ["ok", "ok", "bad input"]
    molecule = molecules(10)
    found = FeatureEncoder(["graph(top=2, walks=1)"])(molecule)
    assert found.num_rows == 10 and "graph.eigenvalue_1" in found.column_names
    alone = FeatureEncoder("graph(top=2, walks=1)")
    assert pa.concat_tables([alone(molecule.slice(i, 1)) for i in range(10)]).equals(found)


def test_schemas() -> None:
    encoder, table = Encoder(k=2), molecules(3)
    assert encoder.schema(table.schema).equals(encoder(table).schema, check_metadata=True)
    assert encoder(table.slice(0, 0)).schema.equals(encoder(table).schema)


def test_what_is_refused() -> None:
    with pytest.raises(TypeError, match="expected a table of pyarrow, polars, DuckDB or pandas"):
        Encoder()([1, 2])
    with pytest.raises(fiedler.DomainError, match="expected the columns src and dst"):
        Encoder()(pa.table({"x": [1]}))
    with pytest.raises(fiedler.DomainError, match="expected no column `status`"):
        Encoder()(molecules(2).append_column("status", [[1, 2]]))
    for settings in ({"layout": "wide"}, {"trivial": "first"}, {"precision": "f16"}, {"k": -1}):
        with pytest.raises((ValueError, TypeError), match=next(iter(settings))):
            Encoder(**settings)  # type: ignore[arg-type]
    with pytest.raises(fiedler.DomainError, match="expected graph, num_nodes, src, dst, edge_index, weight, found"):
        Encoder(columns={"from": "src"})(molecules(2))
    with pytest.raises(fiedler.DomainError, match="rates"):
        fiedler.Context(rates="{}")


def test_an_error_of_whoever_makes_the_batches_is_raised() -> None:
    def batches() -> object:
        yield molecules(2).to_batches()[0]
        raise ValueError("no more today")

    reader = pa.RecordBatchReader.from_batches(molecules(1).schema, batches())
    with pytest.raises(fiedler.Error, match="no more today"):
        Encoder()(reader)


def test_columns_never_become_python_objects() -> None:
    # A million rows of two nodes; through objects, the conversion alone would take longer than everything here.
    count = 1_000_000
    ends = pa.ListArray.from_arrays(pa.array(np.arange(count + 1, dtype=np.int32)), pa.array(np.zeros(count, np.int64)))
    table = pa.table({"src": ends, "dst": ends})
    objects = sys.getallocatedblocks()
    made = Encoder(k=0, cache=False)(table)
    assert made.num_rows == count and sys.getallocatedblocks() - objects < 10_000


def test_a_stream_is_interrupted() -> None:
    batch = molecules(3000).combine_chunks().to_batches()[0]

    def batches() -> object:
        while True:
            yield batch

    reader = pa.RecordBatchReader.from_batches(batch.schema, batches())
    # It would never end.
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        Encoder(k=8, cache=False)(reader)
    assert Encoder(k=2)(molecules(2)).num_rows == 2
