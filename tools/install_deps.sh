#!/bin/bash
# Installs the Debian packages that are missing, and only those. What is there already is left alone,
# so that a second run does nothing.
#
#   tools/install_deps.sh [build] [test] [bench] [clang]
#
# build: the program, with g++. test: its tests. bench: the benchmarks. clang: the toolchain of the
# presets dev, asan, tsan and fuzz (from Debian's backports or apt.llvm.org).
set -euo pipefail

packages=()
for group in "${@:-build}"; do
  case $group in
    build) packages+=(g++ cmake ninja-build pkg-config python3 zstd libsqlite3-dev libboost1.81-dev libzstd-dev
                      libxxhash-dev libfmt-dev nlohmann-json3-dev libsimdjson-dev) ;;
    test) packages+=(libgtest-dev libgmock-dev curl ca-certificates)
          command -v node >/dev/null || packages+=(nodejs)
          command -v npm >/dev/null || packages+=(npm)
          command -v chromium >/dev/null || packages+=(chromium) ;;
    bench) packages+=(libbenchmark-dev) ;;
    clang) packages+=(clang-19 clang-tidy-19 clang-format-19 lld-19 llvm-19 libclang-rt-19-dev) ;;
    *) echo "unknown group '$group': build, test, bench or clang" >&2; exit 2 ;;
  esac
done

missing=()
for package in "${packages[@]}"; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "    nothing to install: all ${#packages[@]} packages are there"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "install these as root, then run this again: apt-get install ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "    installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 "$@" >"$log" 2>&1
}
apt install -y --no-install-recommends "${missing[@]}" ||
  { apt update && apt install -y --no-install-recommends "${missing[@]}"; } ||
  { cat "$log" >&2; exit 1; }
