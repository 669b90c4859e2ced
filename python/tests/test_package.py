"""The package: its names, types, examples, import, and the command."""

from __future__ import annotations

import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fiedler
from conftest import ROOT, script

PACKAGE = Path(fiedler.__file__).parent
MODULES = sorted(path.stem for path in PACKAGE.glob("*.py") if path.stem not in ("__init__", "__main__"))


def names():
    """What examples may use without an import."""
    apart = ("dgl", "networkx", "sklearn", "torch", "torch_geometric")
    modules = {name: importlib.import_module(f"fiedler.{name}") for name in fiedler._MODULES if name not in apart}
    return {"np": np, "fiedler": fiedler, **modules}


@pytest.mark.parametrize("name", ["fiedler", *(f"fiedler.{name}" for name in MODULES)])
def test_examples_of_modules(name):
    needs = {"fiedler.sklearn": "sklearn", "fiedler.arrow": "pyarrow"}
    of_networkx = ("networkx", "_networkx", "_networkx_grounded", "_networkx_resistances")
    needs |= {f"fiedler.{name}": "networkx" for name in of_networkx}
    needs |= {f"fiedler.{name}": "sklearn" for name in ("_decomposition", "_estimators", "_spectral")}
    of_torch = ("torch", "_gradients_torch", "_gradients_graphs", "_transforms_torch")
    needs |= {f"fiedler.{name}": "torch" for name in of_torch} | {"fiedler._gradients_jax": "jax"}
    if name in needs:
        pytest.importorskip(needs[name])
    found = doctest.testmod(importlib.import_module(name), extraglobs=names(), optionflags=doctest.ELLIPSIS)
    assert found.failed == 0


@pytest.mark.parametrize("page", ["docs/python.md", "python/README.md", "site/pages/index.md"])
def test_examples_of_pages(page, monkeypatch):
    for module in ("networkx", "pyarrow", "sklearn"):
        pytest.importorskip(module)
    monkeypatch.chdir(ROOT)
    found = doctest.testfile(str(ROOT / page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert (found.failed, found.attempted > 0) == (0, True)


def public():
    """Public functions and classes, with their names."""
    for name in ("", *(f".{name}" for name in MODULES if not name.startswith("_"))):
        if name in (".networkx", ".sklearn", ".torch"):
            continue
        module = importlib.import_module(f"fiedler{name}")
        for own in module.__all__:
            if own in fiedler._MODULES:
                continue
            value = getattr(module, own)
            if callable(value):
                yield f"fiedler{name}.{own}", value


@pytest.mark.parametrize(("name", "value"), list(public()), ids=lambda x: x if isinstance(x, str) else "")
def test_everything_public_is_documented(name, value):
    assert value.__doc__, name
    own = value.__doc__.startswith(f"{value.__name__}(")
    assert not own, f"{name} has the text that named tuples get by themselves"


def test_names():
    assert set(fiedler.__all__) <= set(dir(fiedler))
    for name in fiedler.__all__:
        if name not in ("networkx", "sklearn", "torch"):
            assert getattr(fiedler, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        fiedler.nothing
    assert fiedler.__version__.count(".") == 2
    assert (PACKAGE / "py.typed").exists()


def run(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", *arguments], capture_output=True, text=True, timeout=120, check=False, cwd=PACKAGE.parent
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_types():
    pytest.importorskip("mypy")
    run("mypy", "--strict", "fiedler")


def test_stubs():
    pytest.importorskip("mypy")
    run("mypy.stubtest", "fiedler._fiedler", "--mypy-config-file", "pyproject.toml")


def test_import(figures):
    program = """
import sys, time
import numpy
start = time.perf_counter()
import fiedler
fiedler.encode, fiedler.linalg.eigh, fiedler.fft.fft
print(1e3 * (time.perf_counter() - start))
loaded = {"torch", "torch_geometric", "dgl", "sklearn", "scipy", "networkx", "tqdm", "pandas"} & sys.modules.keys()
print(sorted(loaded))
"""
    took, loaded = script(program).splitlines()
    figures.append(f"import of fiedler beside numpy: {float(took):.0f} ms")
    assert loaded == "[]"


def test_neighbors_do_not_import_what_they_stand_in_for():
    program = """
import sys
import fiedler.torch_geometric, fiedler.dgl
print({"torch", "torch_geometric", "dgl", "sklearn", "scipy"} & sys.modules.keys() or "nothing")
import fiedler.__main__
print("numpy" in sys.modules)
"""
    assert script(program).splitlines()[0] == "nothing"
    assert script("import sys, fiedler, fiedler.__main__\nprint('numpy' in sys.modules)") == "False\n"


def test_the_command_takes_its_own_interrupt():
    program = """
import os, signal, sys, threading
import fiedler.__main__
sys.argv = ["fiedler", "--version"]
print(fiedler.__main__.main(), signal.getsignal(signal.SIGINT) is signal.SIG_DFL)
"""
    assert script(program).splitlines()[-1] == "0 True"


def test_what_the_command_says():
    assert fiedler.explain("eigh", n=8, batch=10, device="cpu")["side"] == "cpu"
    assert "adapters" in fiedler.doctor()
    with pytest.raises(fiedler.Error):
        fiedler.explain("no such operation", n=8)


def test_cloudpickle_takes_what_pickle_takes():
    cloudpickle = pytest.importorskip("cloudpickle")
    context = fiedler.Context(device="cpu", threads=1)
    work = cloudpickle.loads(cloudpickle.dumps(lambda x: fiedler.linalg.eigh(x, context=context)))
    found = work(np.eye(2))
    copied = cloudpickle.loads(cloudpickle.dumps(found))
    assert type(copied) is fiedler.linalg.EighResult
    np.testing.assert_array_equal(copied.certificates.status, found.certificates.status)
    for made in (fiedler.linalg.svd(np.eye(3)), fiedler.linalg.svd_truncated(np.eye(3), 1)):
        again = cloudpickle.loads(cloudpickle.dumps(made))
        assert vars(again).keys() == vars(made).keys()
        np.testing.assert_array_equal(again.S, made.S)
