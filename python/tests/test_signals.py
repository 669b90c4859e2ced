"""Ctrl-C stops a call, and the next call works."""

from __future__ import annotations

import os

import pytest

from conftest import script

INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
import fiedler

rng = np.random.default_rng(0)
which = sys.argv[1]
if which == "one graph":
    n = 1_000_000
    ring = np.stack([np.arange(n), np.roll(np.arange(n), 1)])
    edges = np.concatenate([rng.integers(0, n, (2, 2 * n)), ring], axis=1)
    graphs = fiedler.GraphBatch.from_edge_index(edges, n)
    call = lambda: fiedler.encode(graphs, 16, device="cpu")
elif which == "graphs":
    ring = np.stack([np.arange(60), np.roll(np.arange(60), 1)])
    of = np.repeat(np.arange(40_000), 60)
    edges = np.tile(ring, 40_000) + 60 * of
    graphs = fiedler.GraphBatch.from_edge_index(edges, batch=of)
    call = lambda: fiedler.encode(graphs, 16, device="cpu", progress=lambda done, total: None)
elif which == "file":
    block = "".join(f"{a} {b}\\n" for a, b in rng.integers(0, 10_000_000, (1 << 18, 2)).tolist())
    path = os.path.join(sys.argv[2], "edges.txt")
    with open(path, "w") as file:
        for _ in range(200_000_000 // len(block) + 1):
            file.write(block)
    call = lambda: fiedler.encode(path, device="cpu")
elif which == "silent pipe":
    path = os.path.join(sys.argv[2], "pipe")
    os.mkfifo(path)
    call = lambda: fiedler.encode(path, device="cpu")
elif which == "edge_index":
    edges = rng.integers(0, 1 << 20, (2, 1 << 24))
    call = lambda: fiedler.encode(edges, device="cpu")
elif which == "factorization":
    n = 1000
    at = np.arange(n * n).reshape(n, n)
    rows, columns = np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()]), np.stack([at[:-1].ravel(), at[1:].ravel()])
    graphs = fiedler.GraphBatch.from_edge_index(np.concatenate([rows, columns], axis=1))
    call = lambda: fiedler.encode(graphs, 4, device="cpu")
else:
    matrices = rng.standard_normal((60_000, 24, 24))
    call = lambda: [fiedler.linalg.eigh(matrices, device="cpu") for _ in range(100)]
sent = []

def send():
    time.sleep(0.5)
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

sender = threading.Thread(target=send)
sender.start()
try:
    call()
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - sent[0])
sender.join()
print(fiedler.encode(np.array([[0, 1], [1, 2]]), 2, device="cpu").status.tolist())
"""


ROADS = ["one graph", "graphs", "matrices", "file", "edge_index", "factorization"]


@pytest.mark.parametrize("which", [*ROADS, *(["silent pipe"] if hasattr(os, "mkfifo") else [])])
def test_an_interrupt_is_answered_and_the_next_call_works(which, figures, tmp_path):
    interrupted, after = script(INTERRUPTED, which, tmp_path).splitlines()
    assert interrupted.startswith("interrupted")
    assert after == "[0]"
    figures.append(f"Ctrl-C in a call with {which}: answered after {float(interrupted.split()[1]):.2f} s")


HANDLED = """
import os, signal, threading, time
import numpy as np
import fiedler

class Stop(Exception):
    pass

def handler(number, frame):
    raise Stop

signal.signal(signal.SIGUSR1, handler)
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
try:
    matrices = np.random.default_rng(0).standard_normal((60_000, 24, 24))
    for _ in range(100):
        fiedler.linalg.eigh(matrices, device="cpu")
except Stop:
    print("stopped")
"""


def test_what_a_handler_raises_stops_the_call_too():
    assert script(HANDLED) == "stopped\n"


RAISED = """
import numpy as np
import fiedler

def progress(done, total):
    raise LookupError(done)

try:
    fiedler.encode([np.array([[0, 1], [1, 2]])] * 1000, 2, progress=progress)
except LookupError:
    print("raised")
print(len(fiedler.encode([np.array([[0, 1], [1, 2]])] * 1000, 2)))
"""


def test_what_a_callback_raises_stops_the_call_too():
    assert script(RAISED) == "raised\n1000\n"
