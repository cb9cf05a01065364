#!/bin/bash
# `make demo`, once the program is built: a server on a store in a temporary place, a long session imported,
# a short one played live. On a terminal it stays until Ctrl-C; elsewhere, or with HOLDFAST_DEMO_SECONDS=N
# (how long the play takes), it ends after the play. Either way it leaves nothing behind.
set -euo pipefail
source "$(dirname "$0")/steps.sh"

program=build/holdfast
seconds=${HOLDFAST_DEMO_SECONDS:-}
stay=
if [ -z "$seconds" ]; then
  if [ -t 0 ] && [ -t 1 ]; then
    stay=yes
    seconds=150
  else
    seconds=10
  fi
fi

place=$(mktemp -d "${TMPDIR:-/tmp}/holdfast-demo.XXXXXX")
store=$place/demo.db
server=
play=
clean_up() {
  trap '' INT TERM
  [ -z "$play" ] || kill "$play" 2>/dev/null || true
  [ -z "$server" ] || kill -TERM "$server" 2>/dev/null || true
  wait
  rm -rf "$place"
}
trap clean_up EXIT
trap 'echo; echo "==> stopping the server and removing $place"; exit 0' INT TERM

start_server() {
  "$program" --store "$store" serve --port 0 >"$place/server.log" 2>&1 &
  server=$!
  for _ in $(seq 600); do
    url=$(sed -n 's|^serving .* at \(http://[^ ]*\)$|\1|p' "$place/server.log")
    [ -z "$url" ] || return 0
    kill -0 "$server" 2>/dev/null || break
    sleep 0.05
  done
  cat "$place/server.log" >&2
  return 1
}

import_session() { "$program" --store "$store" stream import demo/session data/session-24539.jsonl.zst; }

step "Start a server on a store in $place" start_server
step "Import a session of 24,539 lines" import_session
"$program" --store "$store" stream create demo/live --content-type application/json >/dev/null
python3 tools/pace.py data/live.jsonl.zst "$seconds" |
  "$program" --store "$store" stream append demo/live - >"$place/play.log" 2>&1 &
play=$!

cat <<END

    A second session of 3,000 lines is being written right now, for $seconds s. Watch it:

      $url/#/stream/demo/live

    And try, in another terminal:

      $program --store $store stream follow demo/live --from tail
      $program --store $store stream tail demo/session
      curl -N '$url/v1/stream/demo/live?live=events&last=3'

END

wait "$play"
play=
"$program" --store "$store" stream ls
if [ -n "$stay" ]; then
  echo "==> the play is over after $(elapsed); the server goes on until Ctrl-C"
  wait "$server"
  echo "==> the server ended; it said:" >&2
  cat "$place/server.log" >&2
  exit 1
fi
echo "==> the play is over; stopping the server ($(elapsed))"
