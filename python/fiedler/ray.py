"""Encodings in actors of Ray.

>>> import ray, fiedler.ray                                                                        # doctest: +SKIP
>>> encoded = ray.data.read_parquet("graphs/").map_batches(                                        # doctest: +SKIP
...     fiedler.ray.Encode,
...     fn_constructor_kwargs={"k": 8},
...     batch_format="pyarrow",
...     batch_size=4096,
...     compute=ray.data.ActorPoolStrategy(size=4),
...     num_cpus=1,
... )
"""

from __future__ import annotations

import os
from typing import Any

from ._context import Context
from .arrow import Encoder, FeatureEncoder

__all__ = ["Encode", "Features", "context"]


def _pci_of(gpu: str) -> str | None:
    """Returns the PCI address of the GPU that CUDA numbers so, in the order of the addresses, as Ray does."""
    folder = "/proc/driver/nvidia/gpus"
    if not gpu.isdigit() or not os.path.isdir(folder):
        return None
    addresses = sorted(os.listdir(folder))
    return addresses[int(gpu)] if int(gpu) < len(addresses) else None


def context() -> Context:
    """Returns a context of what Ray has assigned to this actor or task: its GPU, its CPUs and its memory.

    Without an assigned GPU, it computes on the CPU, because a GPU of the node is that of another actor.
    """
    import ray

    runtime: Any = ray.get_runtime_context()
    assigned = runtime.get_assigned_resources()
    threads = max(1, int(assigned.get("CPU", 1)))
    memory = assigned.get("memory")
    settings: dict[str, Any] = {"threads": threads, "memory_budget": int(memory) if memory else None}
    gpus = [str(gpu) for gpu in ray.get_gpu_ids()]
    if not gpus:
        return Context("cpu", **settings)
    address = _pci_of(gpus[0])
    return Context("gpu", adapter=None if address is None else f"pci:{address}", **settings)


class Encode:
    """An actor that encodes tables: `fiedler.arrow.Encoder` with the context of `context`. Takes the same options."""

    def __init__(self, k: int = 8, **options: Any) -> None:
        self._encoder = Encoder(k, context=context(), **options)

    def __call__(self, table: Any) -> Any:
        return self._encoder(table)


class Features:
    """An actor that computes features of tables: `fiedler.arrow.FeatureEncoder` with the context of `context`."""

    def __init__(self, representations: str | list[str], **options: Any) -> None:
        self._encoder = FeatureEncoder(representations, context=context(), **options)

    def __call__(self, table: Any) -> Any:
        return self._encoder(table)
