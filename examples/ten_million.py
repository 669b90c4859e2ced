"""Encodes a data set of ten million small graphs: Parquet files in, Parquet files out, by several processes of Ray.

    pip install fiedler pyarrow ray
    python examples/ten_million.py                     # ten million molecules, a process on each core
    python examples/ten_million.py --graphs 100000 --processes 2 --folder small

docs/tutorials/ten-million.md tells what it does and what it measures.
"""

import argparse
import os
import time
from pathlib import Path

import fiedler.ray
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import ray

K = 8


def molecules(first, count):
    """A table of graphs like molecules, with the ids from `first` on: trees of 8 to 29 atoms, some of them closed to rings
    of five or six. A row has its bonds in the columns src and dst.
    """
    random = np.random.default_rng(first)
    sizes = random.integers(8, 30, count)
    ends = np.cumsum(sizes)
    atom = np.arange(ends[-1]) - np.repeat(ends - sizes, sizes)  # counts from 0 in each molecule
    parent = np.maximum(atom - random.geometric(0.8, len(atom)), 0)
    across = np.where(random.random(len(atom)) < 0.15, atom - random.integers(4, 6, len(atom)), -1)
    # A bond to the parent, and perhaps one across a ring; the first atom has none.
    src = np.stack([atom, atom], axis=1)
    dst = np.stack([np.where(atom > 0, parent, -1), np.where(across != parent, across, -1)], axis=1)
    there = dst >= 0
    bonds = np.add.reduceat(there.sum(axis=1), ends - sizes)
    offsets = np.concatenate([[0], np.cumsum(bonds)]).astype(np.int32)
    columns = {"id": np.arange(first, first + count), "num_nodes": sizes.astype(np.int32)}
    for name, values in (("src", src), ("dst", dst)):
        columns[name] = pa.ListArray.from_arrays(offsets, values[there].astype(np.int32))
    return pa.table(columns)


def write(folder, graphs, rows):
    """Writes the data set in files of this number of rows."""
    folder.mkdir(parents=True)
    for first in range(0, graphs, rows):
        table = molecules(first, min(rows, graphs - first))
        pq.write_table(table, folder / f"{first:09}.parquet", compression="zstd")


def encode(paths, folder, processes):
    """Encodes files by actors of Ray, a core for each."""
    table = ray.data.read_parquet([str(path) for path in paths], override_num_blocks=len(paths))
    table.map_batches(
        fiedler.ray.Encode,
        fn_constructor_kwargs={"k": K, "cache": False},
        batch_format="pyarrow",
        batch_size=4096,
        compute=ray.data.ActorPoolStrategy(size=processes),
        num_cpus=1,
    ).write_parquet(str(folder))


def statuses(folder):
    """How many graphs of a folder have each status, and how many bytes its files have."""
    counts, size = {}, 0
    for path in sorted(folder.glob("*.parquet")):
        size += path.stat().st_size
        for row in pc.value_counts(pq.read_table(path, columns=["status"])["status"]).to_pylist():
            counts[row["values"]] = counts.get(row["values"], 0) + row["counts"]
    return counts, size


def same_bytes(path, folder):
    """Whether the graphs of one file, encoded in this process, have the bytes that they have in a folder of results."""
    # Actors without GPUs encode on the CPU.
    alone = fiedler.arrow.Encoder(K, device="cpu", cache=False)(pq.read_table(path))
    low, high = pc.min_max(alone["id"]).as_py().values()
    there = pq.read_table(folder, filters=[("id", ">=", low), ("id", "<=", high)]).sort_by("id")
    return all(alone[name].combine_chunks().equals(there[name].combine_chunks()) for name in alone.column_names)


def rows(folder, graphs, processes, part):
    """For each step, its name, its seconds, and what it found."""
    source, target = folder / "molecules", folder / "encoded"
    steps = (
        ("generate", lambda: write(source, graphs, part)),
        ("encode", lambda: encode(sorted(source.glob("*.parquet")), target, processes)),
        ("read what became of each", lambda: statuses(target)),
        ("encode the last file again", lambda: same_bytes(max(source.glob("*.parquet")), target)),
    )
    for name, step in steps:
        start = time.perf_counter()
        found = step()
        yield name, time.perf_counter() - start, found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", type=int, default=10_000_000)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--part", type=int, default=100_000, help="graphs in a file")
    parser.add_argument("--folder", type=Path, default=Path("ten-million"), help="a new folder")
    options = parser.parse_args()
    if options.folder.exists():
        parser.error(f"{options.folder} is there already")
    # One core more, or the actors would have all of them, and no file would be read. A cluster has its own number.
    cores = {} if "RAY_ADDRESS" in os.environ else {"num_cpus": options.processes + 1}
    ray.init(log_to_driver=False, **cores)
    for name, seconds, found in rows(options.folder, options.graphs, options.processes, options.part):
        print(f"{name:28} {seconds:8.1f} s   {'' if found is None else found}", flush=True)
