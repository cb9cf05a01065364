#!/bin/bash
# The Durable Streams protocol's conformance tests against a real server on a SQLite store; then the
# server is killed (-9), started again on the same store, and all tests run once more.
#
#   tests/conformance/run.sh PROGRAM      PROGRAM: the built `holdfast`
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "${1:?usage: $0 PROGRAM}")
long_poll_ms=2000
work=$(mktemp -d)
server=

stop_server() {
  [ -z "$server" ] || kill -9 "$server" 2>/dev/null || true
  [ -z "$server" ] || wait "$server" 2>/dev/null || true
  server=
}
trap 'stop_server; rm -rf "$work"' EXIT

# The packages are kept beside the build, and installed again when the lockfile changes.
modules=$here/../../build/conformance
mkdir -p "$modules"
cp "$here"/package.json "$here"/package-lock.json "$here"/protocol.test.mjs "$modules"
if ! cmp -s "$here/package-lock.json" "$modules/installed.json"; then
  echo "installing the conformance tests' packages"
  (cd "$modules" && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error)
  cp "$here/package-lock.json" "$modules/installed.json"
fi

start_server() {
  "$program" --store "$work/store.db" serve --port 0 --long-poll-ms "$long_poll_ms" \
    >"$work/ready" 2>"$work/errors" &
  server=$!
  for _ in $(seq 200); do
    url=$(grep -o 'http://[0-9.]*:[0-9]*' "$work/ready" || true)
    [ -z "$url" ] || return 0
    kill -0 "$server" 2>/dev/null || break
    sleep 0.05
  done
  echo "the server did not start:"
  cat "$work/errors"
  return 1
}

run_tests() {
  (cd "$modules" && HOLDFAST_URL=$url HOLDFAST_LONG_POLL_MS=$long_poll_ms NO_COLOR=1 \
    npx vitest run protocol.test.mjs --testTimeout 60000 --reporter=dot 2>&1 | tee "$work/report")
  # A run that found no tests would pass, too.
  grep -Eq 'Tests +[3-9][0-9][0-9] passed' "$work/report"
}

echo "==> the protocol's tests on a new store"
start_server
run_tests
echo "==> the server is killed and started again on the same store"
stop_server
start_server
echo "==> the protocol's tests once more"
run_tests
kill -TERM "$server"
wait "$server"
server=
echo "==> conformance: all tests passed, twice, and the server stopped cleanly"
