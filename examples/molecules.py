"""Asks two questions about molecules, with and without encodings of nodes: a GIN of PyTorch Geometric on MUTAG.

    pip install fiedler torch torch_geometric networkx scipy
    python examples/molecules.py                   # downloads MUTAG (0.1 MB)
    python examples/molecules.py --seeds 3 --image molecules.png

docs/tutorials/molecules.md tells what it does and what it finds. The image needs matplotlib.
"""

import argparse
import time

import networkx as nx
import numpy as np
import torch
from fiedler.torch_geometric import AddLaplacianEigenvectorPE, AddRandomWalkPE, encode_dataset
from scipy import stats
from torch import nn
from torch_geometric.data import Batch
from torch_geometric.datasets import TUDataset
from torch_geometric.nn import GINConv, global_add_pool
from torch_geometric.utils import to_networkx

K = 8
ENCODINGS = {
    "none": [],
    "eigenvectors": [AddLaplacianEigenvectorPE(k=K, attr_name="pe", is_undirected=True)],
    "random walks": [AddRandomWalkPE(walk_length=16, attr_name="pe")],
}


def has_ring_of_five(molecule):
    rings = nx.minimum_cycle_basis(to_networkx(molecule, to_undirected=True))
    return int(any(len(ring) == 5 for ring in rings))


QUESTIONS = {
    "is it mutagenic?": lambda molecule: int(molecule.y),
    "has it a ring of five atoms?": has_ring_of_five,
}


class Classifier(nn.Module):
    """Three layers of GIN (Xu et al. 2019), whose sums over the nodes are classified."""

    def __init__(self, inputs, width=32):
        super().__init__()

        def layer(inputs):
            hidden = nn.Sequential(nn.Linear(inputs, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, width))
            return GINConv(hidden)

        self.layers = nn.ModuleList([layer(inputs), layer(width), layer(width)])
        self.head = nn.Sequential(nn.Linear(3 * width, width), nn.ReLU(), nn.Dropout(0.3), nn.Linear(width, 2))

    def forward(self, x, edges, graph):
        sums = []
        for layer in self.layers:
            x = layer(x, edges).relu()
            sums.append(global_add_pool(x, graph))
        return self.head(torch.cat(sums, 1))


def inputs_of(batch):
    """What a node has: a one, and its encoding. Small molecules have fewer eigenvectors; the others are NaN."""
    one = torch.ones(batch.num_nodes, 1)
    return torch.cat([one, torch.nan_to_num(batch.pe)], 1) if "pe" in batch else one


def accuracy(molecules, answers, encoding, train, test, seed, epochs):
    """Trains on some molecules, and returns the share of the others whose answer is predicted."""
    torch.manual_seed(seed)
    model = Classifier(inputs_of(Batch.from_data_list(molecules[:1])).shape[1])
    batches = 1 + len(train) // 32
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.005)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * batches)
    for _ in range(epochs):
        for part in np.array_split(train[torch.randperm(len(train)).numpy()], batches):
            batch = Batch.from_data_list([molecules[i] for i in part])
            x = inputs_of(batch)
            if encoding == "eigenvectors":
                # An eigenvector times -1 is the same eigenvector: a network that sees both learns that.
                x[:, -K:] *= (2.0 * torch.randint(2, (len(part), K)) - 1)[batch.batch]
            loss = nn.functional.cross_entropy(model(x, batch.edge_index, batch.batch), answers[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    model.eval()
    batch = Batch.from_data_list([molecules[i] for i in test])
    with torch.no_grad():
        found = model(inputs_of(batch), batch.edge_index, batch.batch).argmax(1)
    return (found == answers[test]).double().mean().item()


def rows(root, seeds=5, folds=10, epochs=50):
    """For each question and encoding: their names, the seconds of encoding and training, and each seed's accuracy."""
    data = list(TUDataset(root, "MUTAG"))  # of a list, `encode_dataset` makes copies
    for question, answer in QUESTIONS.items():
        answers = torch.tensor([answer(molecule) for molecule in data])
        for encoding, transforms in ENCODINGS.items():
            start = time.perf_counter()
            molecules = encode_dataset(data, transforms)
            encoded = time.perf_counter() - start
            found = []
            for seed in range(seeds):
                order = np.random.default_rng(seed).permutation(len(molecules))
                parts = np.array_split(order, folds)
                # Each molecule is in the test set of one fold.
                shares = [
                    accuracy(molecules, answers, encoding, np.setdiff1d(order, part), part, seed, epochs)
                    for part in parts
                ]
                found.append(np.average(shares, weights=[len(part) for part in parts]))
            yield question, encoding, encoded, time.perf_counter() - start - encoded, np.array(found)


def interval(numbers):
    """The half of the 95 % interval of a mean (Student's t)."""
    return stats.t.ppf(0.975, len(numbers) - 1) * numbers.std(ddof=1) / len(numbers) ** 0.5


def draw(made, path):
    """The accuracies, with the intervals of their means."""
    from matplotlib import pyplot

    figure, row = pyplot.subplots(1, len(QUESTIONS), figsize=(9, 2), layout="constrained", sharex=True, sharey=True)
    for axes, question in zip(row, QUESTIONS):
        own = [(encoding, found) for name, encoding, *_, found in made if name == question]
        means, halves = ([of(found) for _, found in own] for of in (np.mean, interval))
        axes.errorbar(means, [encoding for encoding, _ in own], xerr=halves, fmt="o", capsize=3)
        axes.set(title=question, xlim=(0.6, 1.02), ylim=(len(own) - 0.5, -0.5), xlabel="accuracy")
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", default="data", help="where the data set is, or is downloaded to")
    parser.add_argument("--seeds", type=int, default=5, help="at least 2")
    parser.add_argument("--image", help="where to draw the accuracies")
    options = parser.parse_args()
    made, plain = [], None
    for row in rows(options.root, options.seeds):
        question, encoding, encoded, trained, found = row
        made.append(row)
        if encoding == "none":
            print(question)
            plain = found
        against = "" if encoding == "none" else f"   {(found - plain).mean():+.3f} ± {interval(found - plain):.3f}"
        times = f"encoded in {encoded:.2f} s, trained in {trained:.0f} s"
        print(f"  {encoding:13} {found.mean():.3f} ± {interval(found):.3f}{against:18} {times}", flush=True)
    if options.image:
        draw(made, options.image)
