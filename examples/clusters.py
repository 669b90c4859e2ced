"""Learns the edge weights of a square grid so that spectral clustering finds two given halves.

A square grid has a symmetry, so its second and third eigenvalues are equal, and its first spectral cut is arbitrary. The
loss is the share of the labels that the first three eigenvectors do not have in their span. It does not depend on the
basis of the tied pair, so it has a gradient from the first step on.

    pip install fiedler torch
    python examples/clusters.py weights.json
"""

import json
import sys

import torch
from fiedler.torch import SpectralEncoding

SIDE = 8


def grid():
    """Each edge of the grid once, and the labels: a disc around a corner, and the rest."""
    nodes = torch.arange(SIDE * SIDE).view(SIDE, SIDE)
    edges = torch.cat([torch.stack([nodes[:, :-1], nodes[:, 1:]]).flatten(1), torch.stack([nodes[:-1], nodes[1:]]).flatten(1)], 1)
    x, y = torch.meshgrid(torch.arange(SIDE), torch.arange(SIDE), indexing="ij")
    return edges, torch.where(x**2 + y**2 < 5 * SIDE, 1.0, -1.0).flatten().double()


def fitted(steps=200):
    """Returns the losses, the weights, and the second eigenvector before and after."""
    edges, labels = grid()
    labels = labels - labels.mean()
    encoder = SpectralEncoding(3, laplacian="combinatorial")
    logits = torch.zeros(edges.shape[1], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([logits], lr=0.05)
    losses, vectors = [], []
    for step in range(steps):
        # The weights are positive, and their mean stays 1.
        weights = torch.softmax(logits, 0) * len(logits)
        found = encoder(edges, weights).eigenvectors
        kept = 3 if step < 20 else 2  # once the pair has parted, the second vector alone
        loss = 1 - (found[:, :kept].mT @ labels).square().sum() / labels.square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        vectors.append(found[:, 1].detach())
    return losses, weights.detach(), (vectors[0], vectors[-1])


if __name__ == "__main__":
    losses, weights, (before, after) = fitted()
    edges, labels = grid()
    agreeing = [int(((v > 0) == (labels > 0)).sum()) for v in (before, after)]
    right = [max(agree, len(labels) - agree) for agree in agreeing]
    what = f"{right[0]} of {len(labels)} nodes are on their side at first, and {right[1]} in the end"
    print(f"the loss falls from {losses[0]:.3f} to {losses[-1]:.3f}; {what}")
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w") as file:
            found = {"side": SIDE, "edges": edges.T.tolist(), "weights": weights.tolist(), "labels": labels.tolist()}
            json.dump({**found, "before": before.tolist(), "after": after.tolist()}, file)
