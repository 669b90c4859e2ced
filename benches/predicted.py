#!/usr/bin/env python3
"""Prints predicted next to measured times, from the output of `fiedler bench --json`.

    FIEDLER_CACHE_DIR=$(mktemp -d) fiedler bench --json > static.jsonl      # without measured rates
    python3 benches/predicted.py static.jsonl

The times are those of calls from host to host. The last lines say, for each device and family, the median of the
predicted time divided by the measured time, and how many predictions are within a factor of 2.
"""

import json
import statistics
import sys


def rows(path):
    """Returns the rows of a file that have both times."""
    with open(path, encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return [row for row in found if row.get("transfers_ms") and row.get("predicted_ms")]


def main():
    """Prints the tables."""
    measured = [row for path in sys.argv[1:] for row in rows(path)]
    print("| workload | device | predicted, ms | measured, ms | ratio |\n|---|---|---|---|---|")
    ratios = {}
    for row in measured:
        predicted, own = row["predicted_ms"], row["transfers_ms"]
        family = row["workload"].split("/")[0]
        ratios.setdefault((row["device"], family), []).append(predicted / own)
        print(f"| {row['workload']} | {row['device']} | {predicted:.4g} | {own:.4g} | {predicted / own:.2f} |")
    print("\n| device | family | median ratio | within a factor of 2 |\n|---|---|---|---|")
    for (device, family), all_of in sorted(ratios.items()):
        near = sum(0.5 <= ratio <= 2 for ratio in all_of)
        print(f"| {device} | {family} | {statistics.median(all_of):.2f} | {near} of {len(all_of)} |")


main()
