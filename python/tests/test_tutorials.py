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
