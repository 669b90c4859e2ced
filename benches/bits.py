#!/usr/bin/env python3
"""Compares the bits that two builds of the command write, for every operation on the CPU and on the named adapters.

    pip install numpy
    benches/bits.py BEFORE AFTER [--adapters llvmpipe swiftshader] [--only WORDS]

Inputs are generated from seeds. For every call the arrays of both builds are compared bit by bit. For each call whose
arrays differ, a line with the largest difference is printed. The exit status is 1 if any call differs. Calls that both
builds refuse in the same way count as equal.
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np


def inputs(binary, folder):
    """Writes the inputs and returns name -> file."""
    rng = np.random.default_rng(7)
    made = {}

    def save(name, array):
        made[name] = folder / f"{name}.npy"
        np.save(made[name], array)

    for n, items in [(8, 40), (33, 10), (70, 4), (200, 2), (300, 1)]:
        a = rng.standard_normal((items, n, n), dtype=np.float32)
        save(f"symmetric-{n}", a + a.transpose(0, 2, 1))
        save(f"square-{n}", a)
        save(f"right-{n}", rng.standard_normal((items, n, n + 3), dtype=np.float32))
    for m, n, items in [(20, 6, 30), (120, 40, 3), (40, 120, 3), (400, 150, 1)]:
        save(f"tall-{m}x{n}", rng.standard_normal((items, m, n), dtype=np.float32))
    save("rows", rng.standard_normal((3000, 40), dtype=np.float32))
    save("series", rng.standard_normal((50, 4096), dtype=np.float32))
    save("odd-series", rng.standard_normal((20, 1009), dtype=np.float32))
    save("half", rng.standard_normal((20, 97), dtype=np.float32) + 1j * rng.standard_normal((20, 97), dtype=np.float32))
    save("planes", rng.standard_normal((4, 60, 64), dtype=np.float32))
    for name in "pq":
        table = rng.random((200, 50), dtype=np.float32) + 1e-3
        save(name, table / table.sum(1, keepdims=True))

    def generate(name, *words):
        made[name] = folder / name
        subprocess.run([binary, "generate", *map(str, words), "-o", made[name], "--overwrite"], check=True, stdout=subprocess.DEVNULL)

    generate("molecules", "molecules", "--graphs", 300, "--seed", 3)
    generate("grid.txt", "grid", "--rows", 40, "--columns", 40)
    generate("large-grid.txt", "grid", "--rows", 100, "--columns", 100)
    generate("preferential.txt", "preferential", "--nodes", 3000, "--links", 4)
    generate("uniform.mtx", "uniform", "--nodes", 700, "--edges", 3000)
    weak = folder / "weak.txt"
    edges = [(60 * c + i, 60 * c + j, 1.0) for c in range(4) for i in range(60) for j in range(i) if rng.random() < 0.2]
    weak.write_text("".join(f"{a} {b} {w}\n" for a, b, w in edges + [(0, 60, 1e-6), (61, 120, 1e-9), (121, 180, 1e-3)]))
    made["weak.txt"] = weak
    return made


def calls():
    """Yields (words of the call, names of its inputs, whether the call can also run on a device)."""
    for n in [8, 33, 70, 200, 300]:
        yield ["run", "eigh"], [f"symmetric-{n}"], True
        yield ["run", "eigvalsh"], [f"symmetric-{n}"], True
        yield ["run", "eigh", "--precision", "refined"], [f"symmetric-{n}"], False
        yield ["run", "matmul"], [f"square-{n}", f"right-{n}"], True
        yield ["run", "matmul", "--transpose-a", "--alpha", "0.5"], [f"square-{n}", f"right-{n}"], True
        yield ["run", "svd"], [f"square-{n}"], True
    yield ["run", "eigh", "-k", "5"], ["symmetric-200"], True
    for shape in ["20x6", "120x40", "40x120", "400x150"]:
        for words in [["svd"], ["svdvals"], ["svd", "--precision", "refined"], ["svd", "--full"]]:
            yield ["run", *words], [f"tall-{shape}"], "refined" not in words
    for graph in ["grid.txt", "large-grid.txt", "preferential.txt", "uniform.mtx", "weak.txt"]:
        for method in ["auto", "chebyshev", "lanczos", "subspace", "power"]:
            k = "1" if method == "power" else "6"
            which = ["--which", "largest"] if method == "power" else []
            yield ["run", "eigsh", "-k", k, "--laplacian", "symmetric", "--method", method, *which], [graph], method in ("auto", "chebyshev")
        yield ["run", "eigsh", "-k", "6", "--laplacian", "combinatorial", "--method", "shift-invert"], [graph], False
        yield ["run", "eigsh", "-k", "6", "--laplacian", "combinatorial", "--precision", "refined"], [graph], False
        yield ["run", "spmm", "--laplacian", "symmetric", "-k", "16"], [graph], True
    for graph in ["molecules", "grid.txt", "preferential.txt", "uniform.mtx", "weak.txt"]:
        for laplacian in ["symmetric", "combinatorial", "random-walk"]:
            yield ["encode", "--no-cache", "-k", "8", "--laplacian", laplacian], [graph], True
        for method in ["exact", "fast"]:
            yield ["encode", "--no-cache", "-k", "8", "--method", method, "--precision", "f64"], [graph], False
        yield ["encode", "--no-cache", "-k", "8", "--walk-steps", "8", "--preset", "pyg"], [graph], True
    yield ["encode", "--no-cache", "-k", "240"], ["weak.txt"], True
    for words in [["fft"], ["ifft"], ["rfft"], ["rfft", "--axis", "0"], ["power-spectrum", "--window", "hann", "--bands", "0.1,0.2,0.3"], ["stats"]]:
        for name in ["series", "odd-series"]:
            yield ["run", *words], [name], True
    yield ["run", "fft", "--precision", "refined"], ["odd-series"], False
    yield ["run", "irfft"], ["half"], True
    yield ["run", "fft2"], ["planes"], True
    yield ["run", "ifft2"], ["planes"], True
    for words in [["stats", "--axis", "rows"], ["quantiles", "-q", "0.1,0.5,0.9", "--axis", "rows"], ["histogram", "--axis", "rows", "--bins", "20"], ["cov"], ["corr"], ["pca", "-k", "5"], ["pca", "-k", "40", "--whiten"], ["pca", "-k", "5", "--solver", "truncated"]]:
        yield ["run", *words], ["rows"], "truncated" not in words
        yield ["run", *words, "--precision", "refined"], ["rows"], False
    for kind in ["kl", "js", "js-distance", "tv", "chi-square", "hellinger"]:
        yield ["run", "divergence", "--kind", kind], ["p", "q"], True
    for law in ["words", "uniform", "normal", "bernoulli"]:
        yield ["run", "random", "--shape", "1000,33", "--distribution", law, "--seed", "5"], [], True


def written(binary, words, files, side, folder):
    """Returns the arrays of one call, or the message with which it was refused."""
    out = folder / "out.npz"
    out.unlink(missing_ok=True)
    done = subprocess.run([binary, *words, *map(str, files), "-o", out, "--overwrite", *side, "--quiet"], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        return f"exit {done.returncode}: {done.stderr.strip()}".replace(str(binary), "fiedler")
    with np.load(out) as arrays:
        return {name: arrays[name] for name in arrays.files}


def difference(before, after):
    """Describes the difference; returns an empty string if all bits are the same."""
    if isinstance(before, str) or isinstance(after, str):
        return "" if isinstance(before, str) and before == after else f"{before if isinstance(before, str) else 'arrays'} | {after if isinstance(after, str) else 'arrays'}"
    if before.keys() != after.keys():
        return f"arrays {sorted(before)} | {sorted(after)}"
    words = []
    for name, a in before.items():
        b = after[name]
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            words.append(f"{name}: {a.dtype} {a.shape} | {b.dtype} {b.shape}")
        elif a.tobytes() != b.tobytes():
            moved = np.count_nonzero(np.frombuffer(a.tobytes(), f"V{a.itemsize}") != np.frombuffer(b.tobytes(), f"V{a.itemsize}"))
            most = np.nanmax(np.abs(a.astype(np.complex128) - b.astype(np.complex128)), initial=0.0)
            words.append(f"{name}: {moved} of {a.size}, {most:.1e} at most")
    return "; ".join(words)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--adapters", nargs="*", default=[])
    parser.add_argument("--only", default="", help="calls whose words contain this")
    args = parser.parse_args()
    sides = [["--backend", "cpu"]] + [["--backend", "gpu", "--adapter", name] for name in args.adapters]
    same = moved = refused = 0
    os.environ["FIEDLER_CACHE_BYTES"] = "0"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = inputs(args.before.resolve(), folder)
        for words, names, device in calls():
            label = " ".join([*words, *names])
            if args.only not in label:
                continue
            for side in sides if device else sides[:1]:
                results = [written(binary.resolve(), words, [made[n] for n in names], side, folder) for binary in (args.before, args.after)]
                what = difference(*results)
                if what:
                    moved += 1
                    print(f"{label} {side[-1]}: {what}", flush=True)
                else:
                    same += 1
                    if isinstance(results[0], str):
                        refused += 1
                        print(f"refused by both: {label} {side[-1]}: {results[0][:150]}", file=sys.stderr)
    print(f"{same} calls with the same bits (of them {refused} refused by both), {moved} that differ")
    return 1 if moved else 0


if __name__ == "__main__":
    sys.exit(main())
