#!/usr/bin/env python3
"""Compares two builds of the Python package on the rows of `sweep.py`, which says what is drawn.

    python benches/before.py BEFORE AFTER --seed 20261201 [--rows 130] [--only eigh,fft] [--rounds 7] [--json ROWS.jsonl]

BEFORE and AFTER are folders with a package, such as the `python` of two checkouts, each with its release build. Every
row is timed in turn by a process for each, so that a machine whose speed changes does not favor one of them. A ratio is
the median, over the rounds, of the time before over the time after. Rows are printed from the lowest ratio upward, each
with the range of the middle half of its rounds.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np

WORKER = """
import sys, time, warnings
import numpy as np, torch
import sweep
warnings.simplefilter("ignore")
torch.set_num_threads(sweep.THREADS)
seed, names, seconds = int(sys.argv[1]), sys.argv[2].split(","), float(sys.argv[3])
rng, row = np.random.default_rng(seed), -1
for line in sys.stdin:
    if line == "next\\n":
        row += 1
        name, dtype = names[row % len(names)], (np.float32, np.float64)[row // len(names) % 2]
        label, ours, *_ = sweep.FAMILIES[name](sweep.Draw(rng, dtype))
        try:
            ours()
            print(f"{name} {dtype.__name__} {label}", flush=True)
        except Exception as error:
            print(f"ERROR {name} {dtype.__name__} {label}: {type(error).__name__}", flush=True)
    else:
        ours()
        print(sweep.medians([ours], seconds)[0], flush=True)
"""


class Build:
    """A process that draws the rows and times them with one build."""

    def __init__(self, folder, call):
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([folder, str(Path(__file__).parent)])}
        arguments = [sys.executable, "-c", WORKER, str(call.seed), call.only, str(call.seconds)]
        self.process = subprocess.Popen(arguments, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, what):
        print(what, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().strip()
        if not answer:
            raise SystemExit("a process has ended; its message is above")
        return answer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--rows", type=int, default=130)
    families = "eigh,eigvalsh,svd,matmul,fft,rfft,irfft,fft2,eigsh,cov,pca,describe,quantile"
    parser.add_argument("--only", default=families, help="families; by default those of older builds, too")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.05, help="for each call in a round")
    parser.add_argument("--json", help="a file to which rows are appended")
    call = parser.parse_args()

    before, after = Build(call.before, call), Build(call.after, call)
    rows = []
    for _ in range(call.rows):
        labels = [before.ask("next"), after.ask("next")]
        if any(label.startswith("ERROR") for label in labels):
            print(*labels, sep="\n", flush=True)
            continue
        times = []
        for i in range(call.rounds):
            # The first of a round is the second of the next.
            order = (before, after) if i % 2 == 0 else (after, before)
            pair = {build: float(build.ask("time")) for build in order}
            times.append((pair[before], pair[after]))
        ratios = [old / new for old, new in times]
        low, ratio, high = np.quantile(ratios, [0.25, 0.5, 0.75])
        own = [statistics.median(column) * 1e3 for column in zip(*times, strict=True)]
        rows.append({"row": labels[1], "before": own[0], "after": own[1], "ratio": ratio, "low": low, "high": high})
        if call.json:
            with open(call.json, "a") as file:
                file.write(json.dumps(rows[-1] | {"seed": call.seed}) + "\n")
    for row in sorted(rows, key=lambda row: row["ratio"]):
        ratios = f"{row['ratio']:6.2f} ({row['low']:.2f} to {row['high']:.2f})"
        print(f"{ratios}  {row['row']:62} {row['before']:10.4f} {row['after']:10.4f} ms")
    slower = sum(row["high"] < 1 for row in rows)
    middle = statistics.median(row["ratio"] for row in rows)
    print(f"{len(rows)} rows, median {middle:.2f}, slower in three quarters of their rounds {slower}")


if __name__ == "__main__":
    main()
