"""Writes laplacians.txt: the Laplacian matrices of three small graphs as other libraries compute them.

Run: python tests/host/golden/laplacians.py > tests/host/golden/laplacians.txt
Needs numpy, scipy, networkx, torch and torch_geometric. DGL's matrix is computed by the lines of dgl.lap_pe (DGL at
00ab57e, python/dgl/transforms/functional.py), which need only the adjacency matrix and the in-degrees from DGL.
"""
import networkx as nx
import numpy as np
import scipy as sp
import torch
import torch_geometric
from torch_geometric.utils import get_laplacian, to_dense_adj

N = 5
GRAPHS = {
    # Undirected, weighted, both directions listed; node 4 is isolated.
    "undirected": [(0, 1, 2), (1, 0, 2), (1, 2, 0.5), (2, 1, 0.5), (2, 0, 1), (0, 2, 1), (2, 3, 4), (3, 2, 4)],
    # Directed, weighted; no edge leads to node 3, none leaves node 4.
    "directed": [(0, 1, 1), (1, 2, 2), (2, 0, 3), (0, 2, 0.25), (3, 0, 1.5), (1, 4, 4)],
    # A self-loop on node 0 and one on node 3, which has no other edge; one edge listed twice; node 4 is isolated.
    "untidy": [(0, 1, 1), (0, 0, 3), (1, 0, 1), (1, 2, 2), (1, 2, 0.5), (2, 1, 2), (2, 1, 0.5), (3, 3, 2)],
}


def show(graph, library, normalization, matrix):
    print(f"{library} {normalization} {graph}")
    for row in np.asarray(matrix, dtype=np.float64) + 0.0:
        print(" ".join(repr(float(x)) for x in row))


print(f"# Made by laplacians.py with scipy {sp.__version__}, networkx {nx.__version__},")
print(f"# torch_geometric {torch_geometric.__version__}; DGL by its formula, every weight 1.")
for name, edges in GRAPHS.items():
    row, col, weight = (np.array(x) for x in zip(*edges))
    adjacency = sp.sparse.coo_array((weight.astype(float), (row, col)), shape=(N, N)).tocsr()
    show(name, "scipy", "combinatorial", sp.sparse.csgraph.laplacian(adjacency).toarray())
    show(name, "scipy", "symmetric", sp.sparse.csgraph.laplacian(adjacency, normed=True).toarray())

    digraph = nx.DiGraph()
    digraph.add_nodes_from(range(N))
    digraph.add_weighted_edges_from(edges)
    show(name, "networkx", "combinatorial", nx.laplacian_matrix(digraph).toarray())
    show(name, "networkx", "symmetric", nx.normalized_laplacian_matrix(digraph).toarray())

    index, values = torch.tensor(np.stack([row, col])), torch.tensor(weight, dtype=torch.float64)
    for normalization, key in (("combinatorial", None), ("symmetric", "sym"), ("random-walk", "rw")):
        entries = get_laplacian(index, values, key, num_nodes=N)
        show(name, "pyg", normalization, to_dense_adj(entries[0], edge_attr=entries[1], max_num_nodes=N)[0])

    counts = sp.sparse.coo_array((np.ones(len(edges)), (row, col)), shape=(N, N)).tocsr()
    in_degrees = np.bincount(col, minlength=N)
    scale = sp.sparse.diags(in_degrees.clip(1) ** -0.5, dtype=float)
    show(name, "dgl", "symmetric", (sp.sparse.eye(N) - scale * sp.sparse.csr_matrix(counts) * scale).toarray())
