#!/bin/bash
# The browser tests against a program: tests/browser/run.sh [build/holdfast]
# Installs Chromium if there is none, and the driver that package-lock.json names.
set -euo pipefail
program=$(realpath "${1:-build/holdfast}")
cd "$(dirname "$0")"

if ! command -v chromium >/dev/null; then
  as_root=(); [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium
fi
[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund --silent
HOLDFAST_PROGRAM=$program node --test --test-reporter=spec page_test.mjs
