#!/bin/bash
# `make test`: every test. Unit tests and suites with the compiler that is there, then the program
# itself, seen by a browser and by other people's tests of the protocol.
set -euo pipefail
source "$(dirname "$0")/steps.sh"

jobs=$(nproc)
configure() {
  cmake --preset release -Wno-dev -DHOLDFAST_TESTS=ON >build/configure.log 2>&1 || { cat build/configure.log; return 1; }
}

mkdir -p build
step "Install what the tests need" tools/install_deps.sh build test
step "Configure" configure
step "Compile the program and its tests" cmake --build build/release
ln -sfn release/holdfast build/holdfast
step "Unit tests and suites" ctest --test-dir build/release --output-on-failure --progress -j "$jobs"
for suite in tests/conformance tests/browser; do
  [ -x "$suite/run.sh" ] || continue
  step "$suite" "$suite/run.sh" build/holdfast
done
echo "==> all tests pass ($(elapsed))"
