#!/usr/bin/env bash
# Says which sources are not as clang-format 19 would write them. `make format` rewrites them.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files -z -- '*.h' '*.cpp' | xargs -0 -r -P 2 -n 16 clang-format-19 --dry-run -Werror
echo "format: every source is as clang-format writes it"
