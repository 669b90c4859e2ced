#!/usr/bin/env python3
"""Measures `fiedler encode --walk-steps N`, which computes the diagonals of the powers 1 to N of D^-1 W, next to SciPy
on generated graphs, in one run.

    python3 benches/walks.py target/release/fiedler [older/fiedler ...] [--steps 16] [--only path,grid] [--rounds 3]

The time of fiedler is the shortest time of `encode` with walks minus the shortest time without walks. If several
binaries are named, rounds alternate between them. Each time is given in seconds, and then in CPU seconds of all
threads, which other work on the machine disturbs less. SciPy does the same in two ways: `powers` multiplies the sparse
matrix by itself, as PyTorch Geometric's AddRandomWalkPE does; `blocks` multiplies 64 columns at a time by S = D^-1/2 W
D^-1/2, and needs half of the steps because S is symmetric. The results are compared, and the largest difference is
printed. Needs numpy and SciPy.
"""
import argparse, json, os, pathlib, subprocess, tempfile, time
import numpy as np
import scipy.sparse as sparse

GRAPHS = {
    "path": ["path", "--nodes", "10000"],
    "grid": ["grid", "--rows", "100", "--columns", "100"],
    "preferential": ["preferential", "--nodes", "10000", "--links", "8", "--seed", "1"],
    "molecules": ["molecules", "--graphs", "10000", "--seed", "1"],
}


def matrix(path):
    """Returns the graphs of a generated file as one sparse matrix, and the list of the first node of each graph,
    followed by the number of nodes."""
    if path.is_dir():
        edges = np.loadtxt(next(path.glob("*_A.txt")), delimiter=",", dtype=np.int64) - 1
        graphs = np.loadtxt(next(path.glob("*_graph_indicator.txt")), dtype=np.int64)
        begins = np.flatnonzero(np.diff(graphs, prepend=0))
        n = len(graphs)
    else:
        edges = np.loadtxt(path, comments=("#", "%"), dtype=np.int64, usecols=(0, 1))
        n, begins = edges.max() + 1, np.zeros(1, dtype=np.int64)
    w = sparse.coo_matrix((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n)).tocsr()
    w = w.maximum(w.T)
    w.data[:] = 1.0
    return w, np.append(begins, n)


def powers(w, steps):
    p = sparse.diags(1.0 / np.maximum(np.asarray(w.sum(1)).ravel(), 1e-300)) @ w
    out, power = [p.diagonal()], p
    for _ in range(steps - 1):
        power = power @ p
        out.append(power.diagonal())
    return np.stack(out, 1)


def blocks(w, steps):
    scale = sparse.diags(1.0 / np.sqrt(np.maximum(np.asarray(w.sum(1)).ravel(), 1e-300)))
    s, n = (scale @ w @ scale).tocsr(), w.shape[0]
    out = np.zeros((n, steps + 1))
    for first in range(0, n, 64):
        own = np.arange(first, min(first + 64, n))
        here = np.zeros((n, len(own)))
        here[own, own - first] = 1.0
        for t in range(0, steps, 2):
            ahead = s @ here
            out[own, t], out[own, t + 1] = (ahead * here).sum(0), (ahead * ahead).sum(0)
            here = ahead
    return out[:, :steps]


def by_graph(of, w, begins, steps):
    """Computes the graphs one at a time, as a transform of a data set does."""
    return np.concatenate([of(w[a:b, a:b], steps) for a, b in zip(begins[:-1], begins[1:])])


def seconds(call):
    """Returns seconds, CPU seconds of this process and its children, and the result."""
    cpu = lambda: sum(os.times()[:4])
    start, cpu_start = time.perf_counter(), cpu()
    made = call()
    return time.perf_counter() - start, cpu() - cpu_start, made


def encode(binary, graph, out, steps):
    call = [binary, "encode", graph, "-o", out, "--overwrite", "-k", "1", "--backend", "cpu", "--no-cache", "--quiet"]
    return seconds(lambda: subprocess.run(call + (["--walk-steps", str(steps)] if steps else []), check=True))[:2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fiedler", nargs="+")
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default=",".join(GRAPHS))
    parser.add_argument("--peers", default="blocks,powers")
    args = parser.parse_args()
    ways = {"blocks": blocks, "powers": powers}
    with tempfile.TemporaryDirectory() as folder:
        for name in args.only.split(","):
            graph, out = pathlib.Path(folder) / (name if name == "molecules" else f"{name}.txt"), pathlib.Path(folder) / "out.npz"
            subprocess.run([args.fiedler[0], "generate", *GRAPHS[name], "-o", graph], check=True, capture_output=True)
            rounds = [[[encode(binary, graph, out, steps) for steps in (0, args.steps)] for binary in args.fiedler] for _ in range(args.rounds)]
            least = np.min(rounds, axis=0)
            line = {"graph": name, "steps": args.steps}
            for binary, (without, with_walks) in zip(args.fiedler, least):
                line[binary] = list(np.round(with_walks - without, 3))
                line[f"{binary}, all"] = list(np.round(with_walks, 3))
            # SciPy's results are compared with those of the first binary.
            encode(args.fiedler[0], graph, out, args.steps)
            with np.load(out) as found:
                # Sort by node number, in case the file has another order.
                ours = found["random_walk"][np.argsort(found["node_ids"])] if "node_ids" in found else found["random_walk"]
            w, begins = matrix(graph)
            for way in args.peers.split(","):
                taken, cpu, made = seconds(lambda: by_graph(ways[way], w, begins, args.steps))
                line[f"SciPy {way}"] = [round(taken, 3), round(cpu, 3)]
                line[f"{way}, off"] = float(np.abs(made - ours).max())
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
