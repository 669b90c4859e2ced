#!/usr/bin/env python3
"""Draws the figures of the documentation as SVG, for light and dark backgrounds, from files that commands have written.

    fiedler encode examples/data/karate.txt -o karate.npz
    python3 docs/figures/draw.py encoding karate.npz examples/data/karate.txt > docs/figures/encoding.svg

    fiedler encode examples/data/karate.txt -o karate.npz --walk-steps 4 --heat-times 1 --wave-energies 9 --pagerank 0.15 --electrostatic --resistances --all-pairs
    python3 docs/figures/draw.py encodings karate.npz > docs/figures/encodings.svg

    python3 benches/chart.py --only eigh --batches 1,16,256,4096 > eigh.jsonl
    python3 docs/figures/draw.py speedup eigh.jsonl "two cores of an AMD EPYC, 2026-11-23" > docs/figures/speedup.svg

    fiedler doctor --quick --json --adapter llvmpipe > llvmpipe.json    # likewise for each adapter; the CPU is in all of them
    python3 docs/figures/draw.py accuracy llvmpipe.json swiftshader.json > docs/figures/accuracy.svg

    python3 benches/bridge.py target/release/fiedler --adapter llvmpipe > bridge.jsonl
    python3 docs/figures/draw.py bridge bridge.jsonl > docs/figures/bridge.svg

    python examples/clusters.py weights.json
    python3 docs/figures/draw.py weights weights.json > docs/figures/weights.svg

    python3 docs/figures/draw.py floors > docs/figures/floors.svg       # from the sources of this repository

`encoding` and `encodings` need NumPy.
"""
import json, math, pathlib, re, sys
from xml.sax.saxutils import escape

STYLE = """
text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
.title { font-size: 16px; font-weight: 600 } .quiet { fill: #59636e } .small { font-size: 11.5px } .mono { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 12px }
.axis { stroke: #d1d9e0; stroke-width: 1; fill: none } .rule { stroke: #59636e; stroke-width: 1.5; stroke-dasharray: 5 4; fill: none }
.edge { stroke: #8c959f; stroke-opacity: .45; stroke-width: 1 } .ring { stroke: #ffffff; stroke-width: 1.5 }
.box { fill: #f6f8fa; stroke: #d1d9e0 } .room { fill: #ddf4ff; stroke: #54aeff }
.l0 { stroke: #9ec5ee } .l1 { stroke: #5a9de0 } .l2 { stroke: #1f6fc4 } .l3 { stroke: #0a3f7d }
.f0 { fill: #9ec5ee } .f1 { fill: #5a9de0 } .f2 { fill: #1f6fc4 } .f3 { fill: #0a3f7d }
.line { fill: none; stroke-width: 2.25; stroke-linejoin: round; stroke-linecap: round }
.one { fill: #d1572a } .two { fill: #1f6fc4 } .three { fill: #2f8f5b }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .quiet { fill: #9198a1 } .axis { stroke: #3d444d } .rule { stroke: #9198a1 } .edge { stroke: #9198a1 } .ring { stroke: #0d1117 }
.box { fill: #151b23; stroke: #3d444d } .room { fill: #0d2a47; stroke: #316dca }
.l0 { stroke: #2b5d94 } .l1 { stroke: #4689d0 } .l2 { stroke: #7ab4ee } .l3 { stroke: #c4e0fb }
.f0 { fill: #2b5d94 } .f1 { fill: #4689d0 } .f2 { fill: #7ab4ee } .f3 { fill: #c4e0fb }
.one { fill: #f0855a } .two { fill: #6cb0f5 } .three { fill: #5fc48d }
}
"""


class Drawing:
    """An SVG of a size in pixels."""

    def __init__(self, width, height, title):
        self.size, self.title, self.parts = (width, height), title, []

    def add(self, text):
        self.parts.append(text)

    def text(self, x, y, text, kind="", anchor="start"):
        self.add(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>')

    def line(self, x0, y0, x1, y1, kind="axis"):
        self.add(f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" class="{kind}"/>')

    def circle(self, x, y, r, kind, title=""):
        inside = f"<title>{escape(title)}</title>" if title else ""
        self.add(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" class="{kind}">{inside}</circle>')

    def box(self, x, y, width, height, kind):
        self.add(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="5" class="{kind}"/>')

    def path(self, points, kind):
        self.add(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" class="{kind}"/>')

    def __str__(self):
        width, height = self.size
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
                f'aria-label="{escape(self.title)}">\n<title>{escape(self.title)}</title>\n<style>{STYLE}</style>\n' + "\n".join(self.parts) + "\n</svg>")


def encoding(archive, edges):
    """The nodes of a graph at the second and third eigenvector of its Laplacian, colored by the sign of the second (the Fiedler vector)."""
    import numpy as np

    found = np.load(archive)
    vectors, values = found["eigenvectors"], found["eigenvalues"][0]
    ids = found["node_ids"] if "node_ids" in found else np.arange(len(vectors))
    index = {str(name): i for i, name in enumerate(ids)}
    pairs = [line.split()[:2] for line in pathlib.Path(edges).read_text().splitlines() if line.strip() and line[0] not in "#%"]
    pairs = [(index[a], index[b]) for a, b in pairs if a in index and b in index]
    drawing = Drawing(560, 400, "Zachary's karate club at two Laplacian eigenvectors")
    x, y = vectors[:, 1], vectors[:, 2]
    across = lambda t: 40 + 480 * (t - x.min()) / (x.max() - x.min())
    down = lambda t: 345 - 285 * (t - y.min()) / (y.max() - y.min())
    drawing.text(20, 26, drawing.title, "title")
    drawing.line(across(0.0), 44, across(0.0), 358, "rule")
    for a, b in pairs:
        drawing.line(across(x[a]), down(y[a]), across(x[b]), down(y[b]), "edge")
    for i in range(len(x)):
        drawing.circle(across(x[i]), down(y[i]), 6, ("one" if x[i] < 0 else "two") + " ring", f"node {ids[i]}: {x[i]:.3f}, {y[i]:.3f}")
    drawing.text(20, 385, f"Right: the Fiedler vector (eigenvalue {values[1]:.3f}), 0 where dashed. Up: the next vector ({values[2]:.3f}).", "quiet small")
    return drawing


def encodings(archive):
    """What the columns of `fiedler encode` say about one graph: a panel for each, in which the nodes keep their places."""
    import numpy as np

    found = np.load(archive)
    x, y = found["eigenvectors"][:, 1], found["eigenvectors"][:, 2]
    nodes, pairs = len(x), found["edge_index"].T
    from_first = found["resistance_matrix"].reshape(nodes, nodes)[0]
    panels = [
        ("eigenvectors, the second", found["eigenvectors"][:, 1]),
        ("random_walk, 4 steps", found["random_walk"][:, 3]),
        ("heat_kernel, t = 1", found["heat_kernel"][:, 0]),
        ("wave_kernel, 4th of 9 energies", found["wave_kernel"][:, 3]),
        ("pagerank, restart 0.15", found["pagerank"][:, 0]),
        ("electrostatic, the mean", found["electrostatic"][:, 2]),
        ("resistance of edges", None),
        ("resistance_matrix, from one node", from_first),
    ]
    width, height = 236, 190
    drawing = Drawing(4 * width + 20, 2 * height + 66, "Zachary's karate club in eight encodings")
    drawing.text(20, 26, drawing.title, "title")
    for panel, (name, values) in enumerate(panels):
        left, top = 20 + panel % 4 * width, 40 + panel // 4 * height
        across = lambda t: left + 10 + (width - 40) * (t - x.min()) / (x.max() - x.min())
        down = lambda t: top + height - 24 - (height - 56) * (t - y.min()) / (y.max() - y.min())
        drawing.text(left, top + 14, name, "mono")
        for (a, b), resistance in zip(pairs, found["resistance"]):
            wide = f' style="stroke-width:{4 * resistance:.1f};stroke-opacity:1"' if values is None else ""
            if a < b:
                drawing.add(f'<line x1="{across(x[a]):.1f}" y1="{down(y[a]):.1f}" x2="{across(x[b]):.1f}" y2="{down(y[b]):.1f}" class="edge"{wide}/>')
        # The size follows the rank, so that a few large values do not make the others equal.
        ranks = np.zeros(nodes) if values is None else np.argsort(np.argsort(values, kind="stable"), kind="stable") / (nodes - 1)
        for i in np.argsort(-ranks):
            shade = "two ring" if values is None else f"f{min(int(4 * ranks[i]), 3)} ring"
            title = f"node {i}" if values is None else f"node {i}: {values[i]:.4g}"
            drawing.circle(across(x[i]), down(y[i]), f"{2.5 if values is None else 3 + 5 * ranks[i]:.1f}", shade, title)
    drawing.text(20, 2 * height + 56, "Nodes are larger and darker the higher their number ranks; edges are wider the larger their resistance.", "quiet small")
    return drawing


def decades(low, high):
    """The powers of ten from `low` to `high`, and 2 and 5 times each."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [m * 10.0**e for e in exponents for m in (1, 2, 5) if low <= m * 10.0**e <= high]


def speedup(lines, machine):
    """How many times as fast as the faster of the peers `fiedler` is, against the order of the matrices, a line for each batch size."""
    rows, peers = {}, set()
    for line in pathlib.Path(lines).read_text().splitlines():
        row = json.loads(line)
        operation, kind, n, batch = re.fullmatch(r"(\w+)/(\w+)/n=(\d+)/batch=(\d+)", row["workload"]).groups()
        rows.setdefault((int(batch), int(n)), {})[row["peer"].split()[0]] = row["us"]
        peers.add(row["peer"])
    ratio = {key: min(us for name, us in own.items() if name != "fiedler") / own["fiedler"] for key, own in rows.items()}
    batches, orders = sorted({b for b, _ in ratio}), sorted({n for _, n in ratio})
    names = " and ".join(sorted(p.split("+")[0] for p in peers if not p.startswith("fiedler")))
    drawing = Drawing(640, 412, f"{operation} in batches: speedup over the faster of NumPy and PyTorch")
    low, high = min(0.5, min(ratio.values())), 1.15 * max(ratio.values())
    across = lambda n: 60 + 470 * (math.log(n) - math.log(orders[0])) / (math.log(orders[-1]) - math.log(orders[0]))
    down = lambda r: 330 - 270 * (math.log(r) - math.log(low)) / (math.log(high) - math.log(low))
    drawing.text(20, 26, drawing.title, "title")
    for tick in decades(low, high):
        drawing.line(60, down(tick), 530, down(tick), "rule" if tick == 1 else "axis")
        drawing.text(52, down(tick) + 4, f"{tick:g}×", "quiet small", "end")
    for n in orders:
        drawing.text(across(n), 350, str(n), "quiet small", "middle")
    drawing.text(295, 370, "order n of the matrices", "quiet small", "middle")
    ends = []
    for shade, batch in enumerate(batches):
        points = [(across(n), down(ratio[batch, n])) for n in orders if (batch, n) in ratio]
        drawing.path(points, f"line l{shade}")
        for (x, y), n in zip(points, [n for n in orders if (batch, n) in ratio]):
            drawing.circle(x, y, 3, f"f{shade}", f"n = {n}, batch {batch}: {ratio[batch, n]:.2f} times as fast")
        ends.append((points[0][1], shade, batch, points[-1]))
    # Labels at the right end of each line, at least 16 pixels apart.
    last = -math.inf
    for y, shade, batch, (x, end) in sorted(ends, key=lambda own: own[3][1]):
        at = max(end + 4, last + 16)
        drawing.text(x + 9, at, f"batch of {batch:,}" if batch > 1 else "one matrix", "small")
        last = at
    drawing.text(20, 390, f"f32 on {machine}; {names}.", "quiet small")
    drawing.text(20, 405, "fiedler's times include its certificates. Dashed: as fast as the faster peer.", "quiet small")
    return drawing


def accuracy(*reports):
    """The errors of the self-test as shares of what is promised, a row for each operation and a mark for each adapter."""
    shares, sides = {}, []
    for report in reports:
        for check in json.loads(pathlib.Path(report).read_text())["checks"]:
            side = {"cpu": "CPU"}.get(check["on"], check["on"].split(" ")[0])
            if check["error"] is None or not check["promised"]:
                continue
            if side not in sides:
                sides.append(side)
            own = shares.setdefault(check["family"], {})
            own[side] = max(own.get(side, 0.0), check["error"] / check["promised"])
    rows = sorted(shares, key=lambda family: -max(shares[family].values()))
    floor, left, right = 1e-4, 130, 600
    drawing = Drawing(640, 92 + 24 * len(rows), "Errors of the self-test as shares of what is promised")
    across = lambda share: left + (right - left) * (math.log10(max(share, floor)) - math.log10(floor)) / -math.log10(floor)
    drawing.text(20, 26, drawing.title, "title")
    bottom = 50 + 24 * len(rows)
    for exponent in range(-4, 1):
        drawing.line(across(10.0**exponent), 42, across(10.0**exponent), bottom, "rule" if exponent == 0 else "axis")
        label = {0: "promised", -4: "≤ 0.0001"}.get(exponent, f"{10.0**exponent:g}")
        drawing.text(across(10.0**exponent), bottom + 16, label, "quiet small", "middle")
    for i, family in enumerate(rows):
        y = 58 + 24 * i
        drawing.text(left - 14, y + 4, family, "mono", "end")
        for j, (side, kind) in enumerate(zip(sides, ("one", "two", "three"))):
            if side in shares[family]:
                drawing.circle(across(shares[family][side]), y + 5 * j - 5, 4.5, kind + " ring", f"{family} on {side}: {shares[family][side]:.2g} of what is promised")
    x = 20
    for side, kind in zip(sides, ("one", "two", "three")):
        drawing.circle(x + 5, bottom + 31, 5, kind)
        drawing.text(x + 16, bottom + 35, side, "quiet small")
        x += 34 + 6.4 * len(side)
    return drawing


def bridge(lines):
    """The error of the Fiedler vector of two groups of nodes against the weight of the edge that joins them, a line for each solver."""
    rows = [json.loads(line) for line in pathlib.Path(lines).read_text().splitlines()]
    solvers = list(dict.fromkeys(row["solver"] for row in rows))
    least, floor = min(row["weight"] for row in rows), 1e-17
    drawing = Drawing(640, 380, "Error of the Fiedler vector of two groups that one weak edge joins")
    across = lambda weight: 60 + 400 * math.log10(weight) / math.log10(least)
    down = lambda error: 310 - 260 * (math.log10(max(error, floor)) - math.log10(floor)) / -math.log10(floor)
    drawing.text(20, 26, drawing.title, "title")
    for exponent in range(-16, 1, 4):
        drawing.line(60, down(10.0**exponent), 460, down(10.0**exponent))
        drawing.text(52, down(10.0**exponent) + 4, f"1e{exponent}" if exponent else "1", "quiet small", "end")
    for exponent in range(0, -round(math.log10(least)) + 1, 10):
        drawing.text(across(10.0**-exponent), 330, f"1e-{exponent}" if exponent else "1", "quiet small", "middle")
    drawing.text(260, 350, "weight of the edge", "quiet small", "middle")
    last = -math.inf
    ends = []
    for solver in solvers:
        own = solver.startswith("fiedler")
        shade = 3 if own else solvers.index(solver) % 3
        points = [(row["weight"], row["error"]) for row in rows if row["solver"] == solver]
        drawing.path([(across(w), down(e)) for w, e in points], f"line l{shade}")
        for w, e in points:
            drawing.circle(across(w), down(e), 3, "one" if own else f"f{shade}", f"{solver}, weight {w:g}: {e:.1e}")
        ends.append((down(points[-1][1]), solver))
    for y, solver in sorted(ends):
        last = max(y + 4, last + 16)
        drawing.text(470, last, solver, "small")
    drawing.text(20, 372, "2-norm of the difference from mpmath's vector with 80 digits; 1.4 is no resemblance at all.", "quiet small")
    return drawing


FLOORS = [
    (8, "the command", ["cli:main", "cli:commands"]),
    (7, "experiments, tables", ["experiment", "arrow", "cli:bench", "cli:doctor"]),
    (6, "training, features", ["train", "features"]),
    (5, "encodings, files", ["encode", "io", "interop"]),
    (4, "mathematics, stored results", ["ops", "cache"]),
    (3, "where data is", ["context", "array", "graph"]),
    (2, "costs", ["policy"]),
    (1, "wgpu", ["device"]),
    (0, "words, sizes, threads", ["error", "cancel", "clock", "shape", "forms", "lanes", "order", "parallel", "memory", "extensions", "profile"]),
]


def weights(found):
    """A grid before and after its edge weights were learned, with nodes colored by the sign of the second eigenvector."""
    found = json.loads(pathlib.Path(found).read_text())
    side, labels = found["side"], found["labels"]
    drawing = Drawing(680, 400, "Edge weights that make the spectral cut of a grid the given one")
    drawing.text(20, 26, drawing.title, "title")
    for panel, (name, vector, weight) in enumerate(
        [("equal weights", found["before"], [1.0] * len(found["edges"])), ("learned weights", found["after"], found["weights"])]
    ):
        place = lambda i: (50 + 330 * panel + 36 * (i % side), 80 + 36 * (i // side))
        drawing.text(50 + 330 * panel, 56, name)
        for (a, b), own in zip(found["edges"], weight):
            (x0, y0), (x1, y1) = place(a), place(b)
            drawing.add(f'<line x1="{x0}" y1="{y0}" x2="{x1}" y2="{y1}" class="edge" style="stroke-width:{min(4 * own, 10):.2f}"/>')
        # The sign of an eigenvector is arbitrary: the one that agrees with more labels.
        sign = 1 if sum(v * label for v, label in zip(vector, labels)) > 0 else -1
        for i, v in enumerate(vector):
            drawing.circle(*place(i), 9, ("one" if sign * v < 0 else "two") + " ring")
            drawing.circle(*place(i), 3.5, "one" if labels[i] < 0 else "two")
    drawing.text(20, 385, "Rings: the sign of the second eigenvector. Dots: the given halves. Lines are as wide as weights.", "quiet small")
    return drawing


def floors():
    """The rooms of the house as they stand in the sources, each with its lines of code, floor above floor."""
    root = pathlib.Path(__file__).resolve().parents[2]

    def lines(room):
        package, _, name = room.rpartition(":")
        source = root / package / "src"
        files = [source / f"{name}.rs", *(source / name).rglob("*.rs")]
        return sum(len(file.read_text().splitlines()) for file in files if file.exists())

    drawing = Drawing(800, 66 + 52 * len(FLOORS), "The floors: each may import any floor below it, and none above")
    drawing.text(20, 26, drawing.title, "title")
    for i, (floor, what, rooms) in enumerate(FLOORS):
        y = 44 + 52 * i
        drawing.box(20, y, 760, 46, "box")
        drawing.text(34, y + 28, str(floor), "title")
        drawing.text(56, y + 28, what, "quiet small")
        sizes = [lines(room) for room in rooms]
        assert all(sizes), f"a room of floor {floor} has no file: {dict(zip(rooms, sizes))}"
        # As wide as the name needs, and beyond it by the number of lines.
        names = [room.rpartition(":")[2] for room in rooms]
        least = [7.6 * max(len(name), 3) + 12 for name in names]
        spare = 544 - sum(least) - 6 * (len(rooms) - 1)
        x = 228
        for name, own, size in zip(names, least, sizes):
            width = own + spare * math.sqrt(size) / sum(map(math.sqrt, sizes))
            drawing.box(x, y + 5, width, 36, "room")
            drawing.text(x + width / 2, y + 21, name, "mono", "middle")
            drawing.text(x + width / 2, y + 35, f"{size:,}", "quiet small", "middle")
            x += width + 6
    drawing.text(20, 58 + 52 * len(FLOORS), "Numbers are lines of Rust. Floor 8, bench and doctor are of the command, the others of the library.", "quiet small")
    return drawing


if __name__ == "__main__":
    figures = {"encoding": encoding, "encodings": encodings, "speedup": speedup, "accuracy": accuracy, "bridge": bridge, "weights": weights, "floors": floors}
    if len(sys.argv) < 2 or sys.argv[1] not in figures:
        sys.exit(__doc__)
    print(figures[sys.argv[1]](*sys.argv[2:]))
