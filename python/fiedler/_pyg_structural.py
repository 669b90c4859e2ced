"""Transforms of PyTorch Geometric that add the arrays of `fiedler.structural`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arguments import flag, reals, text_or_none, whole
from ._context import Context
from ._graphs import GraphBatch
from ._pyg import Array, Transform
from ._structural import structural


class Structural(Transform):
    """A transform that adds an array of `fiedler.structural`. The keyword parameters are those of that function."""

    options: dict[str, Any]
    """What the array needs."""
    name: str

    def __init__(
        self,
        options: dict[str, Any],
        attr_name: str | None,
        *,
        preset: str | None = None,
        symmetrize: str | None = None,
        context: Context | None = None,
    ) -> None:
        self.options = options
        self.attr_name = text_or_none(attr_name, "attr_name")
        self.preset = preset
        self.symmetrize = symmetrize
        self.context = context

    def __repr__(self) -> str:
        shown = "".join(f"{name}={value!r}, " for name, value in self.options.items() if value is not True)
        return f"{type(self).__name__}({shown}attr_name={self.attr_name!r})"

    def _encoding(self, graphs: GraphBatch) -> Any:
        return structural(graphs, context=self.context, **self.options)

    def _features(self, encoding: Any) -> tuple[Array, Array | None]:
        return getattr(encoding, self.name), None


class AddHeatKernelPE(Structural):
    """Adds the diagonals of the heat kernels ``exp(-t L)`` to each node: ``pestat_HKdiagSE`` of GraphGPS.

    Parameters
    ----------
    times : iterable of float
    attr_name : str, optional
        The attribute that gets them, (nodes, times). With None, they are appended to ``x``.
    laplacian : {'combinatorial', 'symmetric'}
    trivial : {'drop', 'keep'}
        Whether the null space is part of the kernels. GraphGPS drops it.
    **kwargs
        ``preset``, ``symmetrize`` and ``context`` of `fiedler.structural`.

    Examples
    --------
    >>> from types import SimpleNamespace as Data
    >>> edge = Data(edge_index=np.array([[0, 1], [1, 0]]), num_nodes=2, x=None)
    >>> AddHeatKernelPE([0, 1])(edge).heat_kernel_pe.round(3).tolist()[0]
    [0.5, 0.06800000369548798]
    """

    name = "heat_kernel"

    def __init__(
        self,
        times: Any,
        attr_name: str | None = "heat_kernel_pe",
        *,
        laplacian: str = "combinatorial",
        trivial: str = "drop",
        **kwargs: Any,
    ) -> None:
        options = {"heat_times": reals(times, "times"), "laplacian": laplacian, "trivial": trivial}
        super().__init__(options, attr_name, **kwargs)


class AddWaveKernelPE(Structural):
    """Adds the wave kernel signature at a number of energies to each node, as ``attr_name``, (nodes, energies)."""

    name = "wave_kernel"

    def __init__(
        self,
        energies: int,
        attr_name: str | None = "wave_kernel_pe",
        *,
        laplacian: str = "combinatorial",
        **kwargs: Any,
    ) -> None:
        energies = whole(energies, "energies", least=1)
        super().__init__({"wave_energies": energies, "laplacian": laplacian}, attr_name, **kwargs)


class AddPageRankPE(Structural):
    """Adds the diagonals of personalized PageRank for some restart probabilities, as ``attr_name``, (nodes, restarts)."""

    name = "pagerank"

    def __init__(self, restarts: Any, attr_name: str | None = "pagerank_pe", **kwargs: Any) -> None:
        super().__init__({"pagerank": reals(restarts, "restarts")}, attr_name, **kwargs)


class AddElectrostaticPE(Structural):
    """Adds ``pestat_ElstaticSE`` of GraphGPS to each node, as ``attr_name``, (nodes, 10)."""

    name = "electrostatic"

    def __init__(self, attr_name: str | None = "electrostatic_pe", **kwargs: Any) -> None:
        super().__init__({"electrostatic": True}, attr_name, **kwargs)


class AddEffectiveResistance(Structural):
    """Adds the effective resistance of each column of ``edge_index``, as ``attr_name``, (edges, 1), or its commute time."""

    rows = "edges"

    def __init__(
        self, attr_name: str = "resistance", *, commute_time: bool = False, **kwargs: Any
    ) -> None:
        if not isinstance(attr_name, str):
            raise TypeError(f"attr_name: expected a text, found {type(attr_name).__name__}")
        self.name = "commute_time" if flag(commute_time, "commute_time") else "resistance"
        super().__init__({"resistances": True}, attr_name, **kwargs)


class AddSpectralInvariants(Structural):
    """Adds the spectral gap, the Kirchhoff index and the logarithm of the number of spanning trees, (graphs, 3)."""

    rows = "graphs"

    def __init__(self, attr_name: str = "spectral_invariants", **kwargs: Any) -> None:
        if not isinstance(attr_name, str):
            raise TypeError(f"attr_name: expected a text, found {type(attr_name).__name__}")
        super().__init__({"invariants": True}, attr_name, **kwargs)

    def _features(self, encoding: Any) -> tuple[Array, Array | None]:
        return np.stack([encoding.spectral_gap, encoding.kirchhoff_index, encoding.log_spanning_trees], axis=1), None
