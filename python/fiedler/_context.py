"""Where calls run, and what they share."""

from __future__ import annotations

import os
import sys
from typing import Any

from . import _fiedler
from ._arguments import path, text_or_none, whole, wrong
from ._desktop import quiet_without_desktop
from ._errors import Error

_UNITS = {"": 0, "K": 10, "M": 20, "G": 30}


def _bytes(amount: int | str) -> int:
    """Returns a number of bytes from a number, or from a text such as 512M or 2G."""
    if not isinstance(amount, (int, str)) or isinstance(amount, bool):
        raise wrong("memory_budget", "bytes such as 512M or 2G", amount)
    text = str(amount).strip().upper().removesuffix("IB").removesuffix("B")
    digits = text.rstrip("KMG")
    shift = _UNITS.get(text[len(digits) :])
    if shift is None or not digits.isascii() or not digits.isdigit() or not 0 < int(digits) << shift < 2**63:
        raise ValueError(f"memory_budget: expected bytes such as 512M or 2G, found {amount!r}")
    return int(digits) << shift


class Context:
    """Where calls run: CPU threads, a device, a byte budget, and a cache of encodings.

    Nothing is opened before the first call that needs it. A process that was forked starts threads of its own; if the
    device was opened before the fork, calls in the new process that need it raise `DeviceLostError`.

    Parameters
    ----------
    device : {'auto', 'gpu', 'cpu'}, optional
        Where to compute. With 'auto', a cost model decides for each call, and a device is looked for once a call would
        take half a second on the CPU. By default, the environment variable FIEDLER_BACKEND decides, else 'auto'.
    adapter : str, optional
        A part of the name of the adapter, ``NAME#1`` for the second match, or ``pci:0000:41:00.0``. Software adapters
        are used only if they are named.
    threads : int, optional
        The number of CPU threads. By default, that of `get_num_threads`. It changes no bit of any result.
    memory_budget : int or str, optional
        The bytes of working memory, such as ``'2G'``, for the device and for the host. By default, half of the
        machine's memory for the host and 2 GiB for the device.
    cache_dir : path, optional
        The folder of the cache of encodings. By default, the folder of the command.
    rates : str, optional
        What another context's `rates` returned, so that this one chooses sides and kernels as that one does. By
        default, what ``fiedler tune`` measured on this machine, or else the defaults.

    Examples
    --------
    >>> import fiedler, numpy as np
    >>> ctx = fiedler.Context(device="cpu", threads=2)
    >>> fiedler.linalg.eigvalsh(np.diag([3.0, 1.0]), context=ctx)
    array([1., 3.])
    """

    def __init__(
        self,
        device: str | None = None,
        *,
        adapter: str | None = None,
        threads: int | None = None,
        memory_budget: int | str | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        rates: str | None = None,
    ) -> None:
        text_or_none(device, "device")
        if device not in (None, "auto", "gpu", "cpu"):
            raise ValueError(f"device: expected 'auto', 'gpu' or 'cpu', found {device!r}")
        if device == "cpu" and adapter is not None:
            raise ValueError(f"adapter: expected device='gpu' or 'auto' beside it, found device='cpu' ({adapter!r})")
        text_or_none(adapter, "adapter")
        threads = None if threads is None else whole(threads, "threads", 4096, least=1)
        budget = None if memory_budget is None else _bytes(memory_budget)
        folder = None if cache_dir is None else path(cache_dir, "cache_dir")
        self._settings = (device, adapter, threads, budget, folder, text_or_none(rates, "rates"))
        quiet_without_desktop()
        self._native = _fiedler.Context(*self._settings)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, self._settings

    def __repr__(self) -> str:
        names = ("device", "adapter", "threads", "memory_budget", "cache_dir", "rates")
        said = [f"{name}={value!r}" for name, value in zip(names, self._settings) if value is not None]
        return f"fiedler.Context({', '.join(said)})"

    def show(self) -> dict[str, Any]:
        """Opens the device, if there is one, and returns the adapter's name, the threads and the byte budget."""
        adapter, threads, budget = self._native.described(_fiedler.is_worker())
        return {"adapter": adapter, "threads": threads, "memory_budget": budget}

    def rates(self) -> str:
        """Returns the rates by which sides and kernels are chosen, for contexts of other processes.

        Opens the device.
        """
        return str(self._native.rates(_fiedler.is_worker()))


def _restored(*settings: Any) -> Context:
    device, adapter, threads, budget, folder, rates = settings
    return Context(device, adapter=adapter, threads=threads, memory_budget=budget, cache_dir=folder, rates=rates)


_contexts: dict[str | None, Context] = {}


def _context(context: Context | None, device: str | None) -> Any:
    """Returns the native context of a call, which names a context, or a device for a shared one."""
    if context is None:
        context = _contexts.get(None if device is None else text_or_none(device, "device"))
        if context is None:
            context = _contexts[device] = Context(device)
    elif device is not None:
        raise ValueError(f"expected context or device, found both (device={device!r})")
    elif not isinstance(context, Context):
        raise TypeError(f"context: expected a fiedler.Context, found {type(context).__name__}")
    return context._native


def set_num_threads(threads: int) -> None:
    """Sets the number of CPU threads of contexts that do not say their own and have not been used yet."""
    _fiedler.set_threads(whole(threads, "threads", 4096, least=1))
    _contexts.clear()


def get_num_threads() -> int:
    """Returns the number of CPU threads of contexts that do not say their own.

    It is what `set_num_threads` was given, else FIEDLER_THREADS, else RAYON_NUM_THREADS, else the cores that the system
    and its quotas allow. In a worker of ``multiprocessing``, such as a DataLoader's, it is 1 unless one of the first
    two says otherwise.
    """
    return _fiedler.threads(_fiedler.is_worker())


def _ask(*arguments: str) -> Any:
    """Runs the command with ``--json`` in a process of its own, and returns what it prints."""
    import json
    import subprocess  # it takes longer than all that the package imports before the first call

    call = [sys.executable, "-m", "fiedler", *arguments, "--json"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        raise Error(done.stderr.strip().removeprefix("fiedler: ")) from None


def _place(device: str | None, adapter: str | None) -> list[str]:
    return [*(["--backend", device] if device else []), *(["--adapter", adapter] if adapter else [])]


def doctor() -> dict[str, Any]:
    """Tests this machine as ``fiedler doctor`` does: its adapters, what is wrong, what to change."""
    return dict(_ask("doctor"))


def explain(workload: str, *, device: str | None = None, adapter: str | None = None, **sizes: Any) -> dict[str, Any]:
    """Says where a workload would run, the predicted times and the reason, as ``fiedler explain`` does.

    Parameters
    ----------
    workload : str
        The operation, such as 'eigh', 'svd', 'fft', 'encode', 'features' or 'train'.
    **sizes
        Its sizes, such as ``n=32, batch=1000``.

    Examples
    --------
    >>> fiedler.explain("eigh", n=8, batch=10, device="cpu")["side"]
    'cpu'
    """
    words = [f"{name}={value}" for name, value in sizes.items()]
    return dict(_ask("explain", workload, *words, *_place(device, adapter)))


def tune(*, device: str | None = None, adapter: str | None = None) -> dict[str, Any]:
    """Measures this machine once, as ``fiedler tune`` does; 'auto' chooses by these measurements from then on."""
    return dict(_ask("tune", *_place(device, adapter)))
