#!/bin/bash
# `make bench-peers`: measures the peers (bench/peers/package.json has their exact versions), keeps
# their figures in bench/peers/results.json, then measures Holdfast and prints both side by side.
set -euo pipefail
source "$(dirname "$0")/steps.sh"

out=build/peers.jsonl
packed=data/session-24539.jsonl.zst
configure() {
  cmake --preset bench -Wno-dev >build/configure.log 2>&1 || { cat build/configure.log; return 1; }
}
peers() { npm ci --prefix bench/peers --no-audit --no-fund --loglevel=error; }

mkdir -p build
step "Install what the benchmarks need" tools/install_deps.sh build test bench
step "Install the peers" peers
step "Configure" configure
step "Compile" cmake --build build/release --target server_bench
rm -f "$out"
zstd -qdf "$packed" -o build/session.jsonl
step "@workflow/world-local: its streams" node bench/peers/world_local.mjs "$out" build build/session.jsonl
step "@durable-streams/server: 10,000 idle connections, 1,000 followers" \
  build/release/bench/server_bench "$out" build "$packed" --peer bench/peers/durable_server.mjs
python3 tools/bench_peers.py "$out" bench/peers
tools/bench.sh
