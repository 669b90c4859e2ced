"""Gradients of fiedler beside those of torch: their time, and a training on graphs with ties.

    PYTHONPATH=python python benches/gradients.py

Both sides run in one process, one after the other. A time is the median of the calls, in microseconds per matrix.
"""

import itertools
import statistics
import time
import warnings

import fiedler
import torch
from fiedler import linalg
from fiedler.torch import SpectralEncoding

warnings.simplefilter("ignore")
CALLS = 25


def medians(*calls):
    """Times one call after the other; the threads of torch first have to fall asleep, as they would elsewhere."""
    medians = []
    for call in calls:
        time.sleep(0.3)
        times = []
        for _ in range(CALLS):
            began = time.perf_counter()
            call()
            times.append(time.perf_counter() - began)
        medians.append(statistics.median(times))
    return medians


def backward(outputs, a):
    bars = [torch.randn_like(x) for x in outputs]
    return lambda: torch.autograd.grad(outputs, a, bars, retain_graph=True)


def decompositions():
    print("backward of batches       n   torch    fiedler  ratio")
    for dtype, (n, batch) in itertools.product((torch.float32, torch.float64), ((8, 4096), (32, 512), (128, 64))):
        a = torch.randn(batch, n, n, dtype=dtype)
        symmetric = ((a + a.mT) / 2).requires_grad_()
        a.requires_grad_()
        for name, call in (
            ("eigh", lambda library, s=symmetric: (tuple(library.eigh(s)), s)),
            ("svd", lambda library, a=a: (tuple(library.svd(a, full_matrices=False)), a)),
        ):
            theirs, ours = medians(backward(*call(torch.linalg)), backward(*call(linalg)))
            times = f"{theirs / batch * 1e6:8.2f} {ours / batch * 1e6:8.2f}  {theirs / ours:5.2f}"
            print(f"{name:5} {str(dtype)[6:]:8} x {batch:5} {n:4} {times}", flush=True)


def padded(edges, weight, batch, k):
    """The same encoding as torch would compute it: one batch of dense Laplacians, padded to the largest graph."""
    orders = torch.bincount(batch)
    offsets = orders.cumsum(0) - orders
    n, graph = int(orders.max()), batch[edges[0]]
    at = (graph, edges[0] - offsets[graph], edges[1] - offsets[graph])
    adjacency = weight.new_zeros((len(orders), n, n)).index_put(at, weight, accumulate=True)
    adjacency = (adjacency + adjacency.mT) / 2
    degrees = adjacency.sum(-1)
    inside = torch.arange(n) < orders[:, None]
    scale = torch.where(inside, torch.where(inside, degrees, 1.0).rsqrt(), 0.0)
    # Padding nodes are isolated, with eigenvalues behind all others.
    laplacian = torch.diag_embed(torch.where(inside, 1.0, 3.0)) - scale[:, :, None] * adjacency * scale[:, None, :]
    w, v = torch.linalg.eigh(laplacian)
    return w[:, :k], v[:, :, :k]


def molecules(count, generator):
    """Trees with a few rings, of 9 to 37 nodes."""
    edges, batch, offset = [], [], 0
    for graph in range(count):
        n = int(torch.randint(9, 38, (), generator=generator))
        pairs = {(int(torch.randint(max(0, i - 3), i, (), generator=generator)), i) for i in range(1, n)}
        pairs |= {(i, i + 5) for i in range(0, n - 5, 6)}
        edges += [(offset + x, offset + y) for i, j in pairs for x, y in ((i, j), (j, i))]
        batch += [graph] * n
        offset += n
    return torch.tensor(edges).T, torch.tensor(batch)


def encodings():
    generator = torch.Generator().manual_seed(0)
    edges, batch = molecules(1000, generator)
    weight = (torch.rand(edges.shape[1], generator=generator) + 0.5).requires_grad_()
    encoder = SpectralEncoding(8)

    def ours():
        with fiedler.linalg.gradients(undefined="ignore"):
            found = encoder(edges, weight, batch)
        return torch.autograd.grad((found.eigenvalues**2).sum() + (found.eigenvectors**4).sum(), weight)

    def theirs():
        w, v = padded(edges, weight, batch, 8)
        return torch.autograd.grad((w**2).sum() + (v**4).sum(), weight)

    theirs, ours = medians(theirs, ours)
    what = "forward and backward of 1,000 molecules, k = 8"
    print(f"\n{what}: torch {theirs * 1e3:.0f} ms, fiedler {ours * 1e3:.0f} ms, ratio {theirs / ours:.2f}")


def training():
    """Learns edge weights of complete graphs and rings, most of whose eigenvalues are tied."""
    print("\n200 steps on graphs with ties")
    graphs = [(n, list(itertools.combinations(range(n), 2))) for n in (4, 5, 6)]
    graphs += [(n, [(i, (i + 1) % n) for i in range(n)]) for n in (4, 5, 6)]
    edges, batch, offset = [], [], 0
    for graph, (n, pairs) in enumerate(graphs):
        edges += [(offset + x, offset + y) for i, j in pairs for x, y in ((i, j), (j, i))]
        batch += [graph] * n
        offset += n
    edges, batch = torch.tensor(edges).T, torch.tensor(batch)
    sizes = [n for n, _ in graphs]
    for name in ("torch", "fiedler"):
        weight = torch.ones(edges.shape[1], requires_grad=True)
        optimizer = torch.optim.Adam([weight], lr=0.01)
        encoder = SpectralEncoding(6, laplacian="combinatorial")
        losses = []
        for _ in range(200):
            if name == "fiedler":
                vectors = encoder(edges, weight.abs(), batch).eigenvectors.split(sizes)
            else:
                vectors = []
                for graph, n in enumerate(sizes):
                    kept = batch[edges[0]] == graph
                    first = int((batch < graph).sum())
                    own = torch.zeros(n, n).index_put(tuple(edges[:, kept] - first), weight[kept].abs())
                    own = (own + own.T) / 2
                    vectors.append(torch.linalg.eigh(torch.diag(own.sum(0)) - own)[1])
            # The projector on all but the constant vector, whose diagonal is to stay, and the weights are to halve.
            loss = sum(((v[:, 1:n] @ v[:, 1:n].mT).diagonal() - 1).square().sum() for v, n in zip(vectors, sizes, strict=True))
            loss = loss + (weight.mean() - 0.5) ** 2
            optimizer.zero_grad()
            loss.backward()
            if not weight.grad.isfinite().all():
                print(f"{name}: a gradient that is not finite in step {len(losses) + 1}")
                break
            optimizer.step()
            losses.append(loss.item())
        else:
            print(f"{name}: loss {losses[0]:.4f} to {losses[-1]:.4f}, every gradient finite")


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(fiedler.get_num_threads())
    decompositions()
    encodings()
    training()
