#!/bin/bash
# `make bench`: builds the release program and the benchmarks, runs them, and prints one table.
# Writes build/bench.jsonl, a line per figure. With --smoke: a tenth of the history, a few rounds,
# build/bench-smoke.jsonl; it ends with 1 if a count (reads, wake-ups, bytes) is above its limit.
set -euo pipefail
source "$(dirname "$0")/steps.sh"

smoke=${1:-}
out=build/bench${smoke:+-smoke}.jsonl
session=data/session-24539.jsonl.zst
configure() {
  cmake --preset bench -Wno-dev >build/configure.log 2>&1 || { cat build/configure.log; return 1; }
}
compile() {
  cmake --build build/release --target holdfast bell_bench streams_bench server_bench >build/compile.log 2>&1 ||
    { tail -n 50 build/compile.log; return 1; }
}

mkdir -p build
step "Install what the benchmarks need" tools/install_deps.sh build bench
step "Configure" configure
step "Compile" compile
ln -sfn release/holdfast build/holdfast
rm -f "$out"
# The benchmarks measure the disk that build/ is on. ${smoke:+...} is no word at all without --smoke.
step "Doorbell: alone, and between two processes" build/release/bench/bell_bench "$out" build ${smoke:+"$smoke"}
step "Streams: one process and two" build/release/bench/streams_bench "$out" build "$session" ${smoke:+"$smoke"}
step "Server: 10,000 idle connections, 1,000 followers" \
  build/release/bench/server_bench "$out" build "$session" build/holdfast ${smoke:+"$smoke"}
echo
python3 tools/bench_table.py "$out" bench/peers/results.json ${smoke:+--gate-counts}
echo "==> $out ($(elapsed))"
