#!/bin/bash
# `make build`: the release program at build/holdfast, with the compiler that is there.
set -euo pipefail
source "$(dirname "$0")/steps.sh"

configure() { cmake --preset release -Wno-dev >build/configure.log 2>&1 || { cat build/configure.log; return 1; }; }
link() { ln -sfn release/holdfast build/holdfast; }

mkdir -p build
step "Install what the build needs" tools/install_deps.sh build
step "Configure" configure
step "Compile the release program" cmake --build build/release --target holdfast
link
echo "==> build/holdfast is ready ($(elapsed))"
