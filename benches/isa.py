#!/usr/bin/env python3
"""Compares what a GPU's compiler made of the kernels with the budgets of the kernels (benches/isa.md).

    ISA_OUT=isa.txt fiedler doctor --compile
    python3 benches/isa.py isa.txt [isa-of-another-gpu.txt ...] [--table] [--all]

A budget is declared next to its kernel (`budget` in src/ops/*/kernels.rs). Every variant that exceeds its budget gets a
line, and the exit status is then 1. --table prints a Markdown table with a row per kernel and the columns of each file:
the figures of the worst variant. --all prints a line per variant instead.
"""
import argparse, pathlib, sys

# What drivers call each figure: AMD's RADV, NVIDIA's NVK, Intel's ANV.
NAMES = {
    "registers": ("VGPRs", "Number of GPRs", "Max live registers"),
    "waves": ("Subgroups per SIMD", "Max warps/SM"),
    "instructions": ("Instructions", "Instruction count"),
    "scratch": ("Scratch size", "SLM size", "SLM Size", "Scratch Memory Size"),
}


def read(path):
    """Returns a list of variants: the name, the statistics, the budget, and the outcome."""
    variants, now = [], None
    for line in pathlib.Path(path).read_text(errors="replace").splitlines():
        word, _, rest = line.partition(" ")
        fields = lambda most=-1: dict(part.split("=", 1) for part in rest.split(";", most))
        if word == "KERNEL":
            now = {"name": rest, "said": {}, "budget": {}, "end": ""}
        elif now is None:
            continue
        elif word == "BUDGET":
            now["budget"] = fields(3)  # the fourth is a sentence
        elif word == "STATS":
            now["said"] = fields()
        elif word == "END":
            variants.append({**now, "end": rest})
            now = None
    return variants


def figure(variant, name):
    """Returns a figure, or None if the driver does not report it."""
    return next((int(float(variant["said"][key])) for key in NAMES[name] if key in variant["said"]), None)


def occupancy(variant):
    """Returns the waves in percent of those that a processor can hold; None for Intel. A processor of RDNA holds 16
    waves of 32 lanes, and RADV counts a wave of 64 lanes twice. GCN (Vega, Polaris) holds 10 of 64 lanes. A
    multiprocessor of NVIDIA holds 48 warps (Turing: 32)."""
    waves, said = figure(variant, "waves"), variant["said"]
    if waves is None:
        return None
    if "Max warps/SM" in said:
        return 100 * waves / variant["most_waves"]
    return 100 * waves / min(variant["most_waves"], 16 if said.get("subgroup") == "32" else 32)


def excess(variant):
    """Returns what exceeds the budget, in words."""
    if variant["end"].startswith("REFUSED"):
        return [variant["end"]]
    if not variant["said"]:
        return [] if variant["end"].startswith("UNUSED") else ["no statistics"]
    budget, words = variant["budget"], []
    if figure(variant, "scratch"):
        words.append(f"{figure(variant, 'scratch')} bytes of registers in memory")
    if "Max live registers" not in variant["said"] and figure(variant, "registers") > int(budget["registers"]):
        words.append(f"{figure(variant, 'registers')} registers, budget {budget['registers']}")
    if figure(variant, "instructions") > int(budget["instructions"]):
        words.append(f"{figure(variant, 'instructions')} instructions, budget {budget['instructions']}")
    share = occupancy(variant)
    if share is not None and share < int(budget["occupancy"]):
        words.append(f"occupancy {share:.0f} %, budget {budget['occupancy']} %")
    return words


def kernel_of(variant):
    return " ".join(variant["name"].split(" ")[:2])


def cell(of):
    """Returns the worst figures of a kernel's variants: registers, occupancy, instructions, bytes in memory."""
    of = [variant for variant in of if variant["said"]]
    if not of:
        return "-"
    most = lambda name: max(figure(variant, name) or 0 for variant in of)
    shares = [share for share in map(occupancy, of) if share is not None]
    figures = [f"{most('registers')}"] + [f"{min(shares):.0f} %" for _ in shares[:1]] + [f"{most('instructions'):,}"]
    return f"**{', '.join(figures)}; {most('scratch')} B**" if most("scratch") else ", ".join(figures)


def table(files):
    kernels = {}
    for file, variants in files.items():
        for variant in variants:
            kernels.setdefault(kernel_of(variant), {}).setdefault(file, []).append(variant)
    print("| kernel | " + " | ".join(files) + " |")
    print("|---" * (len(files) + 1) + "|")
    for name, by_file in kernels.items():
        print(f"| {name} | " + " | ".join(cell(by_file.get(file, [])) for file in files) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--all", action="store_true")
    args = parser.parse_args()
    files, exceeded = {}, 0
    for path in args.files:
        variants = files[pathlib.Path(path).stem] = read(path)
        if not variants:
            sys.exit(f"{path}: no line KERNEL, so nothing was compiled")
        most = max((figure(variant, "waves") or 0 for variant in variants), default=0)
        for variant in variants:
            variant["most_waves"] = most
            words = excess(variant)
            exceeded += bool(words)
            if words:
                print(f"{pathlib.Path(path).stem}: {variant['name']}: {'; '.join(words)}", file=sys.stderr)
            if args.all:
                print(variant["name"], *(f"{name}={figure(variant, name)}" for name in NAMES), variant["end"])
    if args.table:
        table(files)
    count = sum(map(len, files.values()))
    print(f"{count} variants, {exceeded} beyond their budgets", file=sys.stderr)
    sys.exit(exceeded > 0)


main()
