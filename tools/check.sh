#!/bin/bash
# `make check`: everything about the sources that can be told without running them.
set -euo pipefail
source "$(dirname "$0")/steps.sh"

# The compile database alone: nothing is built.
configure() {
  cmake --preset dev -Wno-dev -DHOLDFAST_BENCH=ON >build/configure.log 2>&1 || { cat build/configure.log; return 1; }
}

mkdir -p build
step "Install the tools" tools/install_deps.sh build test bench clang
step "Format" tools/check_format.sh
step "Layers" python3 tools/check_layers.py
step "Text" python3 tools/check_text.py
step "Headers" tools/check_headers.sh
step "Configure" configure
step "Lint" python3 tools/tidy.py build/dev
echo "==> the sources are in order ($(elapsed))"
