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
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _fiedler
from ._arguments import many, path as _place, real, reals, seconds, text, whole, wholes, wrong
from ._chains import Bound, Chains, Sgld
from ._context import Context, _context
from ._encode import _bar
from ._errors import DomainError
from ._files import whole_file
from ._tables import known_inputs
from ._training import Array, Samples, as_json, loss_of, matrix_of, metric_of, model_of, samples_of, shares_of

__all__ = ["Bound", "Chains", "Fit", "Model", "Sgld", "Trainer"]


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
    inputs : list of str or None
        The names of the inputs, if they were the columns of a table.
    best_run : int
        The run that is the best on validation samples. Its results are better than those of a run at large.
    why : str
        Where it was trained, and why.
    notes : list of str
        What was made to fit a small data set: the default batch, and the default split; and what has become of images.
    """

    def __init__(self, native: Any, samples: Samples) -> None:
        self._native = native
        self.classes = samples.classes
        self.inputs = samples.names
        self.notes: list[str] = samples.notes + native.notes
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
        return metric_of(self.runs, name)

    def weights(self, run: int | None = None) -> dict[str, Array]:
        """Returns the parameters of a run, by default the best one, by the names of a module of torch."""
        return dict(self._native.weights(self.best_run if run is None else whole(run, "run")))

    def predict(
        self, x: Any, *, runs: str | Sequence[int] = "good", device: str | None = None, context: Context | None = None
    ) -> Array:
        """Returns the mean of what runs predict, as `Model.predict` does: the probability of each of ``classes``, or
        the values; (samples, columns).

        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> fit = Trainer(hidden=[8], optimizer={"kind": "adam", "lr": 0.05}, epochs=30).fit(x, x[:, 0] > 0, runs=2)
        >>> fit.classes[fit.predict([[3.0, 0.0], [-3.0, 0.0]]).argmax(axis=1)]
        array([ True, False])
        """
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "all.safetensors")
            self.save(place)
            return Model(place).predict(x, runs=runs, device=device, context=context)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the parameters of all runs to a .safetensors file, which `Model` and ``fiedler predict`` read."""
        classes = [] if self.classes is None else [str(label) for label in self.classes]
        self._native.save(_path(path), classes, self.inputs or [])

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

    def save(self, path: str, classes: list[str], inputs: list[str]) -> None:
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
        ``scale`` ('none', 'standard'), ``l1``, ``clip``, ``precision``, ``label_smoothing``, ``stop`` (a metric
        such as 'validation.loss', or a mapping with it as ``on`` and ``patience``).
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
        if isinstance(train.get("stop"), str):
            train["stop"] = {"on": train["stop"]}
        table = {"kind": optimizer} if isinstance(optimizer, str) else dict(optimizer)
        model = {**model_of(hidden, loss, activation=activation, norm=norm), "dropout": real(dropout, "dropout")}
        self._settings: dict[str, Any] = {"model": model, "train": {**train, "optimizer": table}}
        self._loss, self._split = loss, shares_of(split)
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
        x : array, (samples, inputs), or a table of pandas, polars or pyarrow
            The names of the columns of a table are kept; predictions from a table need the same. An index of pandas and
            ids are left out, as in a file. The axes of images, (samples, rows, columns) or with channels, become one.
        y : array, (samples,) or (samples, values)
            Labels, if they are one integer, boolean or string for each sample; otherwise, and where integers have the
            loss 'mse', values.
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
        samples = samples_of(x, y, self._settings["train"], self._loss)
        if grid is not None and not isinstance(grid, Mapping):
            raise wrong("grid", "a mapping from hyperparameters to their values", grid)
        axes = [(text(name, "grid"), reals(listed, f"grid: {name}")) for name, listed in (grid or {}).items()]
        options = {
            "settings": as_json(loss_of(self._settings, self._loss, samples)),
            "grid": axes,
            "seed": whole(seed, "seed", 2**64 - 1),
            "runs": whole(runs, "runs"),
            "shares": self._split,
            "split_seed": self._split_seed,
            "classes": 0 if samples.classes is None else len(samples.classes),
            "checkpoint": place,
            "every": seconds(checkpoint_every, "checkpoint_every"),
        }
        tell, close = _bar(progress, runs * math.prod(len(listed) for _, listed in axes), "run")
        try:
            native = _fiedler.fit(
                _context(context, device), samples.inputs, samples.labels, samples.values, options, tell
            )
        finally:
            close()
        return Fit(native, samples)


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

    @property
    def inputs(self) -> list[str]:
        """The names of the inputs; none if they had none."""
        return [name or "Unnamed: 0" for name in self._native.inputs]

    def predict(
        self, x: Any, *, runs: str | Sequence[int] = "good", device: str | None = None, context: Context | None = None
    ) -> Array:
        """Returns the mean of what runs predict: the probability of each class, or the values; (samples, columns).

        Parameters
        ----------
        x : array, (samples, inputs), or a table of pandas, polars or pyarrow
            A table has the inputs of the model under their names, if they have some, and in their order. Other columns
            are left out, with a warning.
        runs : {'good', 'best'} or sequence of int
            All runs that ended well, the best one on validation samples, or some.
        """
        good, best = self._native.good
        if isinstance(runs, str) and runs not in ("good", "best"):
            raise ValueError(f"runs: expected 'good', 'best' or numbers of runs, found {runs!r}")
        chosen = {"good": good, "best": [best]}[runs] if isinstance(runs, str) else wholes(runs, "runs")
        inputs, _ = matrix_of(known_inputs(x, self.inputs))
        inputs = inputs.astype(np.float64 if self._native.wide else np.float32, copy=False)
        return self._native.predict(_context(context, device), inputs, chosen)
