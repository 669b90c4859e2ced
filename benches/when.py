#!/usr/bin/env python3
"""Prints tables of when the GPU helps, from the output of `fiedler bench --json` on one or more machines.

    fiedler bench --full --json > machine.jsonl
    python3 benches/when.py "discrete: NVIDIA H200" h200.jsonl "software: lavapipe" lavapipe.jsonl

For each file, a table is printed with a line for each family and size. A line has the number of items from which the
adapter was faster from host to host, and how many times as fast as the CPU it was at best. Then it has the same two
numbers for resident data, and the time of the CPU. One summary line per file follows. (The fixed costs by class are
what `fiedler tune` prints.)
"""

import json
import math
import re
import sys


def cells(path):
    """Returns {(family, size): [(items, CPU, adapter, adapter with resident data)]}, in seconds."""
    found = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row.get("ms") is None or "workload" not in row:
                continue
            side = "cpu" if row["device"] == "CPU" else "gpu"
            found.setdefault(row["workload"], {})[side] = row
    table = {}
    for name, sides in found.items():
        if len(sides) < 2:
            continue
        sizes = dict(part.split("=") for part in name.split("/") if "=" in part)
        size_is = next(key for key in ("cols", "nodes", "grid", "n") if key in sizes)
        items_are = next((key for key in ("batch", "rows", "graphs", "edges") if key in sizes), None)
        items = int(sizes[items_are]) if items_are else 1
        seconds = [sides["cpu"]["transfers_ms"], sides["gpu"]["transfers_ms"], sides["gpu"]["ms"]]
        key = (name.split("/")[0], size_is, int(sizes[size_is]), items_are)
        table.setdefault(key, []).append((items, *(ms / 1e3 for ms in seconds)))
    return {key: sorted(rows) for key, rows in table.items()}


def time(seconds):
    for unit, factor in (("s", 1), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
        if seconds >= factor:
            value = seconds / factor
            return f"{value:.{max(0, 2 - int(math.log10(value)))}f} {unit}"
    return "0"


def ratio(value):
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def show(title, path):
    table = cells(path)
    print(f"### {title}\n")
    print("| workload | faster from | at best, host to host | at best, data there | CPU there |")
    print("|---|---|---|---|---|")
    wins, all_of_them, best = 0, 0, []
    for (family, size_is, size, items_are), rows in sorted(table.items()):
        first = next((r[0] for r in rows if r[2] < r[1]), None)
        # The adapter must be faster for all larger counts too. A single measurement in which it is faster by chance
        # is no turning point.
        lasts = first is not None and all(r[2] < r[1] for r in rows if r[0] >= first)
        where = "never" if first is None else f"{items_are}={first}" if items_are else "always"
        if first is not None and not lasts:
            where += ", not always"
        top = max(rows, key=lambda r: r[1] / r[2])
        there = max(rows, key=lambda r: r[1] / r[3])
        # If no call with resident data was measured, both times are those of the same call.
        has_there = any(r[2] != r[3] for r in rows)
        at = lambda r: f" ({items_are}={r[0]})" if items_are else ""
        print(
            f"| {family} {size_is}={size} | {where} | {ratio(top[1] / top[2])}{at(top)} "
            f"| {ratio(there[1] / there[3]) + at(there) if has_there else '-'} | {time(top[1])} |"
        )
        wins += sum(r[2] < r[1] for r in rows)
        all_of_them += len(rows)
        best.append((top[1] / top[2], f"{family} {size_is}={size}{at(top)}"))
    value, name = max(best)
    print(f"\n{title}: faster in {wins} of {all_of_them} workloads; at best {ratio(value)} times, {name}.\n")


def main():
    words = sys.argv[1:]
    if not words or len(words) % 2:
        sys.exit("expected pairs of a title and a file of `fiedler bench --json`")
    for title, path in zip(words[::2], words[1::2]):
        show(re.sub(r"\s+", " ", title), path)


if __name__ == "__main__":
    main()
