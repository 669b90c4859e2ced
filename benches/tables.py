"""The throughput of tables beside encoding in memory, and what a pipe needs: molecules in Parquet and Arrow, and ten
million edges through a pipe under a limit of memory.

    pip install ./python pyarrow
    python benches/tables.py [GRAPHS]
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq

import fiedler

K = 8
REPEATS = 5
BUDGET = 1 << 30


def command(*arguments, limit=None, **options):
    """Runs the command, and returns its time and the most memory that it had, in bytes."""
    environment = {**os.environ, "FIEDLER_CACHE_BYTES": "0", "FIEDLER_BACKEND": "cpu", "FIEDLER_MEMORY_BUDGET": str(BUDGET)}
    bound = None if limit is None else lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    began = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-m", "fiedler", *map(str, arguments)], env=environment, preexec_fn=bound, **options
    )
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0, status
    return time.perf_counter() - began, usage.ru_maxrss * 1024


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        command("generate", "molecules", "--graphs", count, "-o", folder / "set", stdout=subprocess.DEVNULL)
        command("encode", folder / "set", "-k", 1, "-o", folder / "all.arrow", "--quiet")
        table = pa.ipc.open_file(folder / "all.arrow").read_all().select(["num_nodes", "src", "dst"])
        pq.write_table(table, folder / "in.parquet", row_group_size=8192)
        with pa.OSFile(str(folder / "in.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as out:
            out.write_table(table, max_chunksize=8192)

        graphs = fiedler.GraphBatch.from_arrow(table)
        times = {name: [] for name in ("in memory", "fiedler.arrow", "parquet", "arrow")}
        memory = {}
        fiedler.encode(graphs, K, cache=False, device="cpu")
        encoder = fiedler.arrow.Encoder(K, cache=False, device="cpu")
        for _ in range(REPEATS):
            began = time.perf_counter()
            fiedler.encode(graphs, K, cache=False, device="cpu")
            times["in memory"].append(time.perf_counter() - began)
            began = time.perf_counter()
            encoder(table)
            times["fiedler.arrow"].append(time.perf_counter() - began)
            for name in ("parquet", "arrow"):
                call = ("encode", folder / f"in.{name}", "-o", folder / f"out.{name}", "--overwrite", "-k", K, "--no-edges", "--quiet")
                seconds, memory[name] = command(*call)
                times[name].append(seconds)
        whole = statistics.median(times["in memory"])
        print(f"{count} molecules, {graphs.num_nodes} nodes, k = {K}, medians of {REPEATS}")
        for name, seconds in times.items():
            median = statistics.median(seconds)
            peak = f", at most {memory[name] >> 20} MiB of a budget of {BUDGET >> 20}" if name in memory else ""
            print(f"{name}: {median:.2f} s, {whole / median:.2f} of the throughput in memory{peak}")

        # A row for each edge, of as many graphs as have ten million together.
        index = pa.compute.list_parent_indices(table["src"])
        long = [index, pa.compute.list_flatten(table["src"]), pa.compute.list_flatten(table["dst"])]
        once = len(index)
        schema = pa.schema([("graph", pa.int64()), ("src", pa.uint32()), ("dst", pa.uint32())])
        rows = 0
        with pa.OSFile(str(folder / "long.arrows"), "wb") as sink, pa.ipc.new_stream(sink, schema) as out:
            while rows < 10_000_000:
                ids = pa.compute.add(long[0].cast(pa.int64()), count * (rows // once))
                out.write_table(pa.Table.from_arrays([ids, *long[1:]], schema=schema), max_chunksize=1 << 18)
                rows += once
        limit = BUDGET + (1 << 30)
        with open(folder / "long.arrows", "rb") as source, open(folder / "made.arrows", "wb") as sink:
            call = ("encode", "-", "-o", "-", "--format", "arrow", "-k", K, "--quiet")
            seconds, peak = command(*call, limit=limit, stdin=source, stdout=sink)
        made = sum(batch.num_rows for batch in pa.ipc.open_stream(folder / "made.arrows"))
        print(f"{rows} edges of {made} graphs through a pipe under {limit >> 20} MiB: {seconds:.1f} s, {peak >> 20} MiB")

if __name__ == "__main__":
    main()
