"""Two threads call at once; neither waits for the GIL, and both get what one gets alone."""

from __future__ import annotations

import sys
import threading
import time

import numpy as np
import pytest

import fiedler
from conftest import script


def run(*works):
    """Runs functions at once and returns their results."""
    results = [None] * len(works)
    barrier = threading.Barrier(len(works))

    def start(i):
        barrier.wait()
        try:
            results[i] = works[i]()
        except BaseException as error:
            results[i] = error

    threads = [threading.Thread(target=start, args=(i,)) for i in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return results


def test_calls_at_once(edge_lists):
    rng = np.random.default_rng(0)
    matrices = rng.standard_normal((3000, 8, 8))
    graphs = [edges.T for _, edges in edge_lists if edges.size] * 50
    context = fiedler.Context(device="cpu", threads=2)

    def encode():
        return [fiedler.encode(graphs, 4, context=context).eigenvectors.tobytes() for _ in range(5)]

    def eigh():
        return [fiedler.linalg.eigh(matrices, context=context).eigenvectors.tobytes() for _ in range(5)]

    alone = [encode()[0], eigh()[0]]
    for found, truth in zip(run(encode, eigh, encode, eigh), alone * 2, strict=True):
        assert found == [truth] * 5


def test_an_error_of_one_thread_is_not_that_of_another():
    good = np.eye(4)

    def fail():
        with pytest.raises(fiedler.DomainError):
            fiedler.linalg.eigh(good, which="middle")
        return "failed"

    def panic():
        native = fiedler.Context(device="cpu")._native
        with pytest.raises(fiedler.InternalError, match="as asked"):
            fiedler._fiedler.panic(native)
        return "panicked"

    results = run(fail, lambda: fiedler.linalg.eigvalsh(good).tolist(), panic)
    assert results == ["failed", [1.0] * 4, "panicked"]


def test_python_goes_on_during_a_call():
    matrices = np.random.default_rng(0).standard_normal((40_000, 16, 16))
    done = threading.Event()
    ticks = 0

    def count():
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    before = ticks
    fiedler.linalg.eigh(matrices, device="cpu")
    during = ticks - before
    done.set()
    counter.join()
    assert during > 3


def test_one_stream_for_two_threads():
    stream = fiedler.random.Stream(1, "shared")
    drawn = run(*[lambda: stream.words(1000)] * 4)
    whole = fiedler.random.Stream(1, "shared").words(4000)
    assert sorted(np.concatenate(drawn).tolist()) == sorted(whole.tolist())


LARGE_DRAWS = """
import threading
import fiedler

stream = fiedler.random.Stream(7, "x")
def draw():
    for _ in range(30):
        stream.uniform((500_000,))
threads = [threading.Thread(target=draw, daemon=True) for _ in range(2)]
[thread.start() for thread in threads]
[thread.join(60) for thread in threads]
print(stream.position if not any(thread.is_alive() for thread in threads) else "hangs")
"""


def test_large_draws_of_one_stream_end():
    assert script(LARGE_DRAWS) == f"{30 * 2 * 500_000}\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc/self/task is not there")
def test_nothing_starts_before_the_first_call():
    program = """
import os
# What NumPy itself starts is not counted.
import numpy
def threads():
    return len(os.listdir("/proc/self/task"))
def opened():
    links = (os.path.join("/proc/self/fd", number) for number in os.listdir("/proc/self/fd"))
    return sum("/dev/dri" in os.readlink(link) for link in links if os.path.exists(link))
before = threads()
import fiedler
for name in fiedler.__all__:
    if name not in ("sklearn", "torch"):
        getattr(fiedler, name)
fiedler.Context()
fiedler.get_num_threads()
maps = open("/proc/self/maps").read()
print(threads() - before, opened(), "libvulkan" in maps, "multiprocessing" in __import__("sys").modules)
# A small call that may choose the device does not look for one either.
fiedler.linalg.eigvalsh(numpy.eye(3))
print("libvulkan" in open("/proc/self/maps").read())
"""
    assert script(program).splitlines() == ["0 0 False False", "False"]


def test_a_context_says_its_number_of_threads():
    assert fiedler.Context(device="cpu").show()["memory_budget"] > 0
    assert fiedler.Context(device="cpu", threads=3, memory_budget="2G").show() == {
        "adapter": None,
        "threads": 3,
        "memory_budget": 2 << 30,
    }
