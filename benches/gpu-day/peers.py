#!/usr/bin/env python3
"""Measures fiedler next to CuPy, JAX and torch on one adapter, and next to torch_geometric on the host, row after row
in the order of their worth, until the time is up.

    python3 benches/gpu-day/peers.py --fiedler BINARY --seconds 120 --results peers.jsonl -- --backend gpu --adapter NAME

Every peer has a process of its own, which lives until it fails or exceeds its limit. In each row, the sides take turns:
fiedler (a process for each turn), then every peer, twice. A peer's time is the wall clock of a call with resident data
until the device has finished; fiedler's is `resident_ms` of `fiedler run --time`. `error` is the distance from f64
results (the largest of values, divided by the norm of the matrix; otherwise the relative 2-norm) divided by eps, for
all sides. One JSON line for each row and side is written at once. Products are in full f32 (TF32 is off everywhere).

Needs numpy. The arguments after `--` are fiedler's.
"""
import argparse, importlib.util, json, multiprocessing, os, pathlib, statistics, subprocess, sys, tempfile, time

ROUNDS = 2
CALLS = 7  # of a turn, unless they take more than a second together
CHECKED, ROWS = 64, 64  # matrices or signals of a batch whose results are compared, and rows of products
PEERS = ["cupy", "jax", "torch"]
EPS = 2.0**-23


def rows(device):
    """Yields (name, operation, fiedler's arguments, what makes the arrays), the most telling rows first."""
    cut = 1 if device == "cuda" else 64
    size = lambda batch: max(1, batch // cut)
    symmetric = lambda n, batch: lambda r: [half_laplacians(r, n, batch)]
    normal = lambda *shape, copies=1: lambda r: [r.standard_normal(shape, dtype="float32") for _ in range(copies)]
    matrices = lambda op, n, batch: (f"{op}/f32/n={n}/batch={size(batch)}", op, [op], symmetric(n, size(batch)))
    svd = lambda n, batch: (f"svd/f32/n={n}/batch={size(batch)}", "svd", ["svd"], normal(size(batch), n, n))
    product = lambda n, batch: (
        f"gemm/f32/n={n}/batch={size(batch)}",
        "matmul",
        ["matmul"],
        normal(size(batch), n, n, copies=2),
    )
    complexes = lambda n, b: (
        lambda r: [(r.standard_normal((b, n)) + 1j * r.standard_normal((b, n))).astype("complex64")]
    )
    fft = lambda n, batch: (f"fft/c64/n={n}/batch={size(batch)}", "fft", ["fft"], complexes(n, size(batch)))
    yield matrices("eigh", 32, 10000)
    yield matrices("eigh", 8, 100000)
    yield svd(32, 10000)
    yield fft(1024, 16384)
    yield product(4096 if cut == 1 else 512, 1)
    yield "encode/molecules", "encode", [], None
    yield "train/100-30-20-3/runs=100/batch=8", "train", [], None
    yield matrices("eigh", 64, 1000)
    yield matrices("eigh", 4, 100000)
    yield matrices("eigh", 16, 10000)
    yield svd(8, 100000)
    yield matrices("eigvalsh", 32, 10000)
    yield product(64, 10000)
    yield matrices("eigh", 128, 500)
    yield svd(64, 1000)
    yield fft(1000, 16384)
    yield f"cov/f32/rows={size(1000000)}/cols=128", "cov", ["cov"], normal(size(1000000), 128)
    yield product(8192 if cut == 1 else 1024, 1)
    yield f"rfft/f32/n=4096/batch={size(16384)}", "rfft", ["rfft"], normal(size(16384), 4096)
    yield matrices("eigh", 512, 16)
    yield fft(1 << 20, 16)
    yield product(16, 100000)
    yield matrices("eigh", 1024 if cut == 1 else 256, 1)
    yield svd(128, 200)


def half_laplacians(r, n, batch):
    """Returns symmetric matrices, of which one half are Laplacians of random graphs."""
    import numpy as np

    a = r.standard_normal((batch, n, n), dtype="float32")
    a = (a + a.transpose(0, 2, 1)) / 2
    w = np.triu(r.random((batch // 2, n, n), dtype="float32") < min(0.5, 6 / n), 1).astype("float32")
    w += w.transpose(0, 2, 1)
    a[: batch // 2] = w.sum(2)[:, :, None] * np.eye(n, dtype="float32") - w
    return a


def leading(op, found):
    """Returns the part of a result that is compared: values, or the first products or transforms."""
    part = {"eigh": 0, "svd": 1}.get(op)
    found = found if part is None or not isinstance(found, (tuple, list)) else found[part]
    return found if op == "cov" else found[:CHECKED]


def truth(op, arrays):
    """Returns what is compared, in f64, and the norms of the matrices, or None where the error is one of the whole."""
    import numpy as np

    wide = [a[:CHECKED].astype(np.complex128 if np.iscomplexobj(a) else np.float64) for a in arrays if op != "cov"]
    if op == "cov":
        return np.cov(arrays[0].astype(np.float64), rowvar=False), None
    if op == "matmul":
        return wide[0][:, :ROWS] @ wide[1], None
    if op in ("fft", "rfft"):
        return getattr(np.fft, op)(wide[0]), None
    values = np.linalg.svd(wide[0], compute_uv=False) if op == "svd" else np.linalg.eigvalsh(wide[0])
    return values, np.maximum(np.abs(wide[0]).sum(1).max(1), 1e-30)  # a graph may have no edges


def error(op, known, found):
    """Returns the error of a result in units of eps, as described at the top."""
    import numpy as np

    known, norms = known
    found = np.asarray(found).astype(known.dtype)
    if op == "matmul":
        found = found.reshape(-1, *found.shape[-2:])[:, :ROWS]
    off = found.reshape(known.shape) - known
    if norms is not None:
        return float((np.abs(off).max(1) / (EPS * norms)).max())
    return float(np.linalg.norm(off) / np.linalg.norm(known) / EPS)


class Library:
    """A peer in its own process."""

    def __init__(self, name, device):
        self.device = device
        self.module = importlib.import_module(name)
        self.name = f"{name} {self.module.__version__}"
        getattr(self, "_" + name)()

    def _cupy(self):
        cp = self.module
        self.put, self.get = cp.asarray, cp.asnumpy
        self.wait = lambda _: cp.cuda.Device().synchronize()
        self.calls = {"eigh": cp.linalg.eigh, "eigvalsh": cp.linalg.eigvalsh, "svd": cp.linalg.svd, "matmul": cp.matmul}
        self.calls |= {"fft": cp.fft.fft, "rfft": cp.fft.rfft, "cov": lambda x: cp.cov(x, rowvar=False)}

    def _torch(self):
        t = self.module
        if self.device == "cuda" and not t.cuda.is_available():
            raise RuntimeError("torch sees no CUDA device")
        t.backends.cuda.matmul.allow_tf32 = False
        self.put, self.get = lambda a: t.from_numpy(a).to(self.device), lambda a: a.cpu().numpy()
        self.wait = lambda _: t.cuda.synchronize() if self.device == "cuda" else None
        self.calls = {"eigh": t.linalg.eigh, "eigvalsh": t.linalg.eigvalsh, "svd": t.linalg.svd, "matmul": t.matmul}
        self.calls |= {"fft": t.fft.fft, "rfft": t.fft.rfft, "cov": lambda x: t.cov(x.mT)}

    def _jax(self):
        import jax.numpy as jnp

        jax = self.module
        jax.config.update("jax_default_matmul_precision", "highest")
        if self.device == "cuda" and jax.default_backend() == "cpu":
            raise RuntimeError("JAX sees no CUDA device")
        self.put, self.get, self.wait = jax.device_put, __import__("numpy").asarray, jax.block_until_ready
        calls = {"eigh": jnp.linalg.eigh, "eigvalsh": jnp.linalg.eigvalsh, "svd": jnp.linalg.svd, "matmul": jnp.matmul}
        calls |= {"fft": jnp.fft.fft, "rfft": jnp.fft.rfft, "cov": lambda x: jnp.cov(x, rowvar=False)}
        self.calls = {op: jax.jit(call) for op, call in calls.items()}
        self.calls["train"] = self.trained

    def trained(self, x, y):
        """Trains RUNS networks for an epoch: the step under vmap, in a scan, compiled once."""
        if not hasattr(self, "epoch"):
            self.epoch, self.state = jax_training(self.module, x, y)
        self.state = self.epoch(self.state)
        return self.state


RUNS, WIDTHS, BATCH, DROPOUT, SAMPLES = 100, (100, 30, 20, 3), 8, 0.2, 4800
STEPS = SAMPLES * 7 // 10 // BATCH  # of an epoch, with the default split


def jax_training(jax, x, y):
    """Returns a compiled epoch of Adam steps with dropout of all runs, each with its own order, and the first state."""
    import jax.numpy as jnp

    def losses(p, xs, ys, key):
        for i, (w, b) in enumerate(p):
            xs = xs @ w + b
            if i + 1 < len(p):
                keep = jax.random.bernoulli(jax.random.fold_in(key, i), 1 - DROPOUT, xs.shape)
                xs = jnp.where(keep, jax.nn.relu(xs) / (1 - DROPOUT), 0)
        return -jnp.take_along_axis(jax.nn.log_softmax(xs), ys[:, None], 1).mean()

    def step(state, at):
        p, m, v, t, key, order = state
        rows = jax.lax.dynamic_slice(order, (at * BATCH,), (BATCH,))
        g = jax.grad(losses)(p, x[rows], y[rows], jax.random.fold_in(key, t))
        t = t + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        change = lambda p, m, v: p - 1e-3 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8)
        return jax.tree.map(change, p, m, v), m, v, t, key, order

    def epoch(state):
        p, m, v, t, key, _ = state
        order = jax.vmap(lambda key, t: jax.random.permutation(jax.random.fold_in(key, -t), SAMPLES)[: STEPS * BATCH])(
            key, t
        )
        each = jax.vmap(step, in_axes=(0, None))
        return jax.lax.scan(lambda state, at: (each(state, at), None), (p, m, v, t, key, order), jnp.arange(STEPS))[0]

    keys = jax.random.split(jax.random.key(1), RUNS)
    draw = lambda key, i, o: (jax.random.uniform(key, (RUNS, i, o), minval=-1, maxval=1) / i**0.5, jnp.zeros((RUNS, o)))
    p = [draw(jax.random.key(i), *WIDTHS[i : i + 2]) for i in range(len(WIDTHS) - 1)]
    zeros = jax.tree.map(jnp.zeros_like, p)
    return jax.jit(epoch), (p, zeros, zeros, jnp.zeros(RUNS, int), keys, jnp.zeros((RUNS, STEPS * BATCH), int))


def geometric(folder, k, most):
    """Times torch_geometric's transform on graphs of a data set, on the host: seconds of a graph."""
    import numpy as np, torch
    from torch_geometric.data import Data
    from torch_geometric.transforms import AddLaplacianEigenvectorPE

    edges = np.loadtxt(next(folder.glob("*_A.txt")), delimiter=",", dtype=np.int64, max_rows=200000) - 1
    of = np.loadtxt(next(folder.glob("*_graph_indicator.txt")), dtype=np.int64, max_rows=int(edges.max()) + 1) - 1
    transform, seconds, count = AddLaplacianEigenvectorPE(k), 0.0, 0
    for graph in range(int(of[edges[-1, 0]])):
        mine = edges[of[edges[:, 0]] == graph]
        nodes = np.flatnonzero(of == graph)
        data = Data(edge_index=torch.from_numpy(mine.T - nodes[0]), num_nodes=len(nodes))
        begin = time.perf_counter()
        transform(data)
        seconds, count = seconds + time.perf_counter() - begin, count + 1
        if seconds > most:
            break
    return seconds / count


def serve(pipe, name, device):
    """Runs in a peer's process: answers (operation, files of its arrays) with (seconds of calls, what is compared)."""
    try:
        if name == "torch_geometric":
            import torch_geometric

            pipe.send(("ready", f"torch_geometric {torch_geometric.__version__}", ["encode"]))
        else:
            library = Library(name, device)
            pipe.send(("ready", library.name, list(library.calls)))
        import numpy as np

        known = None
        while True:
            op, files = pipe.recv()
            try:
                if op == "encode":
                    pipe.send(("times", [geometric(pathlib.Path(files[0]), 8, 5)], None))
                    continue
                if known != files:
                    args, known = [library.put(np.load(file)) for file in files], files
                    library.wait(library.calls[op](*args))  # compiles, and fills caches
                times = []
                while len(times) < CALLS and sum(times) < 1:
                    begin = time.perf_counter()
                    found = library.calls[op](*args)
                    library.wait(found)
                    times.append(time.perf_counter() - begin)
                pipe.send(("times", times, None if op == "train" else library.get(leading(op, found))))
            except Exception as why:  # of one row: the library may do the next
                pipe.send(("note", f"{type(why).__name__}: {str(why)[:200]}", None))
    except EOFError:
        pass
    except Exception as why:
        pipe.send(("absent", f"{name}: {type(why).__name__}: {str(why)[:200]}", []))


class Peer:
    """A peer as this process sees it."""

    def __init__(self, name, device, limit):
        self.name, self.ops = name, []
        self.begin(name, device)
        answer = self.answer(limit)
        self.gone = answer[0] != "ready"
        if self.gone:
            self.note = answer[1]
        else:
            self.name, self.ops = answer[1:]

    def begin(self, name, device):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, name, device), daemon=True)
        self.process.start()
        theirs.close()

    def answer(self, limit):
        try:
            if self.pipe.poll(max(limit, 0)):
                return self.pipe.recv()
            why = f"more than {limit:.0f} s"
        except (EOFError, OSError):
            why = "its process died"
        self.gone = True
        self.process.kill()
        return "note", why, None

    def turn(self, row, limit):
        self.pipe.send((row["op"], row["files"]))
        return self.answer(limit)


class Own:
    """fiedler, a process for each turn."""

    def __init__(self, o):
        self.o, self.name, self.gone = o, "fiedler", False

    def call(self, arguments, limit):
        begin = time.perf_counter()
        done = subprocess.run([self.o.fiedler, *arguments], capture_output=True, text=True, timeout=max(limit, 1))
        if done.returncode not in (0, 3):
            raise RuntimeError((done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1][-200:])
        return time.perf_counter() - begin, done.stdout

    def turn(self, row, limit, options=None):
        options, out = self.o.options if options is None else options, self.o.work / "own.npz"
        try:
            if row["op"] == "encode":
                _, said = self.call(
                    ["encode", row["files"][0], "-k", "8", "-o", out, "--overwrite", "--no-cache", "--json", *options],
                    limit,
                )
                seconds = json.loads(said.splitlines()[-1])["seconds"]
                return "times", [(seconds["read"] + seconds["encode"]) / row["count"]], None
            if row["op"] == "train":
                where = [row["samples"], "-o", self.o.work / "runs", "--overwrite", "--quiet"]
                what = ["--hidden", "30,20", "--dropout", str(DROPOUT), "--batch", str(BATCH), "--runs", str(RUNS)]
                takes = lambda n: self.call(["train", *where, *what, "--epochs", str(n), *options], limit)[0]
                return "times", [(takes(7) - takes(2)) / 5], None  # an epoch, without the start
            files = row["files"]
            _, said = self.call(
                ["run", *row["own"], *files, "-o", out, "--overwrite", "--time", str(CALLS), *options], limit
            )
            import numpy as np

            found = np.load(out)
            part = {"eigh": "w", "eigvalsh": "w", "svd": "s"}.get(row["op"], found.files[0])
            line = json.loads(said.splitlines()[-1])
            row["transfers_ms"] = line.get("transfers_ms")
            return "times", [line["resident_ms"] / 1e3], leading(row["op"], found[part])
        except subprocess.TimeoutExpired:
            return "note", f"more than {limit:.0f} s", None
        except Exception as why:
            return "note", f"{type(why).__name__}: {str(why)[:200]}", None


class Host(Own):
    """fiedler on this machine's CPU."""

    def __init__(self, o):
        super().__init__(o)
        self.name, self.ops = "fiedler on the CPU", ["encode", "train"]

    def turn(self, row, limit):
        return super().turn(row, limit, ["--backend", "cpu"])


def measured(o, row, sides, end):
    """Measures a row: all sides in turns. Writes a line for each side."""
    import numpy as np

    found = {side: ([], None, None) for side in sides}
    for _ in range(ROUNDS):
        for side in sides:
            times, result, note = found[side]
            limit = min(o.limit, end - time.monotonic())
            if note is not None or side.gone or limit < 1:
                continue
            kind, answer, part = side.turn(row, limit)
            if kind == "times":
                found[side] = times + answer, part, None
            else:
                found[side] = times, result, answer
    compared = any(result is not None for _, result, _ in found.values())
    known = truth(row["op"], [np.load(file, mmap_mode="r") for file in row["files"]]) if compared else None
    mine = statistics.median(found[sides[0]][0]) if found[sides[0]][0] else None
    for side, (times, result, note) in found.items():
        line = {"workload": row["name"], "side": side.name, "calls": len(times)}
        if times:
            line |= {"ms": 1e3 * statistics.median(times), "least_ms": 1e3 * min(times), "most_ms": 1e3 * max(times)}
            line |= {"over_fiedler": statistics.median(times) / mine} if mine else {}
        if result is not None:
            off = error(row["op"], known, result)
            line |= {"error": off} if off < float("inf") else {"wrong": "results that are not finite"}
        if side is sides[0] and row.get("transfers_ms"):
            line["transfers_ms"] = row["transfers_ms"]
        if row["op"] == "encode":
            line["of"] = "a graph"
        if row["op"] == "train":
            line["of"] = f"an epoch of {STEPS} steps of all runs"
        if note is not None or side.gone:
            line["note"] = note or "gone"
        write(o, line)


def write(o, line):
    text = json.dumps({k: float(f"{v:.5g}") if isinstance(v, float) else v for k, v in line.items()})
    print(text, flush=True)
    with open(o.results, "a", encoding="utf-8") as file:
        file.write(text + "\n")


def prepared(o, name, op, own, make, seed):
    """Writes the arrays or the data set of a row."""
    import numpy as np

    r = np.random.default_rng(seed)
    row = {"name": name, "op": op, "own": own, "files": []}
    if op == "encode":
        row["count"] = 100000 if o.device == "cuda" else 2000
        row["files"] = [str(o.work / "molecules")]
        what = ["generate", "molecules", "--graphs", str(row["count"]), "--seed", "1"]
        command = [o.fiedler, *what, "-o", row["files"][0], "--overwrite"]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        return row
    if op == "train":
        x, y = (
            r.standard_normal((SAMPLES, WIDTHS[0]), dtype="float32"),
            r.integers(0, WIDTHS[-1], SAMPLES).astype("int32"),
        )
        row["samples"] = str(o.work / "samples.npz")
        np.savez(row["samples"], x=x, y=y)
        arrays = [x, y]
    else:
        arrays = make(r)
    for i, a in enumerate(arrays):
        row["files"].append(str(o.work / f"{seed}-{i}.npy"))
        np.save(row["files"][-1], a)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fiedler", default="target/release/fiedler")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--limit", type=float, default=20, help="seconds that a side's turn may take")
    parser.add_argument("--results", default="peers.jsonl")
    parser.add_argument("--only", default="", help="rows whose names contain one of these words")
    parser.add_argument(
        "--device",
        choices=["cuda", "cpu"],
        default=None,
        help="the peers' device, and the sizes (default: cuda where nvidia-smi is)",
    )
    given = sys.argv[1:]
    cut = given.index("--") if "--" in given else len(given)
    o = parser.parse_args(given[:cut])
    o.options = given[cut + 1 :]
    end = time.monotonic() + o.seconds
    if o.device is None:
        o.device = "cuda" if any(os.path.exists(path) for path in ("/dev/nvidia0", "/dev/dxg")) else "cpu"
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # the sides share the memory of the card
    try:
        import numpy  # noqa: F401
    except ImportError:
        print("peers: this python3 has no numpy, and so no peer")
        return 0
    begun = []
    with tempfile.TemporaryDirectory() as folder:
        o.work = pathlib.Path(folder)
        for name in [*PEERS, "torch_geometric"]:  # they start together, beside the first arrays
            if importlib.util.find_spec(name) is None:
                write(o, {"side": name, "note": "absent"})
                continue
            peer = Peer(name, o.device, min(40, end - time.monotonic()))
            begun.append(peer)
            if peer.gone:
                write(o, {"side": name, "note": peer.note})
        words = [word for word in o.only.split(",") if word]
        own, host = Own(o), Host(o)
        for seed, (name, op, arguments, make) in enumerate(rows(o.device)):
            if words and not any(word in name for word in words):
                continue
            if end - time.monotonic() < 4:
                write(o, {"workload": name, "note": "not run: the time is up"})
                continue
            try:
                row = prepared(o, name, op, arguments, make, seed)
                sides = [
                    own,
                    *([host] if op in host.ops else []),
                    *(peer for peer in begun if op in peer.ops and not peer.gone),
                ]
                measured(o, row, sides, end)
                for file in row["files"]:
                    if file.endswith(".npy"):
                        os.remove(file)
            except Exception as why:
                write(o, {"workload": name, "note": f"{type(why).__name__}: {str(why)[:200]}"})
        for peer in begun:
            peer.process.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())
