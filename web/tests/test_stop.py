"""Calls of Client: stops within half a second whatever the worker is doing, misuse, and the call that comes after."""

from __future__ import annotations

import pytest

import native
from driver import packed, soon

# Starts a call, stops it after `delay` milliseconds, and tells how it ended and how long that took.
STOPPED = """async ([input, options, delay]) => {
  const ended = client.encode(unpack(input), options).then(() => "done", error => error.kind);
  await new Promise(resolve => setTimeout(resolve, delay));
  const start = performance.now();
  await client.cancel();
  const kind = await ended;
  return { result: { kind, seconds: (performance.now() - start) / 1000 } };
}"""

# Seconds of work in one piece, and in many pieces between which the worker could listen.
LONG = {"one large graph": {"k": 32}, "many graphs": {"k": 16, "walkSteps": 2000}}


@pytest.mark.parametrize("delay", [0, 50, 400])
@pytest.mark.parametrize("work", LONG)
def test_stop(either, work, delay):
    """The demand is half a second from the call of `cancel()` to the rejected promise, measured in the page."""
    if work == "many graphs":
        molecules = native.molecules(1000)
        graphs, side = packed(either.file("many.zip", molecules.data)), either.side
    else:
        graphs, side = {"sample": "grid300"}, "cpu"  # which is iterated, on the CPU alone

    def stop():
        ended = either.answer(STOPPED, [graphs, {**LONG[work], "backend": side}, delay])
        assert ended["kind"] == "cancelled", "the call was over before it was stopped: it has to be longer"
        return ended["seconds"]

    soon(stop)
    again = either.encode({"sample": "karate"}, {"backend": either.side})
    assert again["status"] == ["Converged"] and again["choice"]["side"] == either.side


def test_stop_of_nothing(cpu):
    """With nothing to stop, `cancel()` resolves, and what comes later is not stopped."""
    before = cpu.encode({"sample": "karate"}, {})
    cpu.cancel()
    after = cpu.encode({"sample": "karate"}, {})
    assert before["eigenvalues"].tobytes() == after["eigenvalues"].tobytes()


def test_stop_of_several(cpu):
    """All calls that wait are rejected."""
    script = """async () => {
      const calls = [30, 31, 32].map(k => client.encode({ sample: "grid300" }, { k }).then(() => "done", e => e.kind));
      await new Promise(resolve => setTimeout(resolve, 100));
      await client.cancel();
      return { result: await Promise.all(calls) };
    }"""
    assert cpu.answer(script) == ["cancelled"] * 3
    assert cpu.encode({"sample": "grid7"}, {})["status"] == ["Converged"]


# Stops a long call, so that the worker is restarted, and `count` more calls while it opens, each after `delay`.
AGAIN = """async ([side, count, delay]) => {
  const pause = ms => new Promise(resolve => setTimeout(resolve, ms));
  const ends = [];
  for (let turn = 0; turn <= count; turn++) {
    const options = { k: 32, backend: turn === 0 ? "cpu" : side };
    const ended = client.encode({ sample: "grid300" }, options).then(() => "done", error => error.kind);
    await pause(turn === 0 ? 300 : delay);
    const start = performance.now();
    await client.cancel();
    ends.push([await ended, (performance.now() - start) / 1000]);
  }
  return { result: ends };
}"""


@pytest.mark.parametrize(("loading", "delay"), [(0, 0), (0.1, 0), (0.1, 50), (1, 0), (1, 500)])
def test_stop_while_the_worker_opens_again(either, site, loading, delay):
    """Neither a stop of a call that waits for the program nor one that comes late leaves a client that is not open."""

    def stop():
        site.slow["pkg/fiedler_web.js"] = loading
        try:
            ends = either.answer(AGAIN, [either.side, 2, delay])
        finally:
            site.slow.clear()
        assert [kind for kind, _ in ends] == ["cancelled"] * 3
        return max(seconds for _, seconds in ends)

    soon(stop)
    again = either.encode({"sample": "karate"}, {"backend": either.side})
    assert again["status"] == ["Converged"] and again["choice"]["side"] == either.side


def test_open_outlives_a_stop(cpu):
    """`open` behind a call that is stopped is not rejected with it, and neither is a call after the stop."""
    script = """async () => {
      const ended = client.encode({ sample: "grid300" }, { k: 32 }).then(() => "done", error => error.kind);
      await new Promise(resolve => setTimeout(resolve, 300));
      const opened = client.open({ backend: "cpu" });
      const stop = client.cancel();
      const next = client.encode({ sample: "karate" }, {});
      await stop;
      return { result: [await ended, (await opened).samples.length > 0, (await next).graphs] };
    }"""
    assert cpu.answer(script) == ["cancelled", True, 1]


# Calls that cannot work, and words of what they are rejected with.
MISUSED = {
    "client.encode()": "expected {sample}",
    "client.encode(null)": "expected {sample}",
    "client.graph('karate', 0)": "expected {sample}",
    "client.explain({ nodes: 3 })": "edges: expected",
    "client.encode({ edges: Uint32Array.of(0, 1) })": "nodes: expected",
    "client.encode({ nodes: -1, edges: [] })": "nodes: expected",
    "client.encode({ nodes: 2, edges: [0, 1.5] })": "edges: expected",
    "client.encode({ nodes: 2, edges: [0n, 1n] })": "edges: expected",
    "client.encode({ nodes: 2, edges: [0, 1], weights: 'two' })": "weights: expected",
    "client.encode({ sample: 5 })": "sample: expected a string, found 5",
    "client.encode({ sample: 5n })": "sample: expected",
    "client.encode({ bytes: 'text', name: 'a.txt' })": "bytes: expected",
    "client.encode({ bytes: '' })": "bytes: expected",
    "client.encode({ bytes: Uint8Array.of(48), name: 5 })": "name: expected",
    "client.encode({ bytes: new Blob(['0 1']), name: 5n })": "",
    "client.measure({ sample: 'karate' }, { k: () => 8 })": "could not be cloned",
    "client.eigh(() => 1, 1)": "could not be cloned",
}


@pytest.mark.parametrize("call", MISUSED)
def test_misuse(cpu, call):
    """It rejects, with a kind and words, and leaves nothing that a stop would have to wait for."""
    script = f"""async () => {{
      let call;
      try {{
        call = {call};
      }} catch (error) {{
        return {{ result: ["thrown", error.message] }};
      }}
      const ended = await call.then(() => ["done", ""], error => [error.name, error.kind, error.message]);
      const start = performance.now();
      await client.cancel();
      return {{ result: [...ended, performance.now() - start] }};
    }}"""
    name, kind, message, milliseconds = cpu.answer(script)
    assert (name, kind) == ("FiedlerError", "domain") and MISUSED[call] in message, message
    assert milliseconds < 100
    assert cpu.encode({"sample": "karate"}, {})["status"] == ["Converged"]


def test_a_call_after_close(gpu):
    """It opens the program as it was opened before."""
    gpu.answer("async () => ({ result: client.close() ?? null })")
    assert gpu.encode({"sample": "karate"}, {"backend": "gpu"})["choice"]["side"] == "gpu"
