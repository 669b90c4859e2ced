#!/usr/bin/env python3
"""Measures the errors of f32 decompositions: `fiedler run svd`, `svdvals`, `eigvalsh` and `eigh` next to LAPACK's f32
drivers, all compared with f64.

    python3 benches/accuracy.py target/release/fiedler [--only svd,eigvalsh] [--shapes 33x33,300x100] [--orders 64,300] [--seeds 3] [--rust] [-- --backend cpu]

The matrices are those of tests/common/rectangles.rs and tests/common/families.rs, made again here from the same seeds.
Each matrix is rounded to f32 first, so that f32 and f64 decompose the same matrix. LAPACK's drivers sgesdd and ssyevd
are called through SciPy, with vectors and without. (numpy's linalg would compute f32 in f64 and round the result.) Each
matrix is solved in a batch of its shape and alone, because small matrices take another path in a batch. The worst error
over --seeds seeds is shown. Errors of singular values and eigenvalues are in units of eps times the largest magnitude
(s_max, |w|_max). Residuals and departures from orthogonality are in units of n eps, as in tests/common/gates.rs, and
departures of columns from length 1 are in units of eps.

The arguments after `--` are passed to `fiedler run`, which runs on the CPU by default. The output has one line for each
shape, with the worst error over the families and the family with the worst ratio. --families adds a line for each
family. --rust prints the constants of tests/common/lapack.rs instead and needs no binary. Needs numpy and SciPy.
"""
import argparse, pathlib, subprocess, sys, tempfile
import numpy as np
import scipy, scipy.linalg

EPS = float(np.finfo(np.float32).eps)
LARGE = 2.0**63

SHAPES = [(2, 2), (5, 5), (16, 5), (16, 16), (2, 16), (16, 31), (32, 32), (33, 33), (64, 33), (64, 64), (100, 64), (33, 100), (100, 100),
          (5, 300), (300, 100), (64, 300), (300, 300)]
ORDERS = [2, 3, 5, 16, 20, 33, 64, 100, 128, 129, 200, 300]


class SplitMix64:
    """The generator of tests/common/random.rs, which here makes many numbers at a time."""

    def __init__(self, seed):
        self.state = seed & (2**64 - 1)

    def words(self, count):
        gamma = np.uint64(0x9E3779B97F4A7C15)
        with np.errstate(over="ignore"):
            z = np.uint64(self.state) + gamma * np.arange(1, count + 1, dtype=np.uint64)
            self.state = (self.state + 0x9E3779B97F4A7C15 * count) % 2**64
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            return z ^ (z >> np.uint64(31))

    def unit(self, count):
        return (self.words(count) >> np.uint64(11)).astype(np.float64) / 2.0**53

    def signed(self, count):
        return 2.0 * self.unit(count) - 1.0

    def sign(self, count):
        return np.where(self.words(count) & np.uint64(1), -1.0, 1.0)

    def normal(self, count):
        u = self.unit(2 * count)
        return np.sqrt(-2.0 * np.log(1.0 - u[::2])) * np.cos(2.0 * np.pi * u[1::2])


def column_major(entries, m, n):
    return entries.reshape(n, m).T


def reflected(a, random, both=False):
    """Applies random reflections to the trailing rows and, if `both` is true, to the columns too. Their product is Haar
    distributed."""
    for start in range(len(a) - 2, -1, -1):
        v = random.normal(len(a) - start)
        factor = 2.0 / (v @ v)
        a[start:] -= np.outer(v, factor * (v @ a[start:]))
        if both:
            a[:, start:] -= np.outer(factor * (a[:, start:] @ v), v)
    return a


def with_values(m, n, values, random):
    a = np.zeros((m, n))
    np.fill_diagonal(a, values)
    return reflected(reflected(a, random).T.copy(), random).T


def rectangles(m, n, seed=1):
    """Returns the `types` of tests/common/rectangles.rs, in their order."""
    random = SplitMix64(seed ^ (m << 32) ^ n)
    k = min(m, n)
    part = np.arange(k) / max(k - 1, 1)
    spectra = {
        "one large": lambda: np.where(np.arange(k) == 0, 1.0, EPS),
        "one small": lambda: np.where(np.arange(k) + 1 < k, 1.0, EPS),
        "geometric": lambda: EPS**part,
        "even": lambda: 1.0 - part * (1.0 - EPS),
        "log-random": lambda: EPS ** random.unit(k),
    }
    column, row = np.divmod(np.arange(m * n), m)
    out = {"zero": np.zeros((m, n)), "identity": np.eye(m, n)}
    for name, values in spectra.items():
        out[name] = with_values(m, n, values(), random)
    even = with_values(m, n, spectra["even"](), random)
    out["even, large"], out["even, small"] = even * LARGE, even / LARGE
    out["uniform"] = column_major(random.signed(m * n), m, n)
    pairs = random.words(2 * m * n)
    signs, units = np.where(pairs[::2] & np.uint64(1), -1.0, 1.0), (pairs[1::2] >> np.uint64(11)).astype(np.float64) / 2.0**53
    out["log-random entries"] = column_major(signs * EPS ** (2.0 * units), m, n)
    band = (column == row) | (column == row + 1)
    entries = np.zeros(m * n)
    entries[band] = random.signed(int(band.sum()))
    out["bidiagonal"] = column_major(entries, m, n)
    out["columns graded"] = column_major(random.signed(m * n) * 10.0 ** (-20.0 * column / n), m, n)
    out["rows graded upward"] = column_major(random.signed(m * n) * 10.0 ** (-20.0 + 20.0 * row / m), m, n)
    out["all ones"] = np.ones((m, n))
    out["Hilbert"] = column_major(1.0 / (row + column + 1.0), m, n)
    out["rank 3"] = sum(np.outer(random.signed(m), random.signed(n)) for _ in range(3))
    return {name: np.ascontiguousarray(a.astype(np.float32)) for name, a in out.items()}


def tridiagonal(a):
    """Returns the diagonal and the subdiagonal of a tridiagonal matrix that is similar to `a`, computed by Householder
    reflections."""
    n = len(a)
    for column in range(n - 2):
        v = a[column + 1 :, column].copy()
        scale = np.abs(v).max()
        if scale == 0.0 or not v[1:].any():
            continue
        v /= scale
        v[0] += np.copysign(np.sqrt(v @ v), v[0])
        factor = 2.0 / (v @ v)
        a[column + 1 :] -= np.outer(v, factor * (v @ a[column + 1 :]))
        a[:, column + 1 :] -= np.outer(factor * (a[:, column + 1 :] @ v), v)
        a[column + 2 :, column] = a[column, column + 2 :] = 0.0
    return np.diag(a).copy(), np.diag(a, -1).copy()


def symmetric(n, seed=1):
    """Returns LAPACK's types 1 to 21 as in tests/common/families.rs."""
    part = np.arange(n) / max(n - 1, 1)
    ill, milder = 1.0 / EPS, 0.1 / (EPS * max(n, 1))
    spread = {
        "clustered": lambda c: np.where(np.arange(n) > 0, 1.0 / c, 1.0),
        "geometric": lambda c: c**-part,
        "even": lambda c: 1.0 - part * (1.0 - 1.0 / c),
    }
    out = {}
    for kind in range(1, 22):
        random = SplitMix64(seed + kind)
        signed = lambda how: spread[how](ill) * random.sign(n)
        similar = lambda values: reflected(np.diag(values), random, both=True)
        scale = {6: LARGE, 7: 1 / LARGE, 11: LARGE, 12: 1 / LARGE, 14: LARGE, 15: 1 / LARGE, 19: LARGE, 20: 1 / LARGE}.get(kind, 1.0)
        if kind == 1:
            a = np.zeros((n, n))
        elif kind == 2:
            a = np.eye(n)
        elif kind <= 7:
            a = np.diag(signed({4: "geometric", 5: "clustered"}.get(kind, "even")))
        elif kind <= 12:
            a = similar(signed({9: "geometric", 10: "clustered"}.get(kind, "even")))
        elif kind <= 15:
            a = column_major(random.signed(n * n), n, n)
        elif kind <= 20:
            a = similar(spread[{17: "geometric", 18: "clustered"}.get(kind, "even")](milder))
        else:
            d, below = tridiagonal(similar(spread["geometric"](milder)))
            most = 0.5 * np.sqrt(np.abs(d[:-1] * d[1:]))
            below = np.clip(below, -most, most)
            a = np.diag(d) + np.diag(below, -1)
        lower = np.tril((a * scale).astype(np.float32))
        out[f"type {kind}"] = lower + np.tril(lower, -1).T
    return out


def one_norm(a):
    return np.abs(a).sum(0).max(initial=0.0)


def departure(x, n):
    return one_norm(x.T @ x - np.eye(x.shape[1])) / (n * EPS)


def lengths(x):
    return np.abs(np.sqrt((x * x).sum(0)) - 1.0).max(initial=0.0) / EPS


def values_off(got, truth):
    largest = max(np.abs(truth).max(initial=0.0), float(np.finfo(np.float32).tiny))
    return np.abs(got.astype(np.float64) - truth).max(initial=0.0) / (EPS * largest)


def judge_svd(a, truth, u, s, vh):
    a, u, s, vh = (x.astype(np.float64) for x in (a, u, s, vh))
    tall = a if a.shape[0] >= a.shape[1] else a.T
    away = a - u * s @ vh
    n = max(a.shape)
    residual = one_norm(away if tall is a else away.T) / (n * EPS * max(one_norm(tall), float(np.finfo(np.float32).tiny)))
    return [values_off(s, truth), residual, max(departure(u, n), departure(vh.T, n)), max(lengths(u), lengths(vh.T))]


def judge_eigh(a, truth, w, v):
    a, w, v = (x.astype(np.float64) for x in (a, w, v))
    n = len(a)
    residual = one_norm(a - v * w @ v.T) / (n * EPS * max(one_norm(a), float(np.finfo(np.float32).tiny)))
    return [values_off(w, truth), residual, departure(v, n), lengths(v)]


class Ours:
    def __init__(self, binary, options):
        self.binary, self.options = binary, options
        self.folder = tempfile.TemporaryDirectory()

    def __call__(self, operation, a):
        """Returns the arrays that `fiedler run` writes, by name."""
        given, made = (pathlib.Path(self.folder.name) / name for name in ("given.npy", "made.npz"))
        np.save(given, a)
        call = [self.binary, "run", operation, given, "-o", made, "--overwrite", "--quiet", *self.options]
        done = subprocess.run(call, capture_output=True, text=True)
        if done.returncode not in (0, 3):
            sys.exit(f"{' '.join(map(str, call))}: {done.stderr}")
        with np.load(made) as found:
            return dict(found)


def worst(out, name, who, errors):
    before = out.setdefault(name, {}).get(who, errors)
    out[name][who] = [max(x, y) for x, y in zip(before, errors)]


def svd_errors(shape, seeds, ours):
    """Returns {family: {who: [values, residual, orthogonality, lengths]}}, with the worst errors over the seeds."""
    cases = [(name, a) for seed in range(1, seeds + 1) for name, a in rectangles(*shape, seed).items()]
    stack = np.stack([a for _, a in cases])
    batch, values = (ours("svd", stack), ours("svdvals", stack)) if ours else (None, None)
    out = {}
    for i, (name, a) in enumerate(cases):
        truth = np.linalg.svd(a.astype(np.float64), compute_uv=False)
        worst(out, name, "LAPACK", judge_svd(a, truth, *scipy.linalg.svd(a, full_matrices=False, lapack_driver="gesdd")))
        worst(out, name, "LAPACK's values", [values_off(scipy.linalg.svd(a, compute_uv=False, lapack_driver="gesdd"), truth)])
        if ours:
            alone = ours("svd", a)
            worst(out, name, "batch", judge_svd(a, truth, *(batch[x][i] for x in ("u", "s", "vh"))))
            worst(out, name, "alone", judge_svd(a, truth, *(alone[x] for x in ("u", "s", "vh"))))
            worst(out, name, "values", [values_off(values["s"][i], truth)])
    return out


def eigen_errors(n, seeds, ours):
    cases = [(name, a) for seed in range(1, seeds + 1) for name, a in symmetric(n, seed).items()]
    stack = np.stack([a for _, a in cases])
    pairs, values = (ours("eigh", stack), ours("eigvalsh", stack)) if ours else (None, None)
    out = {}
    for i, (name, a) in enumerate(cases):
        truth = np.linalg.eigvalsh(a.astype(np.float64))
        worst(out, name, "LAPACK", judge_eigh(a, truth, *scipy.linalg.eigh(a, driver="evd")))
        worst(out, name, "LAPACK's values", [values_off(scipy.linalg.eigvalsh(a, driver="evd"), truth)])
        if ours:
            alone, pairs_alone = ours("eigvalsh", a), ours("eigh", a)
            worst(out, name, "batch", judge_eigh(a, truth, pairs["w"][i], pairs["v"][i]))
            worst(out, name, "alone", judge_eigh(a, truth, pairs_alone["w"], pairs_alone["v"]))
            worst(out, name, "values", [values_off(values["w"][i], truth)])
            worst(out, name, "values alone", [values_off(alone["w"], truth)])
    return out


MEASURES = ["values", "residual", "orthogonality", "lengths"]


def table(title, rows, families):
    """Prints Markdown. Each row has the worst of every measure for LAPACK and for fiedler, and the family whose values
    are worst relative to LAPACK's."""
    print(f"\n### {title}\n")
    whos = list(dict.fromkeys(who for errors in rows.values() for of in errors.values() for who in of))
    head = [f"{who} {m}" for who in whos for m in MEASURES[: len(next(iter(next(iter(rows.values())).values()))[who])]]
    print("| | " + " | ".join(head) + " | values beside LAPACK's, at worst |")
    print("|---" * (len(head) + 2) + "|")
    for label, errors in rows.items():
        cells = []
        for who in whos:
            cells += [f"{max(of[who][m] for of in errors.values()):.2g}" for m in range(len(next(iter(errors.values()))[who]))]
        # As in tests/common/lapack.rs, LAPACK's error counts as at least 1.5 eps.
        ratios = [(of[who][0] / max(of[peer(who, of)][0], 1.5), name, who) for name, of in errors.items() for who in whos if "LAPACK" not in who]
        most = max(ratios, default=None)
        print(f"| {label} | " + " | ".join(cells) + " | " + (f"{most[0]:.1f} ({most[1]}, {most[2]})" if most else "") + " |", flush=True)
        if families:
            for name, of in errors.items():
                print(f"  {label} {name}: " + "; ".join(f"{who} " + " ".join(f"{x:.2g}" for x in of[who]) for who in whos))


def peer(who, of):
    return "LAPACK's values" if "values" in who and "LAPACK's values" in of else "LAPACK"


def rust(svd, eigen):
    """Prints Rust constants: for each shape and family, the error of LAPACK's driver, rounded up to a tenth."""
    up = lambda x: f"{np.ceil(10 * x) / 10:.1f}"
    print("/// By shape, of each of the families of `rectangles::types` in their order: what sgesdd's values are off, in eps s_max.")
    print(f"pub const SGESDD: [(usize, usize, [f64; {len(next(iter(svd.values())))}]); {len(svd)}] = [")
    for (m, n), errors in svd.items():
        print(f"    ({m}, {n}, [" + ", ".join(up(of["LAPACK"][0]) for of in errors.values()) + "]),")
    print("];\n")
    print("/// For each row of [`SGESDD`], the largest residual `|A - U S Vh| / (n eps |A|)` and the largest departure `|I - U'U| / (n eps)` or")
    print("/// `|I - Vh Vh'| / (n eps)` of sgesdd over all families.")
    print(f"pub const SGESDD_BASES: [(f64, f64); {len(svd)}] = [")
    for errors in svd.values():
        worst = [max(of["LAPACK"][measure] for of in errors.values()) for measure in (1, 2)]
        print("    (" + ", ".join(f"{np.ceil(100 * x) / 100:.2f}" for x in worst) + "),")
    print("];\n")
    titles = ("By order, of LAPACK's types 1 to 21: what ssyevd's values without vectors are off, in eps |w|_max.",
              "The same of the values that it gives with vectors.")
    for name, who, title in (("SSYEVD_N", "LAPACK's values", titles[0]), ("SSYEVD_V", "LAPACK", titles[1])):
        print(f"/// {title}")
        print(f"pub const {name}: [(usize, [f64; 21]); {len(eigen)}] = [")
        for n, errors in eigen.items():
            print(f"    ({n}, [" + ", ".join(up(of[who][0]) for of in errors.values()) + "]),")
        print("];")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fiedler", nargs="?")
    parser.add_argument("--only", default="svd,eigvalsh")
    parser.add_argument("--shapes", default=",".join(f"{m}x{n}" for m, n in SHAPES))
    parser.add_argument("--orders", default=",".join(map(str, ORDERS)))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--families", action="store_true")
    parser.add_argument("--rust", action="store_true")
    arguments = sys.argv[1:]
    at = arguments.index("--") if "--" in arguments else len(arguments)
    args = parser.parse_args(arguments[:at])
    if not args.rust and not args.fiedler:
        parser.error("the fiedler binary, or --rust")
    ours = None if args.rust else Ours(args.fiedler, arguments[at + 1 :] or ["--backend", "cpu"])
    shapes = [tuple(map(int, shape.split("x"))) for shape in args.shapes.split(",")]
    wanted = args.only.split(",")
    svd = {shape: svd_errors(shape, args.seeds, ours) for shape in shapes} if "svd" in wanted else {}
    eigen = {n: eigen_errors(n, args.seeds, ours) for n in map(int, args.orders.split(","))} if "eigvalsh" in wanted else {}
    if args.rust:
        return rust(svd, eigen)
    print(f"numpy {np.__version__}, SciPy {scipy.__version__}, fiedler {subprocess.run([args.fiedler, '--version'], capture_output=True, text=True).stdout.split()[-1]}")
    if svd:
        table("svd, f32", {f"{m} x {n}": errors for (m, n), errors in svd.items()}, args.families)
    if eigen:
        table("eigenvalues, f32", eigen, args.families)


if __name__ == "__main__":
    main()
