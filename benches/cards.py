#!/usr/bin/env python3
"""Prints a page of all report cards of a folder, one column a card.

    python3 benches/cards.py docs/hardware > docs/hardware/cards.md

A card is what `fiedler bench --card` writes (docs/hardware/README.md).
"""

import json
import sys
from pathlib import Path


def three(number):
    """Returns a number with three digits."""
    return f"{number:.3g}" if abs(number) < 1000 else f"{number:,.0f}"


def table(head, rows):
    """Returns a table in Markdown. A missing cell is a dash."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join("-" if cell is None else str(cell) for cell in line) + " |" for line in lines)


def facts(card):
    """Returns the facts of a card, by their names."""
    adapter, machine = card.get("adapter") or {}, card.get("machine") or {}
    steps = card["steps"]
    failed = sum(len(step["failed"]) for step in steps)
    checks = card["self_test"]
    kernels = card["kernels"]["compile_ms"].values()
    rates = {rate["on"]: rate for rate in card["speed"] or []}
    own = rates.get(adapter.get("name"), {})
    return {
        "adapter": adapter.get("name", "none"),
        "driver": f"{adapter['backend']} {adapter['driver']}" if adapter else None,
        "processor": f"{machine.get('cpu')}, {machine.get('threads')} threads",
        "fiedler, date": f"{card['fiedler']}, {card['date']}",
        "time": f"{three(card['seconds'] / 60)} of {three(card['minutes'])} min",
        "steps that were cut": ", ".join(step["step"] for step in steps if step["status"] == "cut") or "none",
        "failures": failed,
        "self-test": f"{sum(check['ok'] for check in checks)} of {len(checks)} passed",
        "copy, GB/s": three(own["copy_bytes_per_s"] / 1e9) if own else None,
        "multiply-adds, Gflop/s": three(own["fma_flop_per_s"] / 1e9) if own else None,
        "smallest call, µs": three(1e6 * own["call_s"]) if own else None,
        "kernels compiled": f"{len(kernels)} in {three(sum(kernels) / 1e3)} s" if kernels else None,
    }


def times(card):
    """Returns the rows of a card by workload: the adapter's time, with resident data, the CPU's, and the speedup."""
    found = {}
    for row in card["rows"]:
        found.setdefault(row["workload"], {})["cpu" if row["device"] == "CPU" else "adapter"] = row
    cells = {}
    for name, sides in found.items():
        adapter, cpu = sides.get("adapter"), sides.get("cpu")
        if not adapter:
            cells[name] = f"CPU {three(cpu['transfers_ms'])}"
            continue
        text = three(adapter["transfers_ms"])
        if adapter["ms"] != adapter["transfers_ms"]:
            text += f" ({three(adapter['ms'])})"
        if cpu:
            text += f"; CPU {three(cpu['transfers_ms'])}, {three(cpu['transfers_ms'] / adapter['transfers_ms'])}×"
        cells[name] = text
    return cells


def side_by_side(title, about, columns, names):
    """Returns a section with the values of all cards by name, in the order in which they come first."""
    keys = list(dict.fromkeys(key for column in columns for key in column))
    rows = [[key, *(column.get(key) for column in columns)] for key in keys]
    return f"## {title}\n\n{about}{table(['', *names], rows)}\n"


def main():
    """Prints the page."""
    folder = Path(sys.argv[1])
    cards = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}
    unknown = [name for name, card in cards.items() if card.get("card") != 1]
    if unknown or not cards:
        sys.exit(f"{folder}: expected cards of version 1, found {', '.join(unknown) or 'none'}")
    names, cards = list(cards), list(cards.values())

    def errors(card):
        worst = card["worst_errors"]
        share = {row["workload"].split("/")[0]: (row["error_share"], row["workload"]) for row in worst}
        return {family: f"{'infinite' if x is None else three(x)} ({name})" for family, (x, name) in share.items()}

    def predictions(card):
        return {
            f"{row['family']} on the {'CPU' if row['device'] == 'CPU' else 'adapter'}": (
                f"{three(row['median_ratio'])} ({row['within_2x']} of {row['of']})"
            )
            for row in card["predicted"]
        }

    print("# The machines that have a report card\n")
    print("Made from the cards in this folder by `benches/cards.py`. [How to make and send one](README.md)\n")
    print(side_by_side("Machines", "", [facts(card) for card in cards], names))
    about = "The largest error divided by the promised bound, and the workload that had it.\n\n"
    print(side_by_side("Accuracy", about, [errors(card) for card in cards], names))
    about = (
        "Milliseconds of a call on the adapter from host to host (in parentheses, with resident data), then of the CPU "
        "of the\nsame machine, and how many times as fast as the CPU the adapter is.\n\n"
    )
    print(side_by_side("Times", about, [times(card) for card in cards], names))
    about = (
        "The median of the times that the static model predicts divided by the measured times, and how many are within "
        "a\nfactor of 2.\n\n"
    )
    print(side_by_side("Predictions", about, [predictions(card) for card in cards], names).rstrip())


main()
