#!/usr/bin/env python3
"""Writes scores.txt: what scikit-learn 1.9 computes of predictions, for src/ops/mlp/scores.rs.

    python3 scores.py > scores.txt

`classes LABELS / PROBABILITIES OF 1 = AUC LOG_LOSS`, and `values OUTPUTS / TARGETS / PREDICTIONS = R2 RMSE MAE`.
"""
import warnings

import numpy as np
from sklearn.metrics import log_loss, mean_absolute_error, r2_score, roc_auc_score, root_mean_squared_error

warnings.simplefilter("ignore")
rng = np.random.default_rng(5)


def row(values):
    return " ".join(repr(float(value)) for value in np.ravel(values))


tied = rng.integers(0, 6, 60) / 5
CLASSES = {
    "apart": ([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]),
    "tied": (rng.integers(0, 2, 60), tied),
    "all tied": ([0, 1, 1, 0, 1], [0.5] * 5),
    "one class": ([1, 1, 1], [0.2, 0.7, 0.9]),
    "certain": ([0, 1, 1], [0.0, 1.0, 0.0]),
    "many": (rng.integers(0, 2, 200), rng.random(200)),
}
for labels, p in CLASSES.values():
    area = roc_auc_score(labels, p)
    print("classes", row(labels), "/", row(p), "=", row([area, log_loss(labels, p, labels=[0, 1])]))

targets = rng.normal(size=(50, 3)) * [1, 10, 0.01] + [0, 1e4, -3]
VALUES = [
    ([3, -0.5, 2, 7], [2.5, 0.0, 2, 8]),
    ([0.5, 0.5, 0.5], [0.5, 0.5, 0.5]),
    ([0.5, 0.5, 0.5], [0.5, 0.2, 0.5]),
    ([1.5], [1.0]),
    (targets, targets + rng.normal(size=(50, 3))),
    ([[1, 5], [2, 5], [4, 5]], [[1, 5], [2.5, 5], [3, 4]]),
]
for t, p in VALUES:
    t, p = np.array(t, float), np.array(p, float)
    outputs = t.shape[1] if t.ndim == 2 else 1
    found = [r2_score(t, p), root_mean_squared_error(t, p), mean_absolute_error(t, p)]
    print("values", outputs, "/", row(t), "/", row(p), "=", row(found))
