"""The programs of the tutorials, at a size that takes seconds."""

import runpy
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


def test_a_mesh_is_cut_and_rings_are_found():
    metrics = pytest.importorskip("sklearn.metrics")
    mesh = runpy.run_path(str(ROOT / "examples" / "mesh.py"))
    straight, spectral, by_means, by_spectrum = (found for *_, found in mesh["rows"](20_000, 3_000))
    edges = mesh["plate"](20_000)[1]
    cut = [int((part[edges[0]] != part[edges[1]]).sum()) for _, part in (straight, spectral)]
    # 268 and 883: straight cuts go along the channels.
    assert cut[1] < 0.4 * cut[0], cut
    sizes = np.bincount(spectral[1])
    assert len(sizes) == 8 and sizes.sum() == len(straight[1]) and np.ptp(sizes) <= 4, sizes
    ring = mesh["rings"](3_000)[1]
    assert metrics.adjusted_rand_score(ring, by_means[1]) < 0.1
    assert metrics.adjusted_rand_score(ring, by_spectrum[1]) == 1


def test_molecules_are_asked_two_questions(tmp_path):
    pytest.importorskip("torch_geometric.datasets")
    # Rings of five and of six atoms, with tails, as files of a data set have them.
    raw = tmp_path / "MUTAG" / "raw"
    raw.mkdir(parents=True)
    pairs, graph, first = [], [], 1
    for i in range(24):
        ring, tail = 5 + i % 2, 2 + i % 3
        one = [(a, (a + 1) % ring) for a in range(ring)] + [(a - 1, a) for a in range(ring, ring + tail)]
        pairs += [(first + a, first + b) for u, v in one for a, b in ((u, v), (v, u))]
        graph += [i + 1] * (ring + tail)
        first += ring + tail
    texts = {"A": [f"{a}, {b}" for a, b in pairs], "graph_indicator": graph, "graph_labels": [1, -1] * 12}
    texts |= {"node_labels": [0] * len(graph), "edge_labels": [0] * len(pairs)}
    for name, lines in texts.items():
        (raw / f"MUTAG_{name}.txt").write_text("\n".join(map(str, lines)) + "\n")
    molecules = runpy.run_path(str(ROOT / "examples" / "molecules.py"))
    made = list(molecules["rows"](str(tmp_path), seeds=2, folds=3, epochs=40))
    assert [(question, encoding) for question, encoding, *_ in made] == [
        (question, encoding) for question in molecules["QUESTIONS"] for encoding in molecules["ENCODINGS"]
    ]
    # A walk returns after five steps in a ring of five atoms alone.
    assert (made[-1][4] > 0.9).all(), made
    assert np.isfinite([molecules["interval"](found) for *_, found in made]).all()
