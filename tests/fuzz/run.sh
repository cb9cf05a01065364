#!/bin/bash
# Runs every fuzz target of a build for so many seconds, two at a time.
#
#   tests/fuzz/run.sh BUILD_DIR SECONDS
#
# A target that finds something leaves its input in BUILD_DIR/fuzz/found and fails the run; give that
# file to the target as its only argument to see it again.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
seconds=$2
mkdir -p "$build/fuzz/found"

run_one() {
  local target=$1 name grown log
  name=$(basename "$target" _fuzz)
  grown=$build/fuzz/grown/$name log=$build/fuzz/$name.log
  mkdir -p "$grown"
  local seeds=()
  [ -d "$here/corpus/$name" ] && seeds=("$here/corpus/$name")
  if "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$build/fuzz/found/$name-" "$grown" "${seeds[@]}" >"$log" 2>&1; then
    echo "fuzz: $name: $(grep -oP 'stat::number_of_executed_units: *\K[0-9]+' "$log") inputs, nothing found"
  else
    tail -n 60 "$log"
    echo "fuzz: $name: FAILED; its input is in $build/fuzz/found"
    return 1
  fi
}
export -f run_one
export here build seconds

targets=("$build"/fuzz/*_fuzz)
[ -x "${targets[0]}" ] || { echo "fuzz: no targets in $build/fuzz"; exit 1; }
printf '%s\0' "${targets[@]}" | xargs -0 -P 2 -I{} bash -c 'run_one "$1"' _ {}
