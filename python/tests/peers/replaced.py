"""A plugin of pytest that puts functions and classes of fiedler in the place of a peer's while the peer's tests run.

    PEER=numpy.fft python -m pytest -p replaced --rootdir SITE_PACKAGES --pyargs numpy.fft

Every public name that both have is replaced before the tests are imported. What ``left_out.txt`` lists is expected to
fail. ``PEER_COUNTS`` is the file for the numbers.
"""

from __future__ import annotations

import fnmatch
import functools
import importlib
import json
import os
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

# Modules of peers, with those that stand in for them.
MODULES = {
    "numpy.linalg": ["numpy.linalg"],
    "numpy.fft": ["numpy.fft"],
    "scipy.fft": [],  # which has a protocol for backends
    "sklearn": ["sklearn.decomposition", "sklearn.cluster", "sklearn.manifold"],
    "torch_geometric": ["torch_geometric.transforms"],
    "array_api": ["numpy.linalg", "numpy.fft"],
    "networkx": [],  # which has a switch of its own
}
PEER = os.environ["PEER"]


def patterns():
    """Returns the patterns of the tests of this peer that are left out, with their reasons."""
    reason, found = "", []
    for line in Path(__file__).with_name("left_out.txt").read_text().splitlines():
        if line.startswith("## "):
            reason = line[3:]
        elif line.startswith(f"{PEER} "):
            # Brackets are those of parameters, and no part of a pattern.
            found.append((line.removeprefix(PEER).strip().replace("[", "[[]"), reason))
    return found


def reason_of(nodeid):
    """Returns why a test is left out, or None."""
    file, *names = nodeid.split("::")
    name = "::".join([file.rpartition("/")[2], *names])
    return next((reason for pattern, reason in PATTERNS if fnmatch.fnmatchcase(name, pattern)), None)


PATTERNS = patterns()
AT_TIMES = "at times"


def pytest_configure(config):
    config.replaced = set()
    if PEER == "scipy.fft":
        import scipy.fft

        # SciPy's own comes after it.
        scipy.fft.register_backend("scipy")
        scipy.fft.set_global_backend(answering(importlib.import_module("fiedler.fft"), config.replaced))
    for name in MODULES[PEER]:
        family, _, own_name = name.partition(".")
        own = importlib.import_module(f"fiedler.{own_name if family == 'numpy' else family}")
        theirs = importlib.import_module(name)
        for word in set(own.__all__) & set(vars(theirs)):
            setattr(theirs, word, once(getattr(own, word), getattr(theirs, word)))
            config.replaced.add(f"{name}.{word}")


def once(own, theirs):
    """Returns a function that calls the peer's where the function of fiedler itself calls the peer's by its name."""
    if isinstance(own, type):
        return own
    inside = threading.local()

    @functools.wraps(own)
    def call(*args, **kwargs):
        if getattr(inside, "now", False):
            return theirs(*args, **kwargs)
        inside.now = True
        try:
            return own(*args, **kwargs)
        finally:
            inside.now = False

    return call


def answering(module, answered):
    """Returns a module that is a backend of SciPy, here with the set of functions that it has answered."""

    def function(method, args, kwargs):
        found = module.__ua_function__(method, args, kwargs)
        if found is not NotImplemented:
            answered.add(f"scipy.fft.{method.__name__}")
        return found

    return SimpleNamespace(__ua_domain__=module.__ua_domain__, __ua_function__=function)


def pytest_collection_modifyitems(items):
    for item in items:
        reason = reason_of(item.nodeid)
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason))


def pytest_terminal_summary(terminalreporter, config):
    def names(*kinds):
        return [one.nodeid for kind in kinds for one in terminalreporter.stats.get(kind, [])]

    found = {
        "replaced": sorted(config.replaced),
        "passed": len(names("passed")),
        "failed": names("failed", "error"),
        # The suites have tests of their own that are expected to fail.
        "left out": [name for name in names("xfailed") if reason_of(name)],
        # What fails at times may pass.
        "left out, but passed": [name for name in names("xpassed") if (reason_of(name) or AT_TIMES)[:8] != AT_TIMES],
    }
    if "PEER_COUNTS" in os.environ:
        Path(os.environ["PEER_COUNTS"]).write_text(json.dumps(found))
    terminalreporter.write_line(f"replaced: {', '.join(found['replaced']) or 'by the switch of the peer'}")
    for name in found["left out, but passed"]:
        terminalreporter.write_line(f"left out, but passed: {name}")
