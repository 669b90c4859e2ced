#!/usr/bin/env python3
"""Measures dense operations: `fiedler run` next to numpy, SciPy and torch (CPU) or CuPy, JAX and torch (cuda), in one
run.

    python3 benches/dense.py PEERS_DIR target/release/fiedler [--device cpu|cuda] [--only gemm,fft,svd,cov,alone] [--table] [-- --backend gpu --adapter NAME]

PEERS_DIR holds dense_peers.py, which defines the sizes, peers, settings and workload names. The arguments after `--`
are passed to `fiedler run`. The result of fiedler is first compared with f64 (numpy). Its error is divided by the error
that the operation promises; if the quotient is more than 1, the result is wrong, and the exit status is 1. Then every
side is called in turn, fiedler first, round after round, so that a noisy machine disturbs all sides equally.

One JSON line is printed for each workload and side. It has the median in ms of calls with resident data, and two
rates: `gbytes_per_s` counts the data that has to be read and written once, and `gflop_per_s` counts the operations of
the textbook (5 n log2 n for an FFT). `copy_share` and `fma_share` are these rates as shares of the copy and multiply-add rates that
`fiedler run ceilings` measures on this machine; the shares of peers refer to the same ceilings.
"""
import argparse, importlib.util, json, pathlib, subprocess, sys, tempfile, time
import numpy as np


def load(folder):
    spec = importlib.util.spec_from_file_location("dense_peers", pathlib.Path(folder) / "dense_peers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def workloads(module, only, device, quick):
    """Yields (name, the peers' method, the arguments of fiedler, arrays, bytes that have to be moved, flop) for the
    workloads of dense_peers.py. On a CPU, batches have a sixteenth of their size there."""
    cap = 1 if device == "cuda" else 16
    cut = lambda n: max(1, n // cap)
    keep = lambda rows: rows[::3] if quick else rows
    r = np.random.default_rng(5)
    real = lambda *shape: r.standard_normal(shape).astype(np.float32)
    if "gemm" in only:
        for kind, n, batch in keep(module.GEMM):
            if device == "cpu" and (kind == "f16" or n > 4096):
                continue
            b, size = cut(batch), 2 if kind == "f16" else 4
            make = lambda n=n, b=b, t=np.float16 if kind == "f16" else np.float32: [real(b, n, n).astype(t), real(b, n, n).astype(t)]
            yield f"gemm/{kind}/n={n}/batch={b}", "gemm", ["matmul"], make, 3 * size * b * n * n, 2 * b * n**3
    if "fft" in only:
        for n, batch in keep(module.FFT):
            b = cut(batch)
            complex_ = lambda n=n, b=b: [(real(b, n) + 1j * real(b, n)).astype(np.complex64)]
            yield f"fft/c64/n={n}/batch={b}", "fft", ["fft"], complex_, 16 * b * n, 5 * b * n * np.log2(n)
            yield f"rfft/f32/n={n}/batch={b}", "rfft", ["rfft"], lambda n=n, b=b: [real(b, n)], 8 * b * n, 2.5 * b * n * np.log2(n)
    if "svd" in only:
        for n, batch in keep(module.SVD):
            b = cut(batch)
            # One-sided Jacobi and LAPACK do different numbers of operations. 22 n^3 is the number of Golub and Van Loan
            # for U, S and V.
            yield f"svd/f32/n={n}/batch={b}", "svd", ["svd"], lambda n=n, b=b: [real(b, n, n)], 4 * b * (3 * n * n + n), 22 * b * n**3
    if "alone" in only:
        # Single matrices, on which all threads work together.
        for n in (128, 256, 512, 1024, 2048):
            symmetric = lambda n=n: [(lambda a: (a + a.transpose(0, 2, 1)) / 2)(real(1, n, n))]
            yield f"eigh/f32/n={n}/batch=1", "eigh", ["eigh"], symmetric, 4 * (2 * n * n + n), 9 * n**3
        for n in (128, 256, 512, 1024):
            yield f"svd/f32/n={n}/batch=1", "svd", ["svd"], lambda n=n: [real(1, n, n)], 4 * (3 * n * n + n), 22 * n**3
    if "cov" in only:
        rows, cols = 1000000 // cap, 128
        yield f"cov/f32/rows={rows}/cols={cols}", "cov", ["cov"], lambda: [real(rows, cols)], 4 * rows * cols, 2 * rows * cols * cols


def error_share(op, arrays, found):
    """Returns the largest difference from the f64 result, divided by the promised error."""
    eps = 2.0**-23
    wide = [a.astype(np.complex128 if np.iscomplexobj(a) else np.float64) for a in arrays]
    first = lambda: next(iter(found.values()))
    if op == "gemm":
        a, b = (w[:64, :, :] if len(w) > 64 else w for w in wide)
        got = first().reshape(arrays[0].shape)[: len(a)]
        allowed = 4 * eps * np.sqrt(a.shape[2]) * (np.linalg.norm(a, axis=2)[:, :, None] * np.linalg.norm(b, axis=1)[:, None, :])
        if found and arrays[0].dtype == np.float16 and got.dtype == np.float16:
            allowed = allowed + 2.0**-10 * np.abs(a @ b)
        return float((np.abs(got - a @ b) / allowed).max())
    if op in ("fft", "rfft"):
        truth = getattr(np.fft, op)(wide[0])
        got = first().reshape(truth.shape)
        return float((np.linalg.norm(got - truth, axis=1) / np.linalg.norm(truth, axis=1)).max() / (4 * eps * np.log2(wide[0].shape[1])))
    if op == "svd":
        a, (u, s, vh) = wide[0], (found[k].astype(np.float64) for k in ("u", "s", "vh"))
        norm = np.abs(a).sum(1).max(1)
        return float((np.abs(u * s[:, None, :] @ vh - a).sum(1).max(1) / (15 * a.shape[1] * eps * norm)).max())
    if op == "eigh":
        a, (v, w) = wide[0], (found[k].astype(np.float64) for k in ("v", "w"))
        norm = np.abs(a).sum(1).max(1)
        return float((np.abs(a - v * w[:, None, :] @ v.transpose(0, 2, 1)).sum(1).max(1) / (10 * a.shape[1] * eps * norm)).max())
    truth = np.cov(wide[0], rowvar=False)
    d = np.sqrt(np.diag(truth))
    return float((np.abs(first().reshape(truth.shape) - truth) / np.outer(d, d)).max() / 1e-5)


class Own:
    def __init__(self, o, arguments, arrays, folder):
        self.name, self.times, self.note, self.out = " ".join(["fiedler", *o.options]), [], None, folder / "own.npz"
        files = []
        for i, a in enumerate(arrays):
            files.append(str(folder / f"{i}.npy"))
            np.save(files[-1], a)
        self.command = [o.fiedler, "run", *arguments, *files, "-o", str(self.out), "--overwrite", *o.options, "--time"]

    def round(self, count):
        if self.note is None:
            done = subprocess.run([*self.command, str(count)], capture_output=True, text=True)
            if done.returncode not in (0, 3):
                self.note = (done.stderr.strip().splitlines() or ["no word"])[-1][-200:]
            elif count:
                self.times.append(json.loads(done.stdout.splitlines()[-1])["resident_ms"] / 1e3)

    def result(self):
        found = np.load(self.out)
        return {name: found[name] for name in found.files}


class Peer:
    def __init__(self, peer, op, arrays):
        self.name, self.times, self.note, self.peer = peer.name, [], None, peer
        try:
            args = [peer.put(a) for a in arrays]
            self.call = lambda: getattr(peer, op)(*args)
        except Exception as error:
            self.note = f"{type(error).__name__}: {str(error)[:150]}"

    def round(self, count):
        if self.note is None:
            try:
                times = [self.peer.timed(self.call) for _ in range(max(1, count))]
                if count:
                    self.times.append(float(np.median(times)))
            except Exception as error:
                self.note = f"{type(error).__name__}: {str(error)[:150]}"


def peers(module, device):
    for make in [module.Cupy, module.Jax, lambda: module.Torch("cuda")] if device == "cuda" else [module.Numpy, module.Scipy, lambda: module.Torch("cpu")]:
        try:
            yield make()
        except Exception as error:
            print(json.dumps({"peer": getattr(make, "__name__", "torch"), "note": f"left out: {type(error).__name__}: {str(error)[:150]}"}), flush=True)


def shown(row, mine):
    cell = lambda key, form: format(row[key], form) if key in row else "-"
    ratio = f"{row['ms'] / mine:.2f}" if mine and "ms" in row else "-"
    ms = cell("ms", ".4g") if "ms" in row else row.get("note", "-")
    return (
        f"| {row['workload']} | {row['side']} | {ms} | {ratio} | {cell('gbytes_per_s', '.3g')} | {cell('copy_share', '.0%')} "
        f"| {cell('gflop_per_s', '.3g')} | {cell('fma_share', '.0%')} | {cell('error_share', '.2g')} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peers_dir")
    parser.add_argument("fiedler")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--only", default="gemm,fft,svd,cov,alone")
    parser.add_argument("--quick", action="store_true", help="every third size")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=5, help="calls of a side in a round, whose median counts")
    parser.add_argument("--table", action="store_true")
    given = sys.argv[1:]
    cut = given.index("--") if "--" in given else len(given)
    o = parser.parse_args(given[:cut])
    o.options = given[cut + 1 :]
    module = load(o.peers_dir)
    measured = subprocess.run([o.fiedler, "run", "ceilings", *o.options], capture_output=True, text=True)
    ceilings = json.loads(measured.stdout.splitlines()[-1]) if measured.returncode == 0 else {}
    print(json.dumps({"workload": "ceilings", "side": "fiedler", **(ceilings or {"note": measured.stderr.strip()[-200:]})}), flush=True)
    others = list(peers(module, o.device))
    rows, failed = [], False
    for workload, op, arguments, make, moved, flop in workloads(module, set(o.only.split(",")), o.device, o.quick):
        arrays = make()
        with tempfile.TemporaryDirectory() as folder:
            sides = [Own(o, arguments, arrays, pathlib.Path(folder))]
            sides += [Peer(peer, op, arrays) for peer in others if getattr(peer, op, None) is not None]
            for side in sides:
                side.round(0)
            share = None
            if sides[0].note is None:
                share = error_share(op, arrays, sides[0].result())
                failed |= not share <= 1
            else:
                failed = True
            for _ in range(o.rounds):
                for side in sides:
                    side.round(o.calls)
        for side in sides:
            row = {"workload": workload, "side": side.name}
            if side.times:
                seconds = float(np.median(side.times))
                row |= {"ms": round(1e3 * seconds, 5), "gbytes_per_s": moved / seconds / 1e9, "gflop_per_s": flop / seconds / 1e9}
                if ceilings:
                    row |= {"copy_share": moved / seconds / ceilings["copy_bytes_per_s"], "fma_share": flop / seconds / ceilings["fma_flop_per_s"]}
            if side.note is not None:
                row["note"] = side.note
            if side is sides[0] and share is not None:
                row["error_share"] = share
                if not share <= 1:
                    row["wrong"] = f"an error of {share:.3g} times what is promised"
            rows.append(row)
            print(json.dumps({k: float(f"{v:.4g}") if isinstance(v, float) else v for k, v in row.items()}), flush=True)
    if o.table:
        print("\n| workload | side | median, ms | this / fiedler | GB/s | of copy | Gflop/s | of fma | error, of what is promised |\n|---|---|---|---|---|---|---|---|---|")
        for row in rows:
            print(shown(row, next(r.get("ms") for r in rows if r["workload"] == row["workload"])))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
