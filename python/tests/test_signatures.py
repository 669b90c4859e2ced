"""Functions with a peer's name take what the peer's takes: the same parameters, in the same order, with the same defaults."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import scipy.fft
import scipy.sparse.linalg

from fiedler import fft, linalg

BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def pairs():
    """Our functions, each with one of its name in NumPy or SciPy."""
    peers = [
        (fft, np.fft, "numpy.fft"),
        (fft, scipy.fft, "scipy.fft"),
        (linalg, np.linalg, "numpy.linalg"),
        (linalg, scipy.sparse.linalg, "scipy.sparse.linalg"),
    ]
    for own, peer, module in peers:
        for name in own.__all__:
            if inspect.isfunction(getattr(own, name)) and callable(getattr(peer, name, None)):
                yield pytest.param(getattr(own, name), getattr(peer, name), f"{module}.{name}", id=f"{module}.{name}")
    yield pytest.param(linalg.matmul, np.matmul, "numpy.matmul", id="numpy.matmul")


# Names of parameters that differ by design. `a` is NumPy's name; SciPy's and the array API's are positional in practice.
RENAMED = {"x": "a", "A": "a", "x1": "a", "x2": "b"}

# What differs, with the reason. The key is the peer's function, or a module for all of its functions.
EXCEPTIONS = {
    ("numpy.matmul", "ufunc"): "the options of ufuncs other than out: axes, axis, keepdims, casting, order, dtype, subok, signature",
    ("scipy.fft", "overwrite_x"): "follows NumPy's out in functions that NumPy has, and is given by name there",
    ("scipy.fft", "workers"): "as overwrite_x",
    ("scipy.sparse.linalg.eigsh", "which"): "SA in place of LM: the smallest pairs of a Laplacian are what the library is for",
}
UFUNC = {"axes", "axis", "keepdims", "casting", "order", "dtype", "subok", "signature"}


def is_excepted(peer, name):
    module = peer.rpartition(".")[0]
    return (peer, name) in EXCEPTIONS or (module, name) in EXCEPTIONS or name in UFUNC and (peer, "ufunc") in EXCEPTIONS


def differences(ours, theirs, peer):
    """What the peer's signature has and ours lacks."""
    try:
        wanted = inspect.signature(theirs).parameters
    except ValueError:
        return  # an older NumPy does not tell those of its ufuncs
    found = inspect.signature(ours).parameters
    by_position = [name for name, parameter in found.items() if parameter.kind in BY_POSITION]
    for place, (name, parameter) in enumerate(wanted.items()):
        if is_excepted(peer, name):
            continue
        own = name if name in found else RENAMED.get(name, name)
        if own not in found:
            yield f"{name} is missing"
            continue
        if parameter.kind in BY_POSITION and (place >= len(by_position) or by_position[place] != own):
            yield f"{name} is not parameter {place}"
        default = found[own].default
        if parameter.default is not inspect.Parameter.empty and repr(default) != repr(parameter.default):
            yield f"{name} is {default!r} by default, {parameter.default!r} in the peer"
        if parameter.default is inspect.Parameter.empty and default is not inspect.Parameter.empty:
            yield f"{name} may be left out"
    for name, parameter in found.items():
        if parameter.default is inspect.Parameter.empty and not set(wanted) & {name, *(k for k, v in RENAMED.items() if v == name)}:
            yield f"{name} has no default, and the peer does not have it"


@pytest.mark.parametrize(("ours", "theirs", "peer"), list(pairs()))
def test_signatures(ours, theirs, peer):
    assert not list(differences(ours, theirs, peer))


def test_the_array_api():
    """The Fourier functions of the array API 2024.12: their parameters, given as the standard gives them."""
    x = np.arange(12.0).reshape(3, 4)
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        assert getattr(fft, name)(x, n=4, axis=0, norm="backward").shape[1] == 4
    for name in ("fftn", "ifftn", "rfftn", "irfftn"):
        assert getattr(fft, name)(x, s=[4], axes=[0], norm="ortho").shape[1] == 4
    for name in ("fftfreq", "rfftfreq"):
        assert getattr(fft, name)(4, d=0.5, dtype=np.float32, device="cpu").dtype == np.float32
    for name in ("fftshift", "ifftshift"):
        assert getattr(fft, name)(x, axes=[0, 1]).shape == (3, 4)


def test_differences_are_seen():
    def lacking(a, n=None):
        """A function with fewer parameters."""

    def other(a, n=0, axis=-1, norm=None, out=None):
        """A function with another default."""

    assert list(differences(lacking, np.fft.fft, "numpy.fft.fft")) == ["axis is missing", "norm is missing", "out is missing"]
    assert list(differences(other, np.fft.fft, "numpy.fft.fft")) == ["n is 0 by default, None in the peer"]


def test_exceptions_are_needed():
    """An exception that no function needs any more is left out of the table."""
    for peer, name in list(EXCEPTIONS):
        reason = EXCEPTIONS.pop((peer, name))
        try:
            found = [list(differences(*pair.values)) for pair in pairs()]
        finally:
            EXCEPTIONS[peer, name] = reason
        assert any(found), (peer, name)
