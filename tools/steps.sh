# Sourced by the scripts behind the Makefile: each step says what it does and how long it took.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
steps_began=$SECONDS

# step WORDS COMMAND...: ends the script with the command's status if that fails.
step() {
  local words=$1 began=$SECONDS status=0
  shift
  printf '==> %s\n' "$words"
  "$@" || status=$?
  if [ "$status" -ne 0 ]; then
    printf '==> failed with status %d after %d s: %s\n' "$status" $((SECONDS - began)) "$words" >&2
    exit "$status"
  fi
  printf '    done in %d s\n' $((SECONDS - began))
}

# elapsed: since the script began.
elapsed() { printf '%d min %02d s' $(((SECONDS - steps_began) / 60)) $(((SECONDS - steps_began) % 60)); }
