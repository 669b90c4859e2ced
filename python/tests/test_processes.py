"""Processes that are forked or spawned compute as their parent does."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys

import pytest

from conftest import script

SETUP = """
import os, sys, time, warnings
import numpy as np
import fiedler

warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of a fork in any process with threads
rng = np.random.default_rng(0)
graphs = fiedler.GraphBatch.from_edge_index(rng.integers(0, 1000, (2, 3000)), 1000)

def bits(**how):
    return fiedler.encode(graphs, 4, **how).eigenvectors.tobytes()

def wait(pid):
    # A process that hangs is killed, and counts as failed.
    end = time.monotonic() + 20
    while time.monotonic() < end:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return status
        time.sleep(0.002)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return -1
"""

FORKED = f"""{SETUP}
graphs = fiedler.GraphBatch.from_edge_index(rng.integers(0, 300, (2, 900)), 300)
truth = bits()
big = fiedler.linalg.eigvalsh(np.ones((500, 16, 16)))
failed = []
for i in range(100):
    assert bits() == truth
    pid = os.fork()
    if pid == 0:
        good = bits() == truth and np.array_equal(fiedler.linalg.eigvalsh(np.ones((500, 16, 16))), big)
        os._exit(0 if good else 1)
    if wait(pid) != 0:
        failed.append(i)
print(failed)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="os.fork is not there")
def test_a_hundred_forks():
    assert script(FORKED) == "[]\n"


BRIEF = f"""{SETUP}
a, b = (rng.standard_normal(shape) for shape in ((3, 3), (10, 200)))
calls = [
    lambda: fiedler.linalg.eigh(a + a.T).eigenvectors,
    lambda: fiedler.linalg.svdvals(b),
    lambda: fiedler.linalg.matmul(b.T[:40], b[:, :50]),
    lambda: fiedler.stats.cov(b, rowvar=False),
    lambda: fiedler.stats.cov(b[:2], rowvar=False),
    lambda: fiedler.stats.cov(rng.standard_normal((3, 900)), rowvar=False)[:0],
    lambda: fiedler.stats.describe(b, axis=0).mean,
    lambda: fiedler.fft.fft2(b),
]
large = rng.standard_normal((300, 300))
calls += [lambda: fiedler.linalg.matmul(large, large), lambda: fiedler.stats.cov(large), lambda: fiedler.linalg.svd(large)[0]]
truth = [call() for call in calls]
pid = os.fork()
if pid == 0:
    os._exit(0 if all(np.array_equal(call(), was) for call, was in zip(calls, truth)) else 1)
print(wait(pid))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="os.fork is not there")
def test_brief_calls_of_a_child_do_not_wait_for_threads_of_its_parent():
    assert script(BRIEF) == "0\n"


NESTED = f"""{SETUP}
truth = bits()
pid = os.fork()
if pid == 0:
    mine = bits()
    child = os.fork()
    if child == 0:
        os._exit(0 if bits() == truth else 1)
    os._exit(0 if wait(child) == 0 and mine == truth else 1)
print(wait(pid))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="os.fork is not there")
def test_a_fork_of_a_fork():
    assert script(NESTED) == "0\n"


DURING = f"""{SETUP}
import threading
truth = bits()
busy = threading.Thread(target=lambda: [bits() for _ in range(20)])
busy.start()
failed = 0
for _ in range(10):
    pid = os.fork()
    if pid == 0:
        os._exit(0 if bits() == truth else 1)
    failed += wait(pid) != 0
busy.join()
print(failed)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="os.fork is not there")
def test_a_fork_while_another_thread_computes():
    assert script(DURING) == "0\n"


LOCKED = f"""{SETUP}
import threading
failed = 0
for i in range(5):
    # To start so many threads takes long, and meanwhile nobody else has what the context opens.
    context = fiedler.Context(device="cpu", threads=500)
    opening = threading.Thread(target=context.show)
    opening.start()
    time.sleep(0.001 * i)
    pid = os.fork()
    if pid == 0:
        os._exit(0 if context.show()["threads"] == 500 else 1)
    failed += wait(pid) != 0
    opening.join()
    if failed:
        break
print(failed)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="os.fork is not there")
def test_a_fork_while_another_thread_opens_a_context():
    assert script(LOCKED) == "0\n"


LOST = f"""{SETUP}
context = fiedler.Context(device="gpu", adapter=sys.argv[1])
a = np.eye(8, dtype=np.float32)
print(fiedler.linalg.eigvalsh(a, context=context).sum())
pid = os.fork()
if pid == 0:
    try:
        fiedler.linalg.eigvalsh(a, context=context)
        os._exit(1)
    except fiedler.DeviceLostError as error:
        words = "before this process was forked" in str(error)
    cpu = fiedler.linalg.eigvalsh(a, device="cpu").sum() == 8
    os._exit(0 if words and cpu else 2)
print(wait(pid))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="os.fork is not there")
def test_a_device_does_not_outlive_a_fork(adapter):
    assert script(LOST, adapter) == "8.0\n0\n"


WORKERS = f"""{SETUP}
import multiprocessing

def work(_):
    return bits(), fiedler.get_num_threads(), os.getpid()

if __name__ == "__main__":
    truth = bits() if sys.argv[2] == "before" else None
    with multiprocessing.get_context(sys.argv[1]).Pool(int(sys.argv[3])) as pool:
        made = pool.map_async(work, range(8), chunksize=1).get(40)
    truth = truth or bits()
    print(all(one == truth for one, _, _ in made), {{threads for _, threads, _ in made}})
"""


@pytest.mark.parametrize(
    ("start", "when", "count"),
    [("fork", "before", 4), ("fork", "after", 4), ("spawn", "before", 2), ("forkserver", "before", 2)],
)
def test_workers(tmp_path, start, when, count):
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip(f"the start method {start} is not there")
    program = tmp_path / "program.py"
    program.write_text(WORKERS)
    done = subprocess.run(
        [sys.executable, program, start, when, str(count)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "True {1}\n", done.stderr


def test_the_number_of_threads():
    program = "import fiedler; print(fiedler.get_num_threads())"
    assert script(program, FIEDLER_THREADS="3") == "3\n"
    assert script(program, RAYON_NUM_THREADS="5") == "5\n"
    assert script(program, FIEDLER_THREADS="3", RAYON_NUM_THREADS="5") == "3\n"
    program = "import fiedler; fiedler.set_num_threads(2); print(fiedler.get_num_threads())"
    assert script(program, FIEDLER_THREADS="3") == "2\n"
