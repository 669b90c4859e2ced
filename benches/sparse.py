#!/usr/bin/env python3
"""Measures large sparse graphs: `fiedler run eigsh` and `fiedler run spmm` next to SciPy and torch (CPU) or CuPy and
torch (cuda), in one run.

    python3 benches/sparse.py PEERS_DIR target/release/fiedler [--device cpu|cuda] [--full] [--table] [-- --backend gpu --adapter NAME]

PEERS_DIR holds dense_peers.py, which defines the graphs, peers, settings and workload names. The arguments after `--`
are passed to `fiedler run`. Results are checked before times count:

- eigsh: the eigenvalues of fiedler and of a peer must agree within the sum of both residual norms, which are measured
  here in f64. (By Kahan's theorem, if k orthonormal columns V have |A V - V W|_F = r, then A has k eigenvalues within r
  of W.) If the eigenvalues of a peer are larger by more than that, it missed eigenpairs, which is reported.
- spmm: each element is compared with the product in f64, in units of the error that f32 sums of that many terms may
  have.

Every side runs in its own process, one round after another, so that a noisy machine disturbs all sides equally. A peer
whose call takes longer than --limit seconds is stopped and reported as slower than that. One JSON line is printed for
each workload and side: the median in ms of calls with resident data. For eigsh on a CPU, this time includes returning
the eigenpairs. The exit status is 1 if a result of fiedler is wrong.
"""
import argparse, importlib.util, json, multiprocessing, pathlib, subprocess, sys, tempfile, time
import numpy as np

K, COLUMNS = 16, 32
EPS = 2.0**-24  # half a unit in the last place of f32


def workloads(full):
    """Yields the workloads of dense_peers.py: its sizes for a CPU and, with --full, those for a GPU."""
    for kind, size in [("grid", 100), ("ba", 10000)] + [("grid", 1000), ("ba", 100000)] * full:
        yield "eigsh", f"eigsh/f32/{kind}={size}/k={K}", kind, size
    for size in [62500] + [1000000] * full:
        yield "spmm", f"spmm/f32/nodes={size}/edges={size * 10}/k={COLUMNS}", "random", size


def load(folder):
    spec = importlib.util.spec_from_file_location("dense_peers", pathlib.Path(folder) / "dense_peers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def served(pipe, module, make, op, data, out):
    """Runs in a peer's process: makes its operands, then answers each "go" with the seconds of some calls."""
    try:
        peer = make(module)
        if not hasattr(peer, op) or getattr(peer, op) is None:
            return pipe.send(("absent", peer.name))
        put = lambda a: peer.sparse(a) if hasattr(a, "indptr") and hasattr(peer, "sparse") else peer.put(a)
        args = [put(a) if hasattr(a, "shape") else a for a in data]
        call = lambda: getattr(peer, op)(*args)
        pipe.send(("ready", peer.name))
        pipe.recv()
        begin = time.perf_counter()
        found = call()
        home = lambda a: a.get() if hasattr(a, "get") else a.cpu().numpy() if hasattr(a, "cpu") else a
        np.savez(out, *[home(a) for a in (found if op == "eigsh" else [found])])
        pipe.send(("times", [time.perf_counter() - begin]))
        while pipe.recv() == "go":
            times = [peer.timed(call)]
            while len(times) < 7 and sum(times) < 1:
                times.append(peer.timed(call))
            pipe.send(("times", times))
    except Exception as error:
        pipe.send(("note", f"{type(error).__name__}: {str(error)[:150]}"))


class Peer:
    def __init__(self, o, module, make, op, data, out):
        self.limit, self.out, self.times, self.note = o.limit, out, [], None
        self.pipe, theirs = multiprocessing.get_context("fork").Pipe()
        run = multiprocessing.get_context("fork").Process
        self.process = run(target=served, args=(theirs, module, make, op, data, out), daemon=True)
        self.process.start()
        theirs.close()
        kind, self.name = self.answer(600)
        if kind != "ready":
            self.note, self.name = self.name, "a peer" if kind == "note" else self.name
        self.absent = kind == "absent"

    def answer(self, seconds):
        try:
            if self.pipe.poll(seconds):
                return self.pipe.recv()
            return "note", f"more than {seconds:.0f} s"
        except (EOFError, OSError):
            return "note", "its process died"

    def round(self, first):
        if self.note is None:
            self.pipe.send("go")
            kind, found = self.answer(self.limit * (1 if first else 7))
            if kind == "note":
                self.note = found
                self.process.kill()
            elif not first:
                self.times += found

    def end(self):
        self.process.kill()
        self.process.join()

    def result(self):
        if self.note is not None:
            return None
        found = np.load(self.out)
        return [found[name] for name in found.files]


class Own:
    def __init__(self, o, op, graph, block, out):
        self.name, self.times, self.note, self.out, self.op = " ".join(["fiedler", *o.options]), [], None, out, op
        product = ["--block", str(block), "--laplacian", "none", "--precision", "f32"]
        what = ["-k", str(K), "--laplacian", "symmetric"] if op == "eigsh" else product
        self.command = [o.fiedler, "run", op, str(graph), "-o", str(out), "--overwrite", *what, "--time"]
        self.options, self.slow = o.options, False

    def round(self, first):
        count = "1" if first or self.slow else "3" if self.op == "eigsh" else "7"
        done = subprocess.run(self.command + [count, *self.options], capture_output=True, text=True)
        if done.returncode not in (0, 3):
            self.note = done.stderr.strip()[-200:]
            return
        seconds = json.loads(done.stdout.splitlines()[-1])["resident_ms"] / 1e3
        self.slow |= seconds > 2
        if not first:
            self.times.append(seconds)

    def result(self):
        if self.note is not None:
            return None
        found = np.load(self.out)
        return [found["w"], found["v"], found["status"]] if self.op == "eigsh" else [found["y"]]

    def end(self):
        pass


def check_pairs(laplacian, found):
    """Returns the eigenvalues in ascending order, the largest residual of an eigenpair, the norm of all residuals |A V
    - V W|, and |V'V - I|, all measured in f64."""
    order = np.argsort(found[0])
    w, v = found[0][order].astype(np.float64), found[1][:, order].astype(np.float64)
    v = v / np.linalg.norm(v, axis=0)
    r = np.linalg.norm(laplacian @ v - v * w, axis=0)
    return w, float(r.max()), float(np.linalg.norm(r)), float(np.abs(v.T @ v - np.eye(len(w))).max())


def compare(op, sides, laplacian, truth):
    """Records what is wrong or missing; returns whether the result of fiedler is right."""
    right = True
    mine = None
    for side in sides:
        found = side.result()
        side.facts = {}
        if found is None:
            continue
        if op == "spmm":
            y, terms = truth
            share = float((np.abs(found[0] - y) / np.maximum(terms, 1e-30)).max())
            side.facts["error_share"] = round(share, 3)
            if share > 1:
                side.facts["wrong"] = f"a number off by {share:.2g} times what rounding explains"
                right &= side is not sides[0]
            continue
        w, worst, together, orthogonality = check_pairs(laplacian, found)
        side.facts |= {"residual": float(f"{worst:.2g}"), "orthogonality": float(f"{orthogonality:.2g}")}
        # The bound also covers the rounding of the matrix and the eigenvalues to f32, and the error that a basis causes
        # that is not quite orthonormal.
        within = together + 2 * (4 * EPS) + 2 * orthogonality
        if mine is None:
            mine = (w, within)
            side.facts["status"] = sorted(set(found[2].tolist()))
            continue
        apart = w - mine[0]
        allowed = within + mine[1]
        side.facts["apart"] = float(f"{np.abs(apart).max():.2g}")
        if apart.max() > allowed:
            side.facts["wrong"] = f"missed pairs: a value too large by {apart.max():.2g}, where {allowed:.2g} is explained"
        if -apart.min() > allowed and orthogonality < 1e-3:
            right = False
            sides[0].facts["wrong"] = f"a value too large by {-apart.min():.2g}, where {allowed:.2g} is explained"
    return right


def table(rows):
    print("\n| workload | side | median, ms | residual, or share of f32's rounding | this / fiedler |\n|---|---|---|---|---|")
    for row in rows:
        mine = next(r.get("ms") for r in rows if r["workload"] == row["workload"])
        ms = f"{row['ms']:.4g}" if "ms" in row else row.get("note", "-")
        quality = row.get("residual", row.get("error_share", "-"))
        ratio = f"{row['ms'] / mine:.2f}" if mine and "ms" in row else "-"
        wrong = f" ({row['wrong']})" if "wrong" in row else ""
        print(f"| {row['workload']} | {row['side']} | {ms} | {quality}{wrong} | {ratio} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peers_dir")
    parser.add_argument("fiedler")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--full", action="store_true", help="the sizes for a GPU too")
    parser.add_argument("--only", default="", help="workloads whose name contains this")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=120, help="seconds that a peer's call may take")
    parser.add_argument("--table", action="store_true")
    given = sys.argv[1:]
    cut = given.index("--") if "--" in given else len(given)
    o = parser.parse_args(given[:cut])
    o.options = given[cut + 1 :]
    import scipy.io, scipy.sparse as sp
    module = load(o.peers_dir)
    makes = [lambda m: m.Cupy(), lambda m: m.Torch("cuda")] if o.device == "cuda" else [lambda m: m.Scipy(), lambda m: m.Torch("cpu")]
    rows, failed = [], False
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for op, workload, kind, size in [w for w in workloads(o.full) if o.only in w[1]]:
            graph = module.graph(kind, size)
            laplacian = truth = block = None
            scipy.io.mmwrite(folder / "graph.mtx", sp.tril(graph), field="pattern", symmetry="symmetric")
            if op == "eigsh":
                data = [module.normalized_laplacian(graph), K]
                # This is the matrix of the reference, without rounding to f32.
                d = 1 / np.sqrt(np.asarray(graph.astype(np.float64).sum(1)).ravel())
                laplacian = (sp.identity(len(d)) - sp.diags(d) @ graph.astype(np.float64) @ sp.diags(d)).tocsr()
            else:
                block = folder / "block.npy"
                data = [graph, np.random.default_rng(5).standard_normal((size, COLUMNS)).astype(np.float32)]
                np.save(block, data[1])
                wide = graph.astype(np.float64)
                per_row = np.diff(graph.indptr)[:, None] + 1
                truth = wide @ data[1].astype(np.float64), EPS * per_row * (abs(wide) @ np.abs(data[1].astype(np.float64)))
            sides = [Own(o, op, folder / "graph.mtx", block, folder / "own.npz")]
            sides += [Peer(o, module, make, op, data, folder / f"{i}.npz") for i, make in enumerate(makes)]
            sides = [side for side in sides if not getattr(side, "absent", False)]
            for i in range(1 + o.rounds):
                for side in sides:
                    side.round(i == 0)
            right = compare(op, sides, laplacian, truth)
            failed |= not right or sides[0].note is not None
            for side in sides:
                side.end()
                row = {"workload": workload, "side": side.name, **side.facts}
                if side.times:
                    row |= {"ms": 1e3 * float(np.median(side.times)), "calls": len(side.times)}
                if side.note is not None:
                    row["note"] = side.note
                rows.append(row)
                print(json.dumps({k: round(v, 4) if isinstance(v, float) and k == "ms" else v for k, v in row.items()}), flush=True)
    if o.table:
        table(rows)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
