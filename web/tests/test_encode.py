"""Encodings of the browser are those of the command, on the CPU and on a device."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pytest

import native
from conftest import driven
from driver import Failed
from sameness import arrays, certified, compare, laplacian, same_bits

SOURCES = {"karate": native.karate, "molecules": native.molecules, "tied": native.tied}
KINDS = ["symmetric", "combinatorial", "random-walk"]


def encoded(client, source, **options):
    """Encodes a file on the client's side, which `auto` would not choose on a software adapter."""
    return client.encode(client.file(source.name, source.data), {"backend": client.side, **options})


def refused(kind, *words, call):
    with pytest.raises(Failed) as failed:
        call()
    assert (failed.value.name, failed.value.kind) == ("FiedlerError", kind), failed.value.message
    assert all(word in failed.value.message for word in words), failed.value.message


@pytest.mark.parametrize("which", ["smallest", "largest"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SOURCES)
def test_same_as_the_command(either, name, kind, which):
    """Values, vectors, ties and certificates of the same file."""
    source = SOURCES[name]()
    for k, drop in ((8, False), (4, True)):
        options = {"k": k, "laplacian": kind, "which": which, "dropTrivial": drop}
        encoding = encoded(either, source, **options)
        assert encoding["choice"]["side"] == either.side, encoding["choice"]
        on = (encoding["onCpu"], encoding["onGpu"])
        count = len(source.graphs)
        assert on == ((0, count) if either.side == "gpu" else (count, 0))
        got, want = arrays(encoding), native.encode(source, **options)
        compare(source.graphs, kind, got, want)
        certified(source.graphs, kind, got)
        for (n, edges), norm in zip(source.graphs, encoding["norm"]):
            true = np.abs(laplacian(n, edges, kind)).sum(axis=0).max(initial=0)
            assert norm == pytest.approx(true, rel=1e-6), f"{n} nodes"


def test_more_pairs_than_nodes(either):
    """k beyond the graphs' sizes: the columns without a pair are masked."""
    source = native.tied()
    encoding = encoded(either, source, k=40)
    compare(source.graphs, "symmetric", arrays(encoding), native.encode(source, k=40))


def test_two_runs_have_the_same_bits(either, chromium, site):
    """Twice by one client, and once by another one, whose device is its own."""
    source = native.molecules()
    first, again = (arrays(encoded(either, source, k=6)) for _ in range(2))
    same_bits(first, again)
    other = driven(chromium, site, **either.options)
    other.side = either.side
    same_bits(first, arrays(encoded(other, source, k=6)))
    other.watch.check()
    other.page.context.close()


def test_samples(either):
    """Every sample is certified and has the shapes that it says. `gridN` is any grid."""
    names = either.info["samples"]
    assert {"karate", "mesh", "grid30", "ring-of-cliques", "molecules", "ties"} <= set(names)
    for name in [*names, "grid2", "grid7", "grid40"]:
        options = {"k": 6, "backend": either.side}
        if either.side == "gpu" and either.explain({"sample": name}, {"k": 6})["gpuSeconds"] is None:
            # A large graph is iterated, which runs on the CPU alone in a browser.
            refused("domain", "CPU", call=lambda: either.encode({"sample": name}, options))
            continue
        encoding = either.encode({"sample": name}, options)
        got = arrays(encoding)
        assert set(encoding["status"]) == {"Converged"}, name
        assert len(got["node_offsets"]) == encoding["graphs"] + 1 and got["node_offsets"][-1] == encoding["nodes"]
        graphs = [either.graph({"sample": name}, g) for g in range(min(encoding["graphs"], 40))]
        assert [graph["nodes"] for graph in graphs] == np.diff(got["node_offsets"])[:40].tolist(), name
        edges = [(graph["nodes"], graph["edges"].reshape(-1, 2).astype(np.int64)) for graph in graphs]
        assert all((own[:, 0] <= own[:, 1]).all() for _, own in edges)
        if encoding["graphs"] <= 40:
            certified(edges, "symmetric", got)


def test_sample_of_ties(either):
    """40 graphs, most of them with repeated eigenvalues, equal to the command's encoding of the same graphs."""
    sample = {"sample": "ties"}
    encoding = either.encode(sample, {"k": 8, "backend": either.side})
    assert encoding["graphs"] == 40
    graphs = [either.graph(sample, g) for g in range(40)]
    source = native.tu_dataset("ties", [(one["nodes"], one["edges"].reshape(-1, 2)) for one in graphs])
    got = arrays(encoding)
    tied = sum(len(set(row[row >= 0])) < (row >= 0).sum() for row in got["tie_group"])
    assert tied >= 20, f"only {tied} graphs have ties"
    compare(source.graphs, "symmetric", got, native.encode(source))


def test_sample_of_karate(cpu):
    """The sample and the file in examples/data are the same graph."""
    sample, file = cpu.encode({"sample": "karate"}, {}), encoded(cpu, native.karate())
    same_bits(arrays(sample), arrays(file))


def grid(form):
    """A grid of 4 x 5 in a format."""
    n, edges = native.grid(4, 5)
    both = np.concatenate([edges, edges[:, ::-1]])
    text = "".join(f"{a} {b}\n" for a, b in edges)
    if form == "txt.gz":
        return gzip.compress(text.encode(), mtime=0)
    if form == "csv":
        return ("source,target\n" + text.replace(" ", ",")).encode()
    if form == "mtx":
        head = f"%%MatrixMarket matrix coordinate pattern symmetric\n{n} {n} {len(edges)}\n"
        return (head + "".join(f"{b + 1} {a + 1}\n" for a, b in edges)).encode()
    if form == "gml":
        nodes = "".join(f"node [ id {i} ]\n" for i in range(n))
        return f"graph [\n{nodes}{''.join(f'edge [ source {a} target {b} ]' for a, b in edges)}\n]\n".encode()
    out = io.BytesIO()
    if form == "npy":
        np.save(out, both.T)
    else:
        np.savez_compressed(out, edge_index=both.T, num_nodes=n)
    return out.getvalue()


@pytest.mark.parametrize("form", ["txt.gz", "csv", "mtx", "gml", "npy", "npz"])
def test_formats(cpu, form):
    source = native.Source(f"grid.{form}", grid(form), [native.grid(4, 5)])
    encoding = encoded(cpu, source, k=5)
    compare(source.graphs, "symmetric", arrays(encoding), native.encode(source, k=5))
    assert (encoding["graphs"], encoding["nodes"], encoding["edges"]) == (1, 20, 31)


def test_edges_of_an_array(cpu):
    """Edges and weights as arrays, and what becomes of an edge that is listed once."""
    n, edges = native.cycle(9)
    edges = np.asarray(edges, np.uint32).ravel()
    plain = cpu.encode({"nodes": n, "edges": edges}, {"k": 3, "laplacian": "combinatorial"})
    want = np.sort(2 - 2 * np.cos(2 * np.pi * np.arange(n) / n))[:3]
    assert np.abs(plain["eigenvalues"] - want).max() < 1e-6
    twice = {"nodes": n, "edges": edges, "weights": np.full(9, 2, np.float32)}
    heavy = cpu.encode(twice, {"laplacian": "combinatorial"})
    assert np.abs(heavy["eigenvalues"][:3] - 2 * want).max() < 2e-6
    half = cpu.encode({"nodes": n, "edges": edges, "symmetrize": "mean"}, {"laplacian": "combinatorial"})
    assert np.abs(half["eigenvalues"][:3] - want / 2).max() < 1e-6


CHANGED = """async ([how]) => {
  const edges = Uint32Array.of(0, 1, 1, 2, 2, 3), weights = Float32Array.of(1, 1, 1);
  const bytes = new TextEncoder().encode("0 1\\n1 2\\n2 3\\n");
  const input = how === "bytes" ? { bytes, name: "path.txt" } : { nodes: 4, edges, weights };
  const change = {
    edges: () => { edges[4] = 1; },
    weights: () => { weights[2] = 3; },
    bytes: () => { bytes[8] = "1".charCodeAt(0); },
  }[how];
  const values = async () => [...(await client.encode(input, { k: 4, laplacian: "combinatorial" })).eigenvalues];
  const before = await values();
  change();
  return { result: [before, await values()] };
}"""


@pytest.mark.parametrize("how", ["edges", "weights", "bytes"])
def test_arrays_that_change_in_place(cpu, how):
    """The answer is that of the arrays as they are, not of the graph that was read from them before."""
    heavy = np.linalg.eigvalsh([[1, -1, 0, 0], [-1, 2, -1, 0], [0, -1, 4, -3], [0, 0, -3, 3]])
    want = {"edges": [0, 1, 1, 4], "bytes": [0, 1, 1, 4], "weights": heavy}[how]  # a star, twice
    before, after = cpu.answer(CHANGED, [how])
    assert np.abs(np.subtract(before, [0, 2 - np.sqrt(2), 2, 2 + np.sqrt(2)])).max() < 1e-5
    assert np.abs(np.subtract(after, want)).max() < 1e-5


def test_return_probabilities(either):
    """`randomWalk` is the command's random_walk; without steps, it is empty."""
    source = native.molecules()
    encoding = encoded(either, source, k=4, walkSteps=5)
    want = native.encode(source, k=4, walkSteps=5)["random_walk"]
    assert want.shape == (encoding["nodes"], 5)
    # Both sum a few products in f64 and round once, so that one unit in the last place may be between them.
    np.testing.assert_array_max_ulp(encoding["randomWalk"].reshape(want.shape), want, 1)
    assert len(encoded(either, source, k=4)["randomWalk"]) == 0


def test_names_of_nodes(cpu):
    text = b"source,target\nAnna,Ben\nBen,Carl\n"
    graph = cpu.graph(cpu.file("people.csv", text), 0)
    assert graph["ids"] == ["Anna", "Ben", "Carl"] and graph["nodes"] == 3
    assert graph["edges"].tolist() == [0, 1, 1, 2]


def test_files_of_an_encoding(cpu):
    """The .npz is the command's in names, types, shapes and content; the .csv has a row for each node."""
    source = native.molecules()
    encoding = encoded(cpu, source, k=5, walkSteps=3)
    files = cpu.files()
    got, want = native.npz(files["npz"].tobytes()), native.encode(source, k=5, walkSteps=3)
    assert [(name, array.dtype, array.shape) for name, array in sorted(got.items())] == [
        (name, array.dtype, array.shape) for name, array in sorted(want.items())
    ]
    compare(source.graphs, "symmetric", got, want)
    same_bits({name: got[name] for name in arrays(encoding)}, arrays(encoding))
    # Both sum a few products in f64 and round once, so that one unit in the last place may be between them.
    np.testing.assert_array_max_ulp(got["random_walk"], want["random_walk"], 1)
    rows = files["csv"].tobytes().decode().splitlines()
    assert len(rows) == 1 + encoding["nodes"]


def test_progress(cpu):
    """Progress ends with all graphs."""
    script = """async () => {
      const seen = [];
      await client.encode({ sample: "molecules" }, { k: 4 }, (done, total) => seen.push([done, total]));
      return { result: seen };
    }"""
    seen = cpu.answer(script)
    assert seen and seen == sorted(seen) and seen[-1][0] == seen[-1][1] > 0, seen


def test_choice(cpu, gpu):
    """`explain` says what `encode` does, in the words of the command, and times are predicted for both sides."""
    sample = {"sample": "karate"}
    choice = cpu.explain(sample, {})
    assert choice["side"] == "cpu" and choice["cpuSeconds"] > 0 and "on the CPU" in choice["sentence"]
    choice = gpu.explain(sample, {"backend": "gpu"})
    assert choice["side"] == "gpu" and choice["gpuSeconds"] > 0, choice
    choice = gpu.explain(sample, {"backend": "auto"})
    assert choice["side"] == "cpu", "a software adapter is no faster than the CPU that it runs on"
    assert gpu.info["adapter"]["software"] and cpu.info["adapter"] is None and cpu.info["withoutAdapter"]


def test_refused(cpu):
    """Errors have a kind and the library's sentence, and the client works on."""
    cut = cpu.file("cut.txt", b"0 1\n1 2\n2 three four five\n")
    refused("parse", "3", call=lambda: cpu.encode(cut, {}))
    refused("parse", call=lambda: cpu.encode(cpu.file("noise.bin", bytes(range(128, 256)) * 8), {}))
    refused("domain", "no-such", call=lambda: cpu.encode({"sample": "no-such"}, {}))
    one_way = {"nodes": 3, "edges": np.asarray([0, 1, 1, 2], np.uint32), "symmetrize": "error"}
    refused("domain", call=lambda: cpu.encode(one_way, {}))
    beyond = {"nodes": 2, "edges": np.asarray([0, 5], np.uint32)}
    with pytest.raises(Failed):
        cpu.encode(beyond, {})
    refused("no-adapter", call=lambda: cpu.encode({"sample": "karate"}, {"backend": "gpu"}))
    refused("shape", call=lambda: cpu.eigh(np.zeros(7, np.float32), 2))
    assert cpu.encode({"sample": "karate"}, {})["status"] == ["Converged"]
