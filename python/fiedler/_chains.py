"""Samples of parameters, and the bounds on the expected loss that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _fiedler
from ._arguments import real, reals, text, whole, wholes, word
from ._context import Context, _context
from ._encode import _bar
from ._training import Array, Samples, as_json, loss_of, metric_of, model_of, samples_of, shares_of


class Bound(NamedTuple):
    """A bound on the expected loss of the samples of an inverse temperature (see `Chains.bounds`)."""

    beta: float
    training: float
    """The mean training loss, scaled to [0, 1]."""
    divergence: float
    """KL of the posterior from the prior."""
    gap: float
    """The bound on the expected loss minus the training loss."""
    expected: float
    """The bound on the expected loss."""


class Chains:
    """Samples of parameters: the last state of each chain.

    Attributes
    ----------
    betas : array
        The inverse temperatures.
    runs : list of dict
        As in `Fit`, with ``beta`` beside the seed.
    classes, inputs, notes
        As in `Fit`.
    """

    def __init__(self, native: Any, samples: Samples) -> None:
        self._native = native
        self.classes = samples.classes
        self.inputs = samples.names
        self.notes = samples.notes
        self.betas: Array = np.array(native.betas)
        self.runs: list[dict[str, Any]] = native.runs()
        for place, run in enumerate(self.runs):
            run["beta"] = float(self.betas[place % len(self.betas)])

    def __repr__(self) -> str:
        return f"fiedler.train.Chains: {len(self.runs)} at {len(self.betas)} temperatures"

    def metric(self, name: str) -> Array:
        """Returns a metric such as 'test.loss' of every chain, (seeds, temperatures)."""
        values = metric_of(self.runs, name)
        return values.reshape((-1, len(self.betas)))

    def weights(self, seed: int, rung: int) -> dict[str, Array]:
        """Returns the parameters of a chain, by the place of its seed and of its temperature."""
        return dict(self._native.weights(whole(seed, "seed") * len(self.betas) + whole(rung, "rung")))

    def bounds(self, delta: float = 0.05, rule: str = "upper", *, of: str = "loss") -> list[Bound]:
        """Bounds the expected loss, or error, at each temperature, with probability 1 - delta over the samples.

        Parameters
        ----------
        rule : {'upper', 'trapezoid'}
            How the integral over beta is computed; 'upper' is never below it.
        of : {'loss', 'error'}
            The loss, scaled to [0, 1], or the share of wrong classes.
        """
        word(of, "of", "loss", "error")
        return [Bound(*row) for row in self._native.bounds(real(delta, "delta"), text(rule, "rule"), of == "error")]


class Sgld:
    """Samples parameters by stochastic gradient Langevin dynamics (Welling and Teh 2011) at several temperatures.

    Parameters
    ----------
    hidden : sequence of int
        The widths of the hidden layers.
    law : {'pac-bayes', 'gibbs', 'posterior'}
        The law of the parameters; see the library's ``fiedler::train::Law``.
    sigma : float
        The deviation of the normal prior.
    betas : sequence of float
        The inverse temperatures, which increase.
    epochs, rates : int or float, or a sequence of them
        One number for all temperatures, or one for each.
    chains : int
        The number of chains at each temperature.
    activation, loss, split, split_seed, **train
        As for `Trainer`. Inputs stay as they are by default, because bounds need a law that does not depend on samples.

    Examples
    --------
    >>> x = np.random.default_rng(1).normal(size=(100, 2))
    >>> sampler = Sgld(loss="bounded", betas=[0, 10, 100], epochs=5, rates=0.01, chains=3, batch=80, scale="none")
    >>> chains = sampler.sample(x, x[:, 0] > 0)
    >>> chains.metric("train.loss").shape, len(chains.bounds())
    ((3, 3), 3)
    """

    def __init__(
        self,
        hidden: Sequence[int] = (),
        *,
        law: str = "pac-bayes",
        sigma: float = 1.0,
        betas: Sequence[float] = (1.0,),
        epochs: int | Sequence[int] = 100,
        rates: float | Sequence[float] = 0.01,
        chains: int = 10,
        activation: str = "relu",
        loss: str | None = None,
        split: tuple[float, float, float] = (0.8, 0.0, 0.2),
        split_seed: int = 0,
        **train: Any,
    ) -> None:
        model = model_of(hidden, loss, activation=activation)
        listed, chains = reals(betas, "betas"), whole(chains, "chains")
        self._settings: dict[str, Any] = {"model": model, "train": {"scale": "none", **train}}
        self._loss = loss
        self._chains = len(listed) * chains
        self._options: dict[str, Any] = {
            "law": text(law, "law"),
            "sigma": real(sigma, "sigma"),
            "betas": listed,
            "epochs": wholes([epochs] if np.ndim(epochs) == 0 else epochs, "epochs"),
            "rates": reals([rates] if np.ndim(rates) == 0 else rates, "rates"),
            "chains": chains,
            "shares": shares_of(split),
            "split_seed": whole(split_seed, "split_seed", 2**64 - 1),
        }

    def sample(
        self,
        x: Any,
        y: Any,
        *,
        seed: int = 0,
        progress: bool | Callable[[int, int], object] | None = None,
        device: str | None = None,
        context: Context | None = None,
    ) -> Chains:
        """Runs all chains. The parameters are those of `Trainer.fit`."""
        samples = samples_of(x, y, self._settings["train"], self._loss)
        options = {
            **self._options,
            "settings": as_json(loss_of(self._settings, self._loss, samples)),
            "seed": whole(seed, "seed", 2**64 - 1),
            "classes": 0 if samples.classes is None else len(samples.classes),
        }
        tell, close = _bar(progress, self._chains, "chain")
        try:
            native = _fiedler.sample(
                _context(context, device), samples.inputs, samples.labels, samples.values, options, tell
            )
        finally:
            close()
        return Chains(native, samples)
