#!/usr/bin/env bash
# Compiles every header alone: each must include what it needs. (The public ones are verified once
# more by CMake, as the installed header set.)
set -euo pipefail
cd "$(dirname "$0")/.."
# An empty source includes the header, so that a header's own `#pragma once` is no warning.
compile() {
  printf '#include "%s"\n' "$1" |
    clang++-19 -std=c++23 -D_GLIBCXX_ASSERTIONS -fsyntax-only -I. -Iinclude -Isrc -Itests -x c++ - ||
    { echo "$1: does not compile alone"; exit 1; }
}
export -f compile
git ls-files -z -- 'include/*.h' 'src/*.h' | xargs -0 -r -P 2 -I{} bash -c 'compile "$1"' _ {}
echo "headers: each compiles alone"
