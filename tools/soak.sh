#!/bin/bash
# `make soak`: the tests without a natural end, longer than `make test` runs them. Processes are
# killed and started again, the disk is cut at every call, random operations are compared on every
# store, streams live through simulated bad worlds. Prints how many points were tried.
# HOLDFAST_SOAK=N sets how many times longer (20 unless set).
set -euo pipefail
source "$(dirname "$0")/steps.sh"

export HOLDFAST_SOAK=${HOLDFAST_SOAK:-20}
programs=(kill_test store_crash store_oracle streams_simulation)
configure() {
  cmake --preset release -Wno-dev -DHOLDFAST_TESTS=ON >build/configure.log 2>&1 || { cat build/configure.log; return 1; }
}
compile() {
  cmake --build build/release --target "${programs[@]}" >build/compile.log 2>&1 ||
    { tail -n 50 build/compile.log; return 1; }
}

mkdir -p build
step "Install what the tests need" tools/install_deps.sh build test
step "Configure" configure
step "Compile" compile
for program in "${programs[@]}"; do
  step "$program, $HOLDFAST_SOAK times" "build/release/tests/$program" --gtest_brief=1
done
echo "==> nothing broke ($(elapsed))"
