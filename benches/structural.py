"""GraphGPS's five encodings of molecules: by its definitions, one graph at a time in NumPy and torch, and by fiedler.

    PYTHONPATH=python python benches/structural.py [graphs]

LapPE and EquivStableLapPE take the same eigenpairs of the symmetric Laplacian, 8 of them; RWSE 16 steps; HKdiagSE 16
times; ElstaticSE. Both sides start from a list of graphs with `edge_index`, and end with an attribute of each graph; the
data set of PyTorch Geometric, whose edges are in one tensor, is measured too. The reference writes dense Laplacians
directly, which takes less time than GraphGPS's detour by PyTorch Geometric and SciPy.
"""

import statistics
import sys
import time
from types import SimpleNamespace

import numpy as np
import torch
from fiedler.torch_geometric import (
    AddElectrostaticPE,
    AddHeatKernelPE,
    AddLaplacianEigenvectorPE,
    AddRandomWalkPE,
    encode_dataset,
)

STEPS, TIMES, PAIRS = 16, list(range(1, 17)), 8


def molecules(count, seed):
    """Trees of 10 to 40 nodes, of degree 4 at most, with up to 4 rings."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        n = int(rng.integers(10, 41))
        degree, edges = np.zeros(n, dtype=int), set()
        for node in range(1, n):
            open_ = np.flatnonzero(degree[:node] < 4)
            other = int(open_[max(len(open_) - 1 - int(rng.integers(0, 4)), 0)])
            edges.add((other, node))
            degree[[other, node]] += 1
        for _ in range(int(rng.integers(0, 5))):
            a = int(rng.integers(0, n - 5))
            if (a, a + 5) not in edges and max(degree[a], degree[a + 5]) < 4:
                edges.add((a, a + 5))
                degree[[a, a + 5]] += 1
        listed = np.array(sorted(edges)).T
        index = torch.from_numpy(np.concatenate([listed, listed[::-1]], axis=1).copy())
        made.append(SimpleNamespace(edge_index=index, num_nodes=n, x=None))
    return made


def graphgps(data):
    """What compute_posenc_stats computes of a graph."""
    n = data.num_nodes
    source, target = data.edge_index
    adjacency = torch.zeros(n, n)
    adjacency[source, target] = 1
    degree = adjacency.sum(dim=1)
    laplacian = (torch.diag(degree) - adjacency).double()
    scale = degree.double().pow(-0.5)
    # LapPE, and EquivStableLapPE with the same numbers
    values, vectors = np.linalg.eigh((laplacian * scale * scale[:, None]).numpy())
    values = torch.from_numpy(values[:PAIRS]).clamp_min(0)
    vectors = torch.nn.functional.normalize(torch.from_numpy(vectors[:, :PAIRS]).float(), p=2, dim=0)
    data.EigVals, data.EigVecs = values.unsqueeze(0).repeat(n, 1).unsqueeze(2), vectors
    # RWSE
    step = torch.diag(degree.pow(-1)) @ adjacency
    power, walks = step.clone(), []
    for _ in range(STEPS):
        walks.append(torch.diagonal(power))
        power = power @ step
    data.pestat_RWSE = torch.stack(walks, dim=1)
    # HKdiagSE
    values, vectors = (torch.from_numpy(x) for x in np.linalg.eigh(laplacian.numpy()))
    vectors = torch.nn.functional.normalize(vectors, p=2, dim=0)
    kept = values >= 1e-8
    values, squares = values[kept].unsqueeze(-1), vectors[:, kept].T ** 2
    data.pestat_HKdiagSE = torch.stack([(torch.exp(-t * values) * squares).sum(dim=0) for t in TIMES], dim=1)
    # ElstaticSE
    share = torch.diag(degree.double().pow(-1)) @ adjacency.double()
    e = torch.linalg.pinv(laplacian)
    e = e - e.diag()
    columns = [e.min(dim=0)[0], e.max(dim=0)[0], e.mean(dim=0), e.std(dim=0)]
    columns += [e.min(dim=1)[0], e.max(dim=0)[0], e.mean(dim=1), e.std(dim=1)]
    data.pestat_ElstaticSE = torch.stack([*columns, (share * e).sum(dim=0), (share * e).sum(dim=1)], dim=1)
    return data


def transforms():
    return [
        AddLaplacianEigenvectorPE(PAIRS, trivial="keep"),
        AddRandomWalkPE(STEPS),
        AddHeatKernelPE(TIMES),
        AddElectrostaticPE(),
    ]


class Stored:
    """What an InMemoryDataset of PyTorch Geometric has."""

    def __init__(self, graphs):
        nodes = np.cumsum([0, *(graph.num_nodes for graph in graphs)])
        edges = np.cumsum([0, *(graph.edge_index.shape[1] for graph in graphs)])
        index = torch.cat([graph.edge_index for graph in graphs], dim=1)
        sizes = [graph.num_nodes for graph in graphs]
        self._data = SimpleNamespace(edge_index=index, num_nodes=sizes, x=None)
        self.slices = {"edge_index": torch.from_numpy(edges), "num_nodes": torch.arange(len(graphs) + 1)}
        self._indices, self._data_list, self.nodes = None, None, nodes


def seconds(call, times):
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    graphs = molecules(count, 1)
    torch.set_num_threads(1)  # more threads take longer for matrices of this size
    ours = encode_dataset(graphs[:200], transforms())
    for found, data in zip(ours, graphs[:200], strict=True):
        theirs = graphgps(data)
        for mine, yours in [("heat_kernel_pe", "HKdiagSE"), ("electrostatic_pe", "ElstaticSE"), ("random_walk_pe", "RWSE")]:
            # f32, of numbers up to the length of a molecule
            away = (getattr(found, mine).double() - getattr(theirs, f"pestat_{yours}").double()).abs().max()
            assert away < 1e-4, (mine, away)
    print(f"| {count} molecules | seconds |\n|---|---|")
    reference = seconds(lambda: [graphgps(data) for data in graphs], 1)
    print(f"| GraphGPS's definitions in NumPy and torch | {reference:.2f} |")
    listed = seconds(lambda: encode_dataset(graphs, transforms()), 5)
    print(f"| fiedler, a list of graphs | {listed:.3f} ({reference / listed:.0f} times) |")
    stored = seconds(lambda: encode_dataset(Stored(graphs), transforms()), 5)
    making = seconds(lambda: Stored(graphs), 5)
    print(f"| fiedler, a data set | {stored - making:.3f} ({reference / (stored - making):.0f} times) |")
    for transform in transforms():
        print(f"| {transform!r} alone, a list | {seconds(lambda: encode_dataset(graphs, transform), 3):.3f} |")


if __name__ == "__main__":
    main()
