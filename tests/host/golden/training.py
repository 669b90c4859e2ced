#!/usr/bin/env python3
"""Writes training.txt: what torch 2.15 computes in training, for src/ops/mlp/cpu/tests/golden.rs.

    python3 training.py > training.txt

Data and initial parameters come from a linear congruential generator, so that the file has results alone.
`step NAME PRECISION` has the parameters after the steps 1 to 10 and 1,000 of an optimizer on given gradients.
`run NAME PRECISION` has the losses of 200 steps of a network.
`gan PRECISION` has the losses of the generator and the discriminator of 100 steps of an adversarial pair.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)


class Lcg:
    """Numbers in [-1, 1) with 24 bits, from Knuth's generator modulo 2^32."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (1664525 * self.state + 1013904223) % 2**32
        return (self.state >> 8) / 2**23 - 1

    def fill(self, n):
        return [self.next() for _ in range(n)]


def optimizer(name, parameters):
    return {
        "sgd": lambda: torch.optim.SGD(parameters, lr=0.05),
        "decay": lambda: torch.optim.SGD(parameters, lr=0.05, weight_decay=0.01),
        "momentum": lambda: torch.optim.SGD(parameters, lr=0.05, momentum=0.9, dampening=0.1, weight_decay=0.01),
        "nesterov": lambda: torch.optim.SGD(parameters, lr=0.05, momentum=0.9, nesterov=True),
        "adam": lambda: torch.optim.Adam(parameters, lr=1e-3, weight_decay=0.01),
        "adamw": lambda: torch.optim.AdamW(parameters, lr=1e-3, weight_decay=0.01),
    }[name]()


def number(x):
    return repr(float(x.detach() if isinstance(x, torch.Tensor) else x))


def steps(name, dtype):
    numbers = Lcg(7)
    w = nn.Parameter(torch.tensor(numbers.fill(8), dtype=torch.float64).to(dtype))
    o = optimizer(name, [w])
    for step in range(1, 1001):
        w.grad = torch.tensor(numbers.fill(8), dtype=torch.float64).to(dtype)
        o.step()
        if step <= 10 or step == 1000:
            print(" ".join(number(x) for x in w.detach().tolist()))


class Net(nn.Module):
    def __init__(self, sizes, act, norm):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        make = {"none": lambda n: nn.Identity(), "batch": nn.BatchNorm1d, "layer": nn.LayerNorm}[norm]
        self.norms = nn.ModuleList(make(b) for b in sizes[1:-1])
        self.act = act

    def forward(self, x):
        for layer, norm in zip(self.layers, self.norms):
            x = self.act(norm(layer(x)))
        return self.layers[-1](x)


RUNS = {
    # sizes, activation, norm, loss, optimizer, l1, clip
    "digits": ([64, 32, 10], F.relu, "none", F.cross_entropy, "momentum", 0.0, None),
    "devices": ([20, 30, 20, 3], F.relu, "none", F.cross_entropy, "adam", 0.002, 1.0),
    "batch": ([20, 24, 3], lambda x: F.leaky_relu(x, 0.01), "batch", lambda z, y: F.cross_entropy(z, y, label_smoothing=0.1), "adamw", 0.0, None),
    "layer": ([20, 24, 17, 3], F.gelu, "layer", lambda z, y: F.cross_entropy(z, y, weight=torch.tensor([1.0, 2.0, 0.5], dtype=z.dtype)), "nesterov", 0.0, 0.5),
    "tanh": ([20, 12, 1], torch.tanh, "none", lambda z, y: F.binary_cross_entropy_with_logits(z[:, 0], y.to(z.dtype)), "sgd", 0.0, None),
    "sigmoid": ([20, 12, 1], torch.sigmoid, "none", lambda z, y: F.mse_loss(z[:, 0], y.to(z.dtype)), "decay", 0.0, None),
}
BATCH, ROWS, STEPS = 16, 96, 200


def run(name, dtype):
    sizes, act, norm, loss, opt, l1, clip = RUNS[name]
    numbers = Lcg(11)
    x = torch.tensor(numbers.fill(ROWS * sizes[0]), dtype=torch.float64).view(ROWS, sizes[0]).to(dtype)
    classes = max(sizes[-1], 2)
    y = torch.tensor([int((numbers.next() + 1) / 2 * classes) for _ in range(ROWS)])
    net = Net(sizes, act, norm).to(dtype)
    with torch.no_grad():
        for layer in net.layers:
            bound = 1 / layer.in_features**0.5
            for p in (layer.weight, layer.bias):
                p.copy_((torch.tensor(numbers.fill(p.numel()), dtype=torch.float64) * bound).view(p.shape).to(dtype))
    o = optimizer(opt, list(net.parameters()))
    for step in range(STEPS):
        rows = [(step * BATCH + i) * 5 % ROWS for i in range(BATCH)]
        data = loss(net(x[rows]), y[rows])
        total = data + l1 * sum(p.abs().sum() for p in net.parameters()) if l1 else data
        o.zero_grad()
        total.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(net.parameters(), clip)
        o.step()
        print(number(data))


SIDE = 8


def gan(dtype):
    numbers = Lcg(13)
    points = SIDE * SIDE
    generator = Net([24, 16, 20, points], F.relu, "none").to(dtype)
    judge = Net([2, 20, 1], lambda x: F.leaky_relu(x, 0.2), "none").to(dtype)
    with torch.no_grad():
        for layer in [*generator.layers, *judge.layers]:
            bound = 1 / layer.in_features**0.5
            for p in (layer.weight, layer.bias):
                p.copy_((torch.tensor(numbers.fill(p.numel()), dtype=torch.float64) * bound).view(p.shape).to(dtype))
    target = torch.tensor(numbers.fill(points), dtype=torch.float64) + 1
    target = (target / target.sum()).to(dtype)
    at = torch.tensor([[i % SIDE, i // SIDE] for i in range(points)], dtype=torch.float64).div(SIDE - 1).to(dtype)
    adam = lambda net: torch.optim.Adam(net.parameters(), lr=0.01, betas=(0.7, 0.999), weight_decay=0.005)
    of_generator, of_judge = adam(generator), adam(judge)
    for _ in range(100):
        z = torch.tensor(numbers.fill(24), dtype=torch.float64).to(dtype)
        g = torch.softmax(generator(z[None])[0], 0)
        d = torch.sigmoid(judge(at))[:, 0]
        loss_g = -(g * torch.log(d.detach() + 1e-8)).sum()
        loss_d = -0.5 * (target * torch.log(d + 1e-8) + g.detach() * torch.log(1 - d + 1e-8)).sum()
        for optimizer, loss in ((of_generator, loss_g), (of_judge, loss_d)):
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(number(loss_g), number(loss_d))


if __name__ == "__main__":
    for name in ("sgd", "decay", "momentum", "nesterov", "adam", "adamw"):
        for dtype in (torch.float32, torch.float64):
            print("step", name, "f32" if dtype == torch.float32 else "f64")
            steps(name, dtype)
    for name in RUNS:
        for dtype in (torch.float32, torch.float64):
            print("run", name, "f32" if dtype == torch.float32 else "f64")
            run(name, dtype)
    for dtype in (torch.float32, torch.float64):
        print("gan", "f32" if dtype == torch.float32 else "f64")
        gan(dtype)
