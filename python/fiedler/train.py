"""Training of many small networks at once: seeds, grids of hyperparameters, early stopping, checkpoints.

A run is a function of its seed and its hyperparameters: it has the same bits alone and beside others, on any number of
threads, and if it was interrupted and resumed. The words and defaults of `Trainer` are those of the command's
experiments.

>>> import numpy as np
>>> from fiedler import train
>>> x = np.random.default_rng(0).normal(size=(200, 2)).astype(np.float32)
>>> fit = train.Trainer(hidden=[8], optimizer={"kind": "adam", "lr": 0.01}, epochs=30).fit(x, x[:, 0] > x[:, 1], runs=3)
>>> bool(fit.metric("test.accuracy").mean() > 0.9)
True
"""

from __future__ import annotations

import errno
import json
import math
import os
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _fiedler
from ._arguments import many, path as _place, real, reals, seconds, text, text_or_none, whole, wholes, word, wrong
from ._arrays import as_numpy, prepared
from ._context import Context, _context
from ._encode import _bar
from ._errors import DomainError, ShapeError
from ._files import whole_file

__all__ = ["Bound", "Chains", "Fit", "Model", "Sgld", "Trainer"]

Array = np.ndarray[Any, Any]


def _matrix(x: Any, name: str) -> Array:
    array = prepared(as_numpy(x, name)[0], name)
    if array.ndim != 2:
        raise ShapeError(f"{name}: expected (samples, inputs), found the shape {array.shape}")
    return array


def _samples(x: Any, y: Any) -> tuple[Array, Array | None, Array | None, Array | None]:
    """Returns the inputs, the labels or the values, and what the labels stand for."""
    inputs = _matrix(x, "x")
    targets, _ = as_numpy(y, "y")
    if len(targets) != len(inputs):
        raise ShapeError(f"y: expected {len(inputs)} targets, one for each sample, found {len(targets)}")
    if targets.dtype.kind in "iubUSO" and targets.ndim == 1:
        classes, codes = np.unique(targets, return_inverse=True)
        return inputs, codes.astype(np.uint32), None, classes
    values = prepared(targets.reshape((len(targets), -1)), "y").astype(inputs.dtype, copy=False)
    return inputs, None, values, None


def _warn(x: Any, inputs: Array, labels: Array | None, values: Array | None) -> None:
    """Warns of inputs that number the samples or equal the label, such as the index of a table."""
    names = getattr(x, "columns", None)
    names = [f"x[:, {place}]" for place in range(inputs.shape[1])] if names is None else [str(name) for name in names]
    if len(names) == inputs.shape[1]:
        for one in _fiedler.suspects(inputs, names, labels, values):
            warnings.warn(one, stacklevel=3)


def _path(path: Any, name: str = "path") -> str:
    place = _place(path, name)
    if not place.endswith(".safetensors"):
        raise ValueError(f"{name}: expected a file that ends in .safetensors, found {place!r}")
    return place


def _checkpoint(path: Any) -> str:
    """Returns the path of a checkpoint whose folder can be written to, before anything is trained."""
    place = _path(path, "checkpoint")
    folder = os.path.dirname(os.path.abspath(place))
    code = 0
    if not os.path.isdir(folder):
        code = errno.ENOTDIR if os.path.exists(folder) else errno.ENOENT
    elif not os.access(folder, os.W_OK):
        code = errno.EACCES
    if code:
        raise OSError(code, f"cannot write: {os.strerror(code)}", place)
    return place


def _shares(split: Any) -> list[float]:
    shares = reals(split, "split")
    if len(shares) != 3:
        raise ValueError(f"split: expected shares of training, validation and test samples, found {split}")
    return shares


def _settings(hidden: Any, loss: Any, **words: Any) -> dict[str, Any]:
    """Returns the settings of the model, whose words are texts."""
    text_or_none(loss, "loss")
    return {"hidden": wholes(hidden, "hidden"), **{name: text(word, name) for name, word in words.items()}}


def _metric(runs: list[dict[str, Any]], name: str) -> Array:
    """Returns a metric of every run; NaN where a run has none."""
    known = sorted({key for run in runs for key, value in run.items() if "." in key and np.ndim(value) == 0})
    if text(name, "name") not in known:
        raise ValueError(f"name: expected one of {', '.join(known)}, found {name!r}")
    return np.array([run.get(name, np.nan) for run in runs])


def _json(settings: Mapping[str, Any]) -> str:
    """Returns settings as JSON, with the numbers of NumPy among them."""

    def plain(value: Any) -> Any:
        if isinstance(value, (np.generic, np.ndarray)):
            return value.tolist()
        raise TypeError(f"expected numbers, words and lists as settings, found {type(value).__name__}")

    try:
        return json.dumps(settings, default=plain, allow_nan=False)
    except ValueError:
        raise DomainError(f"expected finite numbers as settings, found {settings}") from None


class Fit:
    """Finished runs.

    Attributes
    ----------
    runs : list of dict
        For each run its ``seed``, ``hyper`` (its hyperparameters), ``status``, whether it is ``good``, ``epochs``,
        ``best_epoch``, ``seconds``, its metrics such as ``test.accuracy``, ``test.confusion`` (label, class), and
        ``history``, with an array for each curve.
    classes : array or None
        The values of the labels, whose places are the classes.
    best_run : int
        The run that is the best on validation samples. Its results are better than those of a run at large.
    why : str
        Where it was trained, and why.
    notes : list of str
        What was made to fit a small data set: the default batch, and the default split.
    """

    def __init__(self, native: Any, classes: Array | None) -> None:
        self._native = native
        self.classes = classes
        self.notes: list[str] = native.notes
        self.runs: list[dict[str, Any]] = native.runs()
        self.best_run: int = native.best_run
        self.why: str = native.why

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_native": self._kept()}

    def _kept(self) -> _Kept:
        """Returns what stands for the native half in a pickled training."""
        if isinstance(self._native, _Kept):
            return self._native
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "all.safetensors")
            self.save(place)
            with open(place, "rb") as file:
                return _Kept([self.weights(run) for run in range(len(self))], file.read())

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        good = sum(run["good"] for run in self.runs)
        return f"fiedler.train.Fit of {many(len(self), 'run')}, {good} of which ended well"

    def metric(self, name: str) -> Array:
        """Returns a metric, such as 'test.accuracy' or 'validation.loss', of every run; NaN where a run has none."""
        return _metric(self.runs, name)

    def weights(self, run: int | None = None) -> dict[str, Array]:
        """Returns the parameters of a run, by default the best one, by the names of a module of torch."""
        return dict(self._native.weights(self.best_run if run is None else whole(run, "run")))

    def predict(
        self, x: Any, *, runs: str | Sequence[int] = "good", device: str | None = None, context: Context | None = None
    ) -> Array:
        """Returns the mean of what runs predict, as `Model.predict` does: the probability of each of ``classes``, or the
        values; (samples, columns)."""
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "all.safetensors")
            self.save(place)
            return Model(place).predict(x, runs=runs, device=device, context=context)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the parameters of all runs to a .safetensors file, which `Model` and ``fiedler predict`` read."""
        classes = [] if self.classes is None else [str(label) for label in self.classes]
        self._native.save(_path(path), classes)

    def export(self, path: str | os.PathLike[str], run: int | None = None) -> None:
        """Writes the parameters of one run as ``load_state_dict`` of torch takes them."""
        self._native.export(_path(path), self.best_run if run is None else whole(run, "run"))


class _Kept:
    """What a pickled training keeps of its native half: the parameters of each run, and the file with all of them."""

    def __init__(self, runs: list[dict[str, Array]], saved: bytes) -> None:
        self._runs, self._saved = runs, saved

    def weights(self, run: int) -> dict[str, Array]:
        if run >= len(self._runs):
            raise DomainError(f"train: expected a run below {len(self._runs)}, found {run}")
        return {name: array.copy() for name, array in self._runs[run].items()}

    def save(self, path: str, classes: list[str]) -> None:
        whole_file(path, lambda file: file.write(self._saved))

    def export(self, path: str, run: int) -> None:
        _fiedler.write_tensors(path, list(self.weights(run).items()))


class Trainer:
    """Settings that all runs of a training share.

    Parameters
    ----------
    hidden : sequence of int
        The widths of the hidden layers; none for a linear model.
    activation : {'relu', 'leaky', 'gelu', 'tanh', 'sigmoid'}
    norm : {'none', 'batch', 'layer'}
    dropout : float
    optimizer : str or mapping
        'sgd', 'nesterov', 'adam', 'adamw', or a mapping with ``kind``, ``lr`` and others.
    loss : {'ce', 'bce', 'bounded', 'mse', 'tangent', 'savage'}, optional
        By default cross entropy for labels, and mean squares for values.
    split : (float, float, float)
        The shares of training, validation and test samples.
    split_seed : int, optional
        One division for all runs; by default each seed divides the samples its own way.
    **train
        Other keys of an experiment's table ``train``: ``batch``, ``epochs``, ``schedule``, ``warm_up``, ``init``,
        ``scale`` ('none', 'standard'), ``l1``, ``clip``, ``precision``, ``label_smoothing``, ``stop`` (a mapping with
        ``on`` and ``patience``).
    """

    def __init__(
        self,
        hidden: Sequence[int] = (),
        *,
        activation: str = "relu",
        norm: str = "none",
        dropout: float = 0.0,
        optimizer: str | Mapping[str, Any] = "adam",
        loss: str | None = None,
        split: tuple[float, float, float] = (0.7, 0.1, 0.2),
        split_seed: int | None = None,
        **train: Any,
    ) -> None:
        if not isinstance(optimizer, (str, Mapping)):
            raise wrong("optimizer", "a text or a mapping with a kind", optimizer)
        table = {"kind": optimizer} if isinstance(optimizer, str) else dict(optimizer)
        model = {**_settings(hidden, loss, activation=activation, norm=norm), "dropout": real(dropout, "dropout")}
        self._settings: dict[str, Any] = {"model": model, "train": {**train, "optimizer": table}}
        self._loss, self._split = loss, _shares(split)
        self._split_seed = None if split_seed is None else whole(split_seed, "split_seed", 2**64 - 1)

    def __repr__(self) -> str:
        return f"fiedler.train.Trainer({json.dumps(self._settings)})"

    def fit(
        self,
        x: Any,
        y: Any,
        *,
        runs: int = 1,
        seed: int = 0,
        grid: Mapping[str, Sequence[float]] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        progress: bool | Callable[[int, int], object] | None = None,
        device: str | None = None,
        context: Context | None = None,
    ) -> Fit:
        """Trains all runs at once.

        Parameters
        ----------
        x : array, (samples, inputs)
        y : array, (samples,) or (samples, values)
            Labels, if they are integers, booleans or strings; otherwise values.
        runs : int
            The number of seeds: ``seed``, ``seed + 1``, and so on.
        grid : mapping, optional
            Hyperparameters such as ``lr`` or ``weight_decay`` with their values: every seed is trained with every
            combination.
        checkpoint : path, optional
            A .safetensors file, saved every ``checkpoint_every`` seconds. If it exists, the training goes on from it.
        progress : bool or callable, optional
            True shows a bar of tqdm where it is installed; a callable is given the number of runs that have ended, and
            of all runs, on this thread.
        """
        place = None if checkpoint is None else _checkpoint(checkpoint)
        inputs, labels, values, classes = _samples(x, y)
        _warn(x, inputs, labels, values)
        loss = self._loss or ("mse" if labels is None else "ce")
        settings = {**self._settings, "train": {**self._settings["train"], "loss": loss}}
        if grid is not None and not isinstance(grid, Mapping):
            raise wrong("grid", "a mapping from hyperparameters to their values", grid)
        axes = [(text(name, "grid"), reals(listed, f"grid: {name}")) for name, listed in (grid or {}).items()]
        options = {
            "settings": _json(settings),
            "grid": axes,
            "seed": whole(seed, "seed", 2**64 - 1),
            "runs": whole(runs, "runs"),
            "shares": self._split,
            "split_seed": self._split_seed,
            "classes": 0 if classes is None else len(classes),
            "checkpoint": place,
            "every": seconds(checkpoint_every, "checkpoint_every"),
        }
        tell, close = _bar(progress, runs * math.prod(len(listed) for _, listed in axes), "run")
        try:
            native = _fiedler.fit(_context(context, device), inputs, labels, values, options, tell)
        finally:
            close()
        return Fit(native, classes)


class Model:
    """Trained networks that `Fit.save` or ``fiedler train`` stored.

    Parameters
    ----------
    path : path
        A .safetensors file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._place = _place(path)
        self._native = _fiedler.Predictor.open(self._place)

    def __reduce__(self) -> tuple[Any, ...]:
        return Model, (self._place,)

    def __len__(self) -> int:
        return len(self._native)

    @property
    def classes(self) -> list[str]:
        """The names of the classes; none if the targets are values."""
        return list(self._native.classes)

    def predict(
        self, x: Any, *, runs: str | Sequence[int] = "good", device: str | None = None, context: Context | None = None
    ) -> Array:
        """Returns the mean of what runs predict: the probability of each class, or the values; (samples, columns).

        Parameters
        ----------
        runs : {'good', 'best'} or sequence of int
            All runs that ended well, the best one on validation samples, or some.
        """
        good, best = self._native.good
        if isinstance(runs, str) and runs not in ("good", "best"):
            raise ValueError(f"runs: expected 'good', 'best' or numbers of runs, found {runs!r}")
        chosen = {"good": good, "best": [best]}[runs] if isinstance(runs, str) else wholes(runs, "runs")
        inputs = _matrix(x, "x").astype(np.float32, copy=False)
        return self._native.predict(_context(context, device), inputs, chosen)


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
    """

    def __init__(self, native: Any, classes: Array | None) -> None:
        self._native = native
        self.classes = classes
        self.betas: Array = np.array(native.betas)
        self.runs: list[dict[str, Any]] = native.runs()
        for place, run in enumerate(self.runs):
            run["beta"] = float(self.betas[place % len(self.betas)])

    def __repr__(self) -> str:
        return f"fiedler.train.Chains: {len(self.runs)} at {len(self.betas)} temperatures"

    def metric(self, name: str) -> Array:
        """Returns a metric such as 'test.loss' of every chain, (seeds, temperatures)."""
        values = _metric(self.runs, name)
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
    >>> sampler = train.Sgld(loss="bounded", betas=[0, 10, 100], epochs=5, rates=0.01, chains=3, batch=80, scale="none")
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
        model = _settings(hidden, loss, activation=activation)
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
            "shares": _shares(split),
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
        inputs, labels, values, classes = _samples(x, y)
        loss = self._loss or ("mse" if labels is None else "ce")
        settings = {**self._settings, "train": {**self._settings["train"], "loss": loss}}
        options = {
            **self._options,
            "settings": _json(settings),
            "seed": whole(seed, "seed", 2**64 - 1),
            "classes": 0 if classes is None else len(classes),
        }
        tell, close = _bar(progress, self._chains, "chain")
        try:
            native = _fiedler.sample(_context(context, device), inputs, labels, values, options, tell)
        finally:
            close()
        return Chains(native, classes)
