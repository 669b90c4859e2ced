#!/usr/bin/env python3
"""Measures the time per matrix for many sizes, so that a sudden rise between sizes is visible: `fiedler run` next to
numpy and torch on the same matrices in one run.

    python3 benches/chart.py [--fiedler target/release/fiedler] [--only eigh,eigvalsh,svd] [--table] [-- --backend gpu --adapter NAME]

The arguments after `--` are passed to `fiedler run`. One JSON line is printed for each workload and peer. It has the
name, such as `eigh/f32/n=32/batch=625`, the median in ms of calls with resident data (`transfers_ms`: from host to
host), and us per matrix. For fiedler it also has the largest error of an eigenvalue or singular value in units of eps
|A|_1, and the number of matrices without the status Converged. --table prints Markdown at the end. Needs numpy; uses
torch if it is installed.
"""
import argparse, json, pathlib, subprocess, sys, tempfile, time
import numpy as np

# The sizes and batches of dense_peers.py on a CPU. The sizes in between have batches that take about as long.
SIZES = {
    "eigh": [(2, 6250), (3, 6250), (4, 6250), (8, 6250), (16, 625), (31, 625), (32, 625), (33, 625), (48, 250), (64, 62), (100, 31),
             (128, 31), (256, 4), (512, 1), (1024, 1), (2048, 1)],
    "svd": [(2, 6250), (4, 6250), (8, 6250), (16, 625), (31, 625), (32, 625), (33, 625), (48, 125), (64, 62), (100, 12), (128, 12),
            (256, 2), (512, 1), (1024, 1)],
}
SIZES["eigvalsh"] = SIZES["eigh"]
SIZES["svdvals"] = SIZES["svd"]


def symmetric(n, batch, rng):
    """Returns a batch of which one half are Laplacians of random graphs and the other half are random symmetric
    matrices."""
    a = rng.standard_normal((batch, n, n)).astype(np.float32)
    a = (a + a.transpose(0, 2, 1)) / 2
    half = batch // 2
    w = np.triu(rng.random((half, n, n)) < min(0.5, 6 / n), 1).astype(np.float32)
    w += w.transpose(0, 2, 1)
    a[:half] = w.sum(2)[:, :, None] * np.eye(n, dtype=np.float32) - w
    return a


def peers():
    yield "numpy " + np.__version__, lambda op: getattr(np.linalg, op), lambda a: a
    try:
        import torch
    except ImportError:
        return
    yield "torch " + torch.__version__, lambda op: getattr(torch.linalg, op), torch.from_numpy


def median_ms(call, repeat):
    times = []
    while len(times) < repeat + 1 and (len(times) < 4 or sum(times) < 4):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return 1e3 * float(np.median(times[1:]))


def fiedler(o, op, a, folder):
    np.save(folder / "a.npy", a)
    repeat = o.repeat if a.shape[1] <= 512 else 3
    command = [o.fiedler, "run", op, str(folder / "a.npy"), "-o", str(folder / "out.npz"), "--overwrite", "--time", str(repeat)]
    done = subprocess.run(command + o.options, capture_output=True, text=True)
    if done.returncode not in (0, 3):
        return {"note": done.stderr.strip()[-200:]}
    times = json.loads(done.stdout.splitlines()[-1])
    out = np.load(folder / "out.npz")
    values, wide = ("s", np.linalg.svd) if "svd" in op else ("w", np.linalg.eigvalsh)
    truth = wide(a.astype(np.float64), compute_uv=False) if "svd" in op else wide(a.astype(np.float64))
    norm = np.maximum(np.abs(a).sum(1).max(1), 1e-30)  # a graph without edges has a zero matrix
    return {"ms": times["resident_ms"], "transfers_ms": times["transfers_ms"], "first_ms": times["first_ms"],
            "value_error_eps": round(float((np.abs(out[values] - truth).max(1) / (2.0**-23 * norm)).max()), 3),
            "uncertified": int((out["status"] != 0).sum())}


def table(rows):
    names = list(dict.fromkeys(row["peer"] for row in rows))
    print("\n| workload | " + " | ".join(f"{name}, us a matrix" for name in names) + " | best peer / fiedler |")
    print("|---" * (len(names) + 2) + "|")
    for workload in dict.fromkeys(row["workload"] for row in rows):
        own = {row["peer"]: row.get("us") for row in rows if row["workload"] == workload}
        others = [us for name, us in own.items() if us and not name.startswith("fiedler")]
        mine = own[names[0]]
        ratio = f"{min(others) / mine:.2f}" if mine and others else "-"
        cells = " | ".join(f"{own[name]:.3g}" if own.get(name) else "-" for name in names)
        print(f"| {workload} | {cells} | {ratio} |")


def sizes(o, op):
    """Returns the (n, batch) pairs to measure: those of SIZES, or with --batches a grid of n = 4 to 256 and batches of
    up to 2e9 / n^3 matrices."""
    if o.batches:
        grid = [(2**i, batch) for batch in map(int, o.batches.split(",")) for i in range(2, 9)]
        return [(n, batch) for n, batch in grid if n <= o.largest and batch <= max(1, 2e9 / n**3)]
    return [(n, batch * o.scale) for n, batch in SIZES[op] if n <= o.largest]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fiedler", default="target/release/fiedler")
    parser.add_argument("--only", default="eigh,eigvalsh,svd")
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--scale", type=int, default=1, help="times the batches (16: dense_peers.py's on a GPU)")
    parser.add_argument("--batches", default="", help="a grid of batch sizes instead: 1,16,256,4096")
    parser.add_argument("--largest", type=int, default=2048, help="skip orders beyond this")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("options", nargs="*", help="for `fiedler run`")
    o = parser.parse_args()
    rows, failed = [], False
    with tempfile.TemporaryDirectory() as folder:
        for op in o.only.split(","):
            for n, batch in sizes(o, op):
                rng = np.random.default_rng(n)
                a = rng.standard_normal((batch, n, n)).astype(np.float32) if "svd" in op else symmetric(n, batch, rng)
                found = [(" ".join(["fiedler", *o.options]), fiedler(o, op, a, pathlib.Path(folder)))]
                for name, function, put in peers():
                    data, f = put(a), function(op)
                    found.append((name, {"ms": median_ms(lambda: f(data), o.repeat)}))
                for name, row in found:
                    row = {"workload": f"{op}/f32/n={n}/batch={batch}", "peer": name, **row}
                    if "ms" in row:
                        row["us"] = 1e3 * row["ms"] / batch
                    failed |= "note" in row or row.get("uncertified", 0) > 0
                    rows.append(row)
                    print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}), flush=True)
    if o.table:
        table(rows)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
