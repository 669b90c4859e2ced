#!/usr/bin/env python3
"""What torch reaches where `fiedler experiment run examples/verify.toml` compares with it.

    fiedler generate digits --samples 1797 --seed 1 -o digits.csv
    python3 verify_torch.py digits.csv > accuracies.txt            # the file of src/experiment/verify
    python3 verify_torch.py digits.csv --seeds 50 --epochs 30      # the defaults

A table of images with the label in the last column, with or without a header. For each seed, the samples are divided
into 5 folds by the seed; a 64-32-10 network with torch's own initial parameters is trained by Adam at 1e-3 with batches
of 32 on the other folds, and tested on the fold. A line is the mean accuracy over the folds of a seed.

The file losses.txt beside it are the 200 losses of `run digits` in f32 and f64 of tests/host/golden/training.py.
"""
import argparse

import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)


def read(path):
    rows = [line.strip().split(",") for line in open(path)]
    if not rows[0][0].replace(".", "").isdigit():
        rows = rows[1:]
    table = np.array(rows, dtype=np.float64)
    return torch.tensor(table[:, :-1] / 16, dtype=torch.float32), torch.tensor(table[:, -1], dtype=torch.long)


def accuracy(x, y, train, test, epochs):
    net = nn.Sequential(nn.Linear(x.shape[1], 32), nn.ReLU(), nn.Linear(32, 10))
    adam, loss = torch.optim.Adam(net.parameters(), lr=1e-3), nn.CrossEntropyLoss()
    for _ in range(epochs):
        order = train[torch.randperm(len(train))]
        for rows in order.split(32):
            adam.zero_grad()
            loss(net(x[rows]), y[rows]).backward()
            adam.step()
    with torch.no_grad():
        return (net(x[test]).argmax(1) == y[test]).float().mean().item()


def seed_accuracy(arguments):
    path, seed, folds, epochs = arguments
    x, y = read(path)
    torch.manual_seed(seed)
    order, n = torch.randperm(len(x)), len(x)
    found = []
    for fold in range(folds):
        test = order[fold * n // folds : (fold + 1) * n // folds]
        train = torch.cat([order[: fold * n // folds], order[(fold + 1) * n // folds :]])
        found.append(accuracy(x, y, train, test, epochs))
    return sum(found) / folds


if __name__ == "__main__":
    import multiprocessing

    parser = argparse.ArgumentParser()
    parser.add_argument("table")
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    calls = [(options.table, 1000 + seed, options.folds, options.epochs) for seed in range(options.seeds)]
    with multiprocessing.Pool(options.processes) as pool:
        for value in pool.imap(seed_accuracy, calls):
            print(f"{value:.6f}", flush=True)
