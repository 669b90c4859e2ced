#!/usr/bin/env bash
# Runs the whole measurement on one machine: the adapters, then correctness, then times next to the peers.
#
#   benches/measure.sh OUT_FOLDER [--backend gpu --adapter NAME]
#
# FIEDLER names the binary (default: target/release/fiedler). The other variables are optional:
# - TESTS: a folder with the suite's test binaries (from `cargo test --no-run`), which are run on every adapter first.
# - AUTO: the binary of benches/auto.rs.
# - ISA: files of compilers' statistics, which are compared with the budgets of the kernels (benches/isa.md).
# - PEERS: a command whose JSON lines are stored next to those of fiedler.
# - PEERS_DIR: the folder of dense_peers.py, for dense operations (benches/dense.py) and large sparse graphs
#   (benches/sparse.py) next to numpy, SciPy and torch, or CuPy, JAX and torch. These are the last steps: if a result of
#   fiedler is wrong there, the exit status is 1.
set -euo pipefail
out=$1
shift
fiedler=${FIEDLER:-target/release/fiedler}
mkdir -p "$out"
# If the doctor finds faults, they are in the report, and the measurement continues.
"$fiedler" doctor "$@" | tee "$out/doctor.txt" || true
"$fiedler" doctor --json "$@" >"$out/doctor.json" || true
if [ -n "${TESTS:-}" ]; then
    for binary in "$TESTS"/*; do
        "$binary" 2>&1 | tee -a "$out/suite.txt"
    done
fi
if [ -n "${ISA:-}" ]; then
    # shellcheck disable=SC2086 # several files
    python3 "$(dirname "$0")/isa.py" $ISA --table | tee "$out/isa.md" || true
fi
largest=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["largest_order_on_device"] or 2048)' "$out/doctor.json")
[ "${1:-}" = --backend ] && [ "${2:-}" = gpu ] || largest=2048
scale=1
[ "${1:-}" = --backend ] && [ "${2:-}" = gpu ] && scale=16
python3 "$(dirname "$0")/chart.py" --fiedler "$fiedler" --largest "$largest" --scale "$scale" -- "$@" | tee "$out/chart.jsonl"
# These are the measurements by which `auto` chooses, a check that it chooses well, and the HTML page. They run without
# --backend, which would fix the choice.
where=()
args=("$@")
for ((i = 0; i < ${#args[@]}; i++)); do
    if [ "${args[i]}" = --backend ]; then ((++i)); else where+=("${args[i]}"); fi
done
# Before the machine is tuned, predictions are those of the static model (docs/static-model.md).
FIEDLER_CACHE_DIR=$(mktemp -d) "$fiedler" bench --json "${where[@]}" >"$out/static.jsonl" || true
python3 "$(dirname "$0")/predicted.py" "$out/static.jsonl" | tee "$out/static.md"
"$fiedler" tune "${where[@]}" | tee "$out/tune.txt"
"$fiedler" bench --full --policy --json --html "$out/bench.html" "${where[@]}" >"$out/bench.jsonl" || true
python3 "$(dirname "$0")/when.py" "this machine" "$out/bench.jsonl" | tee "$out/when.md"
if [ -n "${AUTO:-}" ]; then
    "$AUTO" | tee "$out/auto.md"
fi
set=$(mktemp -d)/molecules
"$fiedler" generate molecules --graphs 20000 --seed 1 -o "$set"
for _ in 1 2 3; do
    "$fiedler" encode "$set" -o "$(dirname "$set")/out.npz" --json --no-cache "$@" | tee -a "$out/encode.jsonl"
done
if [ -n "${PEERS:-}" ]; then
    bash -c "$PEERS" | tee "$out/peers.jsonl"
fi
if [ -n "${PEERS_DIR:-}" ]; then
    device=cpu
    [ "${1:-}" = --backend ] && [ "${2:-}" = gpu ] && device=cuda
    full=()
    [ "$device" = cuda ] && full=(--full)
    wrong=0
    python3 "$(dirname "$0")/dense.py" "$PEERS_DIR" "$fiedler" --device "$device" --table -- "$@" | tee "$out/dense.jsonl" || wrong=1
    python3 "$(dirname "$0")/sparse.py" "$PEERS_DIR" "$fiedler" --device "$device" "${full[@]}" --table -- "$@" | tee "$out/sparse.jsonl" || wrong=1
    exit $wrong
fi
