"""The estimators of `fiedler.sklearn` that train networks."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from types import FunctionType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from . import _fiedler
from ._arguments import real, whole
from ._errors import DomainError, warn
from .train import Fit, Trainer

Array = Any

_ACTIVATIONS = {"relu": "relu", "tanh": "tanh", "logistic": "sigmoid"}

# The range of each number, as mathematics writes it.
_RANGES = {
    "alpha": ("[", 0.0, math.inf),
    "learning_rate_init": ("(", 0.0, math.inf),
    "momentum": ("[", 0.0, 1.0),
    "beta_1": ("[", 0.0, 1.0),
    "beta_2": ("[", 0.0, 1.0),
    "epsilon": ("(", 0.0, math.inf),
}


def _warn_of_numbers(X: Array, names: Sequence[str] | None) -> None:
    """Warns of inputs that number the samples. What else is suspicious is for the caller of scikit-learn to know."""
    shown = [f"x[:, {place}]" for place in range(X.shape[1])] if names is None else list(names)
    found = _fiedler.no_inputs(shown, lambda place: [str(number) for number in X[:, place]])
    index = [shown[place] for place, _ in found]
    for name in index:
        warn(f"the input `{name}` numbers the samples; leave out what is no input")
    others = [place for place, name in enumerate(shown) if name not in index]
    own = np.ascontiguousarray(X[:, others])
    for one in _fiedler.suspects(own, [shown[place] for place in others], None, None, False):
        if " numbers the samples; " in one:
            warn(one)


class _Networks(BaseEstimator):
    """What the classifier and the regressor share."""

    # The factor of the loss to scikit-learn's.
    _factor = 1.0

    def __init_subclass__(cls, **words: Any) -> None:
        super().__init_subclass__(**words)
        if "__init__" not in vars(cls):
            # The same function, but Python's error of an unknown parameter names the class.
            init = cls.__init__
            own = FunctionType(init.__code__, init.__globals__, init.__name__, init.__defaults__, init.__closure__)
            own.__kwdefaults__, own.__annotations__ = init.__kwdefaults__, init.__annotations__
            own.__qualname__ = f"{cls.__qualname__}.__init__"
            setattr(cls, "__init__", own)

    def __init__(
        self,
        hidden_layer_sizes: int | Sequence[int] = (100,),
        activation: str = "relu",
        *,
        solver: str = "adam",
        alpha: float = 0.0001,
        batch_size: int | str = "auto",
        learning_rate_init: float = 0.001,
        max_iter: int = 200,
        random_state: Any = None,
        verbose: bool = False,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        n_iter_no_change: int = 10,
        n_runs: int = 1,
        device: str | None = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.n_iter_no_change = n_iter_no_change
        self.n_runs = n_runs
        self.device = device

    def _check(self) -> None:
        """Checks the parameters under the names that they have here."""
        if self.activation not in _ACTIVATIONS:
            raise ValueError(f"activation: expected one of {sorted(_ACTIVATIONS)}, found {self.activation!r}")
        if self.solver not in ("adam", "sgd"):
            raise ValueError(f"solver: expected 'adam' or 'sgd', found {self.solver!r}")
        if isinstance(self.batch_size, str):
            if self.batch_size != "auto":
                raise ValueError(f"batch_size: expected 'auto' or a whole number, found {self.batch_size!r}")
        else:
            whole(self.batch_size, "batch_size", least=1)
        for name in ("max_iter", "n_iter_no_change", "n_runs"):
            whole(getattr(self, name), name, least=1)
        for name, (left, least, most) in _RANGES.items():
            number = real(getattr(self, name), name)
            if not (least <= number < most and (number > least or left == "[")):
                raise DomainError(f"{name}: expected a number in {left}{least:g}, {most:g}), found {number}")
        held = self.validation_fraction
        if self.early_stopping and not 0 < held < 1:
            raise ValueError(f"validation_fraction: expected a number between 0 and 1, found {held!r}")

    def _train(self, X: Array, y: Array) -> None:
        self._check()
        samples, held = len(X), 0
        if self.early_stopping:
            if samples < 2:
                raise ValueError(f"early_stopping: expected at least 2 samples, found {samples} sample")
            held = min(math.ceil(self.validation_fraction * samples), samples - 1)
        batch = min(200 if isinstance(self.batch_size, str) else self.batch_size, samples - held)
        optimizer: dict[str, Any] = {"lr": self.learning_rate_init, "weight_decay": self._factor * self.alpha / batch}
        if self.solver == "adam":
            optimizer |= {"kind": "adam", "beta1": self.beta_1, "beta2": self.beta_2, "eps": self.epsilon}
        else:
            nesterov = self.nesterovs_momentum and self.momentum > 0
            optimizer |= {"kind": "nesterov" if nesterov else "sgd", "momentum": self.momentum}
        stop: dict[str, Any] = {}
        if self.early_stopping:
            stop["stop"] = {"on": "validation.loss", "patience": self.n_iter_no_change}
        hidden = self.hidden_layer_sizes
        widths = [hidden] if isinstance(hidden, (int, np.integer)) else hidden
        trainer = Trainer(
            [whole(width, "hidden_layer_sizes", least=1) for width in widths],
            activation=_ACTIVATIONS[self.activation],
            optimizer=optimizer,
            split=(1 - held / samples, held / samples, 0.0),
            epochs=self.max_iter,
            batch=batch,
            scale="none",
            **stop,
        )
        _warn_of_numbers(X, getattr(self, "feature_names_in_", None))
        seed = 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31))
        with warnings.catch_warnings():
            # What is suspicious was told, by the names that scikit-learn knows.
            warnings.filterwarnings("ignore", message="(the input|each of the inputs) ")
            self.fit_: Fit = trainer.fit(
                X, y, runs=self.n_runs, seed=seed, progress=bool(self.verbose) or None, device=self.device
            )
        if not any(run["good"] for run in self.fit_.runs):
            raise DomainError("fit: every run diverged; expected a smaller learning_rate_init or scaled samples")
        best = self.fit_.runs[self.fit_.best_run]
        self.loss_curve_ = list(best["history"]["train.loss"])
        self.loss_ = self.loss_curve_[-1]
        self.n_iter_ = int(best["epochs"])

    def _mean(self, X: Array) -> Array:
        """Returns the mean of what the runs that ended well predict."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float32, order="C", reset=False)
        return self.fit_.predict(X, device=self.device)


class MLPClassifier(ClassifierMixin, _Networks):
    """Networks that classify, with the parameters that they share with ``sklearn.neural_network.MLPClassifier``.

    Samples are not scaled, and the arithmetic is in single precision. Without ``early_stopping``, all ``max_iter``
    epochs are trained, so that there is no ``tol``; with it, the validation loss decides. ``alpha`` also applies to the
    biases, and the initial weights are those of torch. There are no ``sample_weight``.

    Parameters
    ----------
    activation : {'relu', 'tanh', 'logistic'}
    solver : {'adam', 'sgd'}
    batch_size : int or 'auto'
        At most the number of training samples; 'auto' is 200.
    random_state : int, RandomState or None
        None is the seed 0.
    n_runs : int
        The number of networks, each with its own seed. Predictions are the means over those that did not diverge.
    device : {'auto', 'gpu', 'cpu'}, optional

    Attributes
    ----------
    fit_ : fiedler.train.Fit
    classes_, loss_curve_, loss_, n_iter_, n_outputs_, n_features_in_, feature_names_in_
        As in scikit-learn; the curve and the number of epochs are those of the best run.
    """

    def fit(self, X: Array, y: Array) -> MLPClassifier:
        """Trains on the samples X and their labels y."""
        X, y = validate_data(self, X, y, dtype=np.float32, order="C")
        check_classification_targets(y)
        self.classes_, codes = np.unique(column_or_1d(y, warn=True), return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y: expected at least 2 classes, found {len(self.classes_)} class")
        self.n_outputs_ = 1 if len(self.classes_) == 2 else len(self.classes_)
        self._train(X, codes)
        return self

    def predict_proba(self, X: Array) -> Array:
        """Returns the probability of each class, (samples, classes). The sum of those of a sample is 1 in float64."""
        shares = self._mean(X)
        return shares / shares.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X: Array) -> Array:
        """Returns the logarithms of the probabilities, (samples, classes)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Array) -> Array:
        """Returns the most probable labels."""
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]


class MLPRegressor(RegressorMixin, _Networks):
    """Networks that predict values, with the parameters that they share with ``sklearn.neural_network.MLPRegressor``.

    Parameters and attributes are those of `MLPClassifier`. The loss is the mean of the squares, without scikit-learn's
    factor 1/2, so with ``solver='sgd'`` half its ``learning_rate_init`` makes the same steps.
    """

    _factor = 2.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Array, y: Array) -> MLPRegressor:
        """Trains on the samples X and their values y, (samples,) or (samples, values)."""
        X, y = validate_data(self, X, y, dtype=np.float32, order="C", multi_output=True, y_numeric=True)
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        self._flat = y.ndim == 1
        self.n_outputs_ = 1 if self._flat else y.shape[1]
        self._train(X, y.astype(np.float32))
        return self

    def predict(self, X: Array) -> Array:
        """Returns the values, in the shape of those that were learned."""
        values = self._mean(X)
        return values.ravel() if self._flat else values
