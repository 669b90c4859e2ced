"""What trainings and samplings share: their data, and their settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from . import _fiedler
from ._arguments import reals, text, text_or_none, wholes
from ._arrays import as_numpy, count, prepared
from ._errors import DomainError, ShapeError, warn
from ._tables import check_numbers, inputs_of, is_missing

Array = np.ndarray[Any, Any]


class Samples(NamedTuple):
    """Inputs and targets."""

    inputs: Array
    """(samples, inputs)"""
    labels: Array | None
    """(samples,): the places of the labels among the classes, if the targets are labels."""
    values: Array | None
    """(samples, values), if they are values."""
    classes: Array | None
    names: list[str] | None
    """The names of the inputs of a table."""
    notes: list[str]
    """What has become of the arrays."""


def matrix_of(x: Any) -> tuple[Array, tuple[int, ...]]:
    """Returns inputs as (samples, inputs), and the axes of a sample, which become a row of numbers."""
    array = prepared(as_numpy(x, "x")[0], "x")
    if array.ndim < 2:
        raise ShapeError(f"x: expected (samples, inputs), found the shape {array.shape}")
    axes = array.shape[1:]
    return array.reshape((len(array), count(axes))), axes


def _classes_of(labels: Array) -> tuple[Array, Array]:
    """Returns the classes, and the places of the labels among them, of which none may be missing."""
    if labels.dtype.kind == "O":
        for row, label in enumerate(labels):
            if is_missing(label):
                raise DomainError(f"y: expected a label, found {label}, of sample {row}")
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels})
        raise DomainError(f"y: expected labels of one type, found {' and '.join(kinds)}") from None
    found = _fiedler.no_label([str(label) for label in classes]) if labels.dtype.kind in "USO" else None
    if found is not None:
        row = np.flatnonzero(codes == found[0])[0]
        raise DomainError(f"y: expected a label, found {found[1]}, of sample {row}")
    if len(classes) < 2:
        raise DomainError(f"y: expected at least two classes, found {f'only {classes[0]}' if len(classes) else 'none'}")
    return classes, codes.astype(np.uint32)


def samples_of(x: Any, y: Any, train: Mapping[str, Any], loss: str | None) -> Samples:
    """Returns the samples of a training in its precision, and warns of suspicious inputs. Integers are values if the
    loss is of values, and otherwise labels."""
    x, names, notes = inputs_of(x)
    if names is not None:
        check_numbers(x, names)
    inputs, axes = matrix_of(x)
    if "precision" in train:
        inputs = inputs.astype(np.float64 if train["precision"] == "f64" else np.float32, copy=False)
    targets, _ = as_numpy(y, "y")
    if targets.shape[:1] != (len(inputs),):
        found = len(targets) if targets.ndim else "a number"
        raise ShapeError(f"y: expected {len(inputs)} targets, one for each sample, found {found}")
    labels = values = classes = None
    if targets.dtype.kind in ("USO" if loss == "mse" else "iubUSO") and targets.shape[1:] in ((), (1,)):
        classes, labels = _classes_of(targets.ravel())
    else:
        values = prepared(targets.reshape((len(targets), count(targets.shape[1:]))), "y")
        values = values.astype(inputs.dtype, copy=False)
    if len(axes) > 1:
        notes.append(f"samples of {' x '.join(map(str, axes))} as rows of numbers")
    if labels is None and targets.dtype.kind in "iub" and loss != "mse":
        notes.append(f"rows of {count(targets.shape[1:])} integers as values, not as labels")
    # The names of the columns, or the places of inputs as NumPy takes them.
    shown = names or [f"x[:, {', '.join(map(str, place))}]" for place in np.ndindex(*axes)]
    # Others are an error of the training.
    if np.isfinite(inputs).all():
        named = None if labels is None or classes is None else (labels, [str(one) for one in classes])
        for one in _fiedler.suspects(inputs, shown, named, values, len(axes) > 1):
            warn(one)
    return Samples(inputs, labels, values, classes, names, notes)


def loss_of(settings: Mapping[str, Any], loss: str | None, samples: Samples) -> dict[str, Any]:
    """Returns settings with the loss, which by default is that of labels or of values."""
    return {**settings, "train": {**settings["train"], "loss": loss or ("mse" if samples.labels is None else "ce")}}


def shares_of(split: Any) -> list[float]:
    """Returns the shares of the parts."""
    shares = reals(split, "split")
    if len(shares) != 3:
        raise ValueError(f"split: expected shares of training, validation and test samples, found {split}")
    return shares


def model_of(hidden: Any, loss: Any, **words: Any) -> dict[str, Any]:
    """Returns the settings of the model, whose words are texts."""
    text_or_none(loss, "loss")
    return {"hidden": wholes(hidden, "hidden"), **{name: text(word, name) for name, word in words.items()}}


def metric_of(runs: list[dict[str, Any]], name: str) -> Array:
    """Returns a metric of every run; NaN where a run has none."""
    known = sorted({key for run in runs for key, value in run.items() if "." in key and np.ndim(value) == 0})
    if text(name, "name") not in known:
        raise ValueError(f"name: expected one of {', '.join(known)}, found {name!r}")
    return np.array([run.get(name, np.nan) for run in runs])


def as_json(settings: Mapping[str, Any]) -> str:
    """Returns settings as JSON, with the numbers of NumPy among them."""

    def plain(value: Any) -> Any:
        if isinstance(value, (np.generic, np.ndarray)):
            return value.tolist()
        raise TypeError(f"expected numbers, words and lists as settings, found {type(value).__name__}")

    try:
        return json.dumps(settings, default=plain, allow_nan=False)
    except ValueError:
        raise DomainError(f"expected finite numbers as settings, found {settings}") from None
