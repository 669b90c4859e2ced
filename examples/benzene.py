"""Two gradients that need tied eigenvalues: the polarizability of benzene, and a ring whose weights fit a spectrum.

In Hückel's model, the orbitals of benzene are the eigenvectors of the adjacency of a ring of six atoms, and four of
the six energies are tied in pairs. How the charge of one atom answers to the potential at another is known in closed
form (Coulson and Longuet-Higgins, 1947): 43, -17, 1 and -11 parts in 108.

    pip install fiedler torch
    python examples/benzene.py
"""

import torch
from fiedler import linalg
from fiedler.torch import SpectralEncoding


def ring(n):
    """Both directions of the edges of a ring."""
    nodes = torch.arange(n)
    after = (nodes + 1) % n
    return torch.stack([torch.cat([nodes, after]), torch.cat([after, nodes])])


def polarizability(eigh):
    """The derivatives of the charge of the first atom by the potentials of the atoms."""
    energies = torch.zeros(6, dtype=torch.float64, requires_grad=True)
    bonds = torch.zeros(6, 6, dtype=torch.float64).index_put(tuple(ring(6)), torch.tensor(1.0, dtype=torch.float64))
    _, orbitals = eigh(torch.diag(energies) - bonds)
    # Two electrons are in each of the three lowest orbitals, of which the second and the third are tied.
    (2 * orbitals[0, :3].square().sum()).backward()
    return energies.grad


def fitted(steps=300):
    """Learns the weights of a ring of 12 from equal ones, at which all but two eigenvalues are tied in pairs.

    The loss compares sums of powers of the eigenvalues, which are smooth where the eigenvalues are tied.
    """
    edges, half = ring(12), torch.linspace(0.5, 1.5, 12, dtype=torch.float64)
    encoder = SpectralEncoding(12, laplacian="combinatorial")

    def moments(weights):
        w = encoder(edges, weights.repeat(2)).eigenvalues[0] / 4
        return torch.stack([(w**power).sum() for power in range(1, 7)])

    wanted = moments(half).detach()
    weights = torch.ones(12, dtype=torch.float64)
    weights[0] = 1.01  # equal weights are a stationary point of all but the first sum
    weights.requires_grad_()
    optimizer = torch.optim.Adam([weights], lr=0.02)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (moments(weights.abs()) - wanted).square().sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    print("parts in 108 of the closed form:  43 -17   1 -11   1 -17")
    for name, eigh in (("fiedler", linalg.eigh), ("torch", torch.linalg.eigh)):
        print(f"{name:>31}: ", *(f"{-108 * x:.6g}" for x in polarizability(eigh).tolist()))
    losses = fitted()
    print(f"fitting a spectrum: the loss falls from {losses[0]:.3g} to {losses[-1]:.3g}")
