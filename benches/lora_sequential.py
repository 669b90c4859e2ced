#!/usr/bin/env python3
"""The experiment of examples/lora.toml one step after another, with torch and numpy, for comparison of the times.

    fiedler generate vectors --samples 1000 -o vectors.npz
    python3 lora_sequential.py vectors.npz                      # a part of it, and what all of it would take
    python3 lora_sequential.py vectors.npz --report lora/report.json

Features: for each of the eight representations and both choices of layers, every layer is read and its columns are
computed; singular values, Fourier transforms and histograms a sample at a time, as is usual, everything else for all
samples of a layer at once. Training: one network after another, a D-512-512-512-10 perceptron with batch normalization
and dropout, Adam, batches of 256. `--samples` and `--epochs` say which part is measured; features grow linearly with
the samples, and training with the steps. The number of epochs of each configuration is that of the report of
`fiedler experiment run examples/lora.toml`, so both train equally long; without a report, 60.
"""
import argparse, json, os, time

import numpy as np
import torch
import torch.nn as nn

RANKS = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99]
QUANTILES = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95]


def moments(x):
    m, sd = x.mean(1, keepdim=True), x.std(1, keepdim=True)
    z = (x - m) / (sd + 1e-8)
    return m, sd, (z**3).mean(1, keepdim=True), (z**4).mean(1, keepdim=True)


def simple_stats(x, _):
    return torch.stack([x.norm(dim=1), x.mean(1), x.std(1), x.amax(1), x.amin(1)], 1)


def rank_based(x, _):
    q = torch.quantile(x, torch.tensor(RANKS), dim=1).T
    return torch.cat([q, q[:, 5:6] - q[:, 3:4], q[:, 8:] - q[:, :1]], 1)


def stats(x, _):
    m, sd, skew, kurt = moments(x)
    return torch.cat([m, sd, x.median(1, keepdim=True).values, x.amin(1, True), x.amax(1, True), skew, kurt], 1)


def spectral(x, shape):
    rows = []
    for sample in x:
        _, v, _ = torch.linalg.svd(sample.reshape(shape), full_matrices=False)
        s = torch.zeros(10)
        s[: len(v)] = v[:10]
        n = s / (s.sum() + 1e-8)
        gaps = (s[:-1] - s[1:]) / (s[:-1] + 1e-8)
        more = torch.stack([-(n * torch.log(n + 1e-8)).sum(), s[0] / (s[-1] + 1e-8), s.sum()])
        rows.append(torch.cat([s, n, gaps, more]))
    return torch.stack(rows)


def matrix_norms(x, shape):
    rows = []
    for sample in x:
        m = sample.reshape(shape)
        f, v, a = m.norm(), torch.linalg.svdvals(m), m.abs()
        rows.append(torch.stack([f, v.sum(), v[0], a.sum(0).max(), a.sum(1).max(), v.sum() / (f + 1e-8), v[0] / (f + 1e-8)]))
    return torch.stack(rows)


def distribution(x, _):
    q = torch.quantile(x, torch.tensor(QUANTILES), dim=1).T
    m, sd, skew, kurt = moments(x)
    return torch.cat([q, q[:, 4:5] - q[:, 2:3], (x - m).abs().mean(1, True), sd / (m.abs() + 1e-8), skew, kurt], 1)


def frequency(x, shape):
    rows = []
    for sample in x.numpy():
        a = np.abs(np.fft.fft2(sample.reshape(shape))).ravel()
        top = np.sort(a)[::-1][:10]
        rows.append(np.concatenate([top, [a.mean(), a.std(), a.max(), (top**2).sum() / ((a**2).sum() + 1e-8)]]))
    return torch.tensor(np.array(rows), dtype=torch.float32)


def info(x, _):
    rows = []
    for sample in x.numpy():
        p = np.histogram(sample, 50)[0] / len(sample)
        h = -(p * np.log(p + 1e-8)).sum()
        rows.append([h, h / np.log(50)])
    return torch.tensor(rows, dtype=torch.float32)


ALL = [simple_stats, rank_based, stats, spectral, matrix_norms, distribution, frequency, info]


def features(path, names, make, samples):
    """Returns the columns of some samples, and the seconds of reading all of them and of computing these."""
    reading, columns = 0.0, []
    began = time.perf_counter()
    with np.load(path) as file:
        for name in names:
            start = time.perf_counter()
            x = file[name].astype(np.float32)
            reading += time.perf_counter() - start
            x = x[:samples]
            columns.append(make(torch.from_numpy(x.reshape(len(x), -1).copy()), x.shape[1:]))
    return torch.cat(columns, 1), reading, time.perf_counter() - began - reading


def train(x, y, epochs):
    """Returns the seconds of an epoch of one network."""
    n = int(0.7 * len(x))
    x = (x - x[:n].mean(0)) / (x[:n].std(0) + 1e-8)
    layers, width = [], x.shape[1]
    for _ in range(3):
        layers += [nn.Linear(width, 512), nn.BatchNorm1d(512), nn.ReLU(), nn.Dropout(0.5)]
        width = 512
    net, loss = nn.Sequential(*layers, nn.Linear(512, 10)), nn.CrossEntropyLoss()
    adam = torch.optim.Adam(net.parameters(), lr=1e-3, weight_decay=1e-4)
    validation = slice(n, n + len(x) // 10)
    began = time.perf_counter()
    for _ in range(epochs):
        net.train()
        order = torch.randperm(n)
        for rows in order.split(256):
            adam.zero_grad()
            loss(net(x[rows]), y[rows]).backward()
            adam.step()
        net.eval()
        with torch.no_grad():
            net(x[validation]).argmax(1)
    return (time.perf_counter() - began) / epochs


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("vectors", help="an .npz file of `fiedler generate vectors`")
    parser.add_argument("--samples", type=int, default=50, help="samples of which features are computed")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--report", help="report.json of the experiment, for the numbers of epochs")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with np.load(options.vectors) as file:
        names = [name for name in file.files if name not in ("labels", "y", "label")]
        y = torch.tensor(file["labels"])
    epochs = {}
    if options.report:
        for cell in json.load(open(options.report))["configurations"]:
            epochs[cell["factors"]["features"], cell["factors"]["layers"]] = cell["epochs"]
    total = {"features": 0.0, "training": 0.0}
    for label, chosen in (("all", names), ("attn1", [name for name in names if "attn1" in name])):
        for make in ALL:
            x, reading, computing = features(options.vectors, chosen, make, options.samples)
            of_features = reading + computing * len(y) / options.samples
            # An epoch takes as long with any numbers of this width.
            wide = torch.randn(len(y), x.shape[1])
            steps = epochs.get((make.__name__, label), 60.0)
            of_training = train(wide, y, options.epochs) * steps * options.runs
            total["features"] += of_features
            total["training"] += of_training
            print(f"{make.__name__:14} {label:6} {x.shape[1]:6} columns: features {of_features:8.1f} s, "
                  f"{options.runs} runs of {steps:.0f} epochs {of_training:8.1f} s", flush=True)
    print(f"in all, extrapolated: features {total['features']:.0f} s, training {total['training']:.0f} s, "
          f"together {sum(total.values()):.0f} s, {options.threads} threads")
