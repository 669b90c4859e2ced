#!/usr/bin/env python3
"""`fiedler run` beside numpy on the same matrices in one run.

    python3 benches/beside_numpy.py [--fiedler target/release/fiedler] [--repeat 9] [-- --backend gpu --adapter NAME]

What follows `--` goes to `fiedler run`. Prints one JSON line for each workload and peer: workload `eigh/f32/n=32/batch=625`, the
median in ms (for fiedler: of calls with data where it computes; `transfers_ms` from host to host and `first_ms` beside it), the
largest eigenvalue difference in units of eps |A|_1, and how many matrices lack the Converged status. Needs numpy.
"""
import argparse, json, pathlib, subprocess, sys, tempfile, time
import numpy as np

SIZES = [(2, 6250), (4, 6250), (8, 6250), (16, 625), (31, 625), (32, 625), (33, 625), (48, 250), (60, 100), (64, 62), (84, 40),
         (100, 31), (128, 31), (256, 4), (512, 1)]


def symmetric(n, batch, seed):
    """Half random symmetric matrices, half Laplacians of random graphs: none diagonal, none zero."""
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((batch, n, n)).astype(np.float32)
    a = (a + a.transpose(0, 2, 1)) / 2
    half = batch // 2
    w = np.triu(rng.random((half, n, n)) < min(0.5, 6 / n), 1).astype(np.float32)
    w += w.transpose(0, 2, 1)
    a[:half] = w.sum(2)[:, :, None] * np.eye(n, dtype=np.float32) - w
    return a


def median_ms(call, repeat):
    times = []
    for _ in range(repeat + 1):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return round(1e3 * sorted(times[1:])[repeat // 2], 4)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fiedler", default="target/release/fiedler")
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--largest", type=int, default=512, help="skip orders beyond this (the device's kernels have a limit)")
    parser.add_argument("options", nargs="*", help="for `fiedler run`")
    o = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp())
    failed = False
    for n, batch in SIZES:
        if n > o.largest:
            continue
        a = symmetric(n, batch, n)
        np.save(folder / "a.npy", a)
        name = f"eigh/f32/n={n}/batch={batch}"
        command = [o.fiedler, "run", "eigh", str(folder / "a.npy"), "-o", str(folder / "out.npz"), "--time", str(o.repeat)]
        done = subprocess.run(command + o.options, capture_output=True, text=True)
        if done.returncode not in (0, 3):
            print(json.dumps({"workload": name, "peer": "fiedler", "note": done.stderr.strip()[-200:]}), flush=True)
            failed = True
            continue
        times = json.loads(done.stdout.splitlines()[-1])
        out = np.load(folder / "out.npz")
        truth = np.linalg.eigvalsh(a.astype(np.float64))
        norm = np.maximum(np.abs(a).sum(1).max(1), 1e-30)  # a graph without edges has the zero matrix
        error = float((np.abs(out["w"] - truth).max(1) / (2.0**-23 * norm)).max())
        uncertified = int((out["status"] != 0).sum())
        failed |= uncertified > 0
        print(json.dumps({"workload": name, "peer": "fiedler " + " ".join(o.options), "ms": round(times["resident_ms"], 4),
                          "transfers_ms": round(times["transfers_ms"], 4), "first_ms": round(times["first_ms"], 4),
                          "value_error_eps": round(error, 3), "uncertified": uncertified}), flush=True)
        print(json.dumps({"workload": name, "peer": "numpy " + np.__version__,
                          "ms": median_ms(lambda: np.linalg.eigh(a), o.repeat)}), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
