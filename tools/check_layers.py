#!/usr/bin/env python3
"""Holds every #include of the project to the arrows between its layers.

    base <- core, base <- rt, {core, rt} <- store <- engine <- http <- cli

A layer is a folder of src/. What the check refuses:
  - an include that goes against an arrow, or one of the simulation (src/sim) outside of tests;
  - a public header (include/holdfast) that needs more than public headers, the standard library
    and what PUBLIC_EXTRAS names for it;
  - a library outside of the layers that may use it (LIBRARY_LAYERS);
  - a system header in the core that could do I/O, tell the time, start a thread or draw randomness;
  - a path with "..", a header without `#pragma once`, an include of a header that is not there.

Usage: check_layers.py [ROOT]. Prints one line per fault and exits with 1 if there is any.
"""
import pathlib
import re
import sys

BELOW = {
    "base": set(),
    "core": {"base"},
    "rt": {"base"},
    "store": {"core", "rt", "base"},
    "engine": {"store", "core", "rt", "base"},
    "http": {"engine", "store", "core", "rt", "base"},
    "cli": {"http", "engine", "store", "core", "rt", "base"},
    "sim": {"engine", "store", "core", "rt", "base"},
}
# The public headers that the lowest layer stands on; the others are open to every layer above.
BASE_HEADERS = {"bytes.h", "check.h", "clock.h", "ids.h", "random.h", "result.h", "version.h"}
# What a public header may include besides the standard library and other public headers.
PUBLIC_EXTRAS = {"asio.h": ("boost/",), "json.h": ("nlohmann/",)}
# The layers that may use a library; tests, benchmarks and examples may use all.
LIBRARY_LAYERS = {
    "boost/": {"rt", "http", "cli"},
    "sqlite3.h": {"store", "sim"},
    "zstd.h": {"store", "cli"},
    "xxhash.h": {"core", "store", "engine"},
    "gtest/": set(),
    "gmock/": set(),
    "benchmark/": set(),
}
NOT_IN_CORE = {
    "condition_variable", "ctime", "cstdio", "filesystem", "fstream", "future", "iostream",
    "mutex", "random", "shared_mutex", "thread", "time.h", "unistd.h", "fcntl.h", "stdio.h", "poll.h",
    "pthread.h", "semaphore",
}  # fmt: skip
# Durations are values; telling the time is not for the core.
CLOCK = re.compile(r"_clock::now\(|\bsystem_clock\(|\btime\(nullptr\)|\brandom_device\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def is_test(path):
    """Whether the file, relative to the root, is built into tests or benchmarks only."""
    return path.parts[0] != "src" or path.stem.endswith(("_test", "_testing"))


def system_faults(layer, header):
    """What is wrong with a system or library header in a file of the layer that is no test."""
    if layer == "core" and (header in NOT_IN_CORE or header.startswith("sys/")):
        yield f"the core does no I/O, time, threads or randomness: <{header}>"
    for library, layers in LIBRARY_LAYERS.items():
        if header.startswith(library) and layer not in layers:
            yield f"layer {layer} may not use <{header}>"


def public_faults(root, path, kind, header):
    """What is wrong with an include in a public header."""
    if kind == '"':
        yield f'public headers include public headers as <holdfast/...>, not "{header}"'
    elif header.startswith("holdfast/"):
        return
    elif not re.fullmatch(r"[a-z_]+", header):  # a standard header has no slash and no suffix
        if not header.startswith(PUBLIC_EXTRAS.get(path.name, ("\0",))):
            yield f"public header may not include <{header}>"


def source_faults(root, path, layer, kind, header):
    """What is wrong with an include in a file of src/."""
    if header.startswith("holdfast/"):
        if layer == "base" and header.removeprefix("holdfast/") not in BASE_HEADERS:
            yield f"layer base may not include <{header}>"
        return
    if kind == "<":
        if not is_test(path):
            yield from system_faults(layer, header)
        return
    target = header.split("/")[0]
    if not (root / "src" / header).is_file():
        generated = header.endswith((".inc", "_generated.h"))
        if not generated:
            yield f'"{header}" is no file of src/; includes are written from src/ on'
    elif target == "sim" and layer != "sim" and is_test(path):
        return
    elif target != layer and target not in BELOW[layer]:
        yield f'layer {layer} may not include "{header}" of layer {target}'


def file_faults(root, path):
    """Yields (line, fault) for one file, its path relative to the root."""
    text = (root / path).read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".h" and "#pragma once" not in text:
        yield 1, "header without #pragma once"
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if path.parts[:2] == ("src", "core") and CLOCK.search(line) and not is_test(path):
            yield number, f"the core tells no time: {line.strip()}"
        if not match:
            continue
        kind, header = match.groups()
        if ".." in header.split("/"):
            yield number, f"path with ..: {header}"
        if header.startswith("holdfast/") and not (root / "include" / header).is_file():
            yield number, f"<{header}> is not there"
        if path.parts[0] == "include":
            faults = public_faults(root, path, kind, header)
        elif path.parts[0] == "src" and len(path.parts) > 2:
            layer = path.parts[1]
            if layer not in BELOW:
                yield number, f"src/{layer} is no layer: name it in tools/check_layers.py"
                continue
            faults = source_faults(root, path, layer, kind, header)
        else:
            faults = ()
        for fault in faults:
            yield number, fault


def check(root):
    """All faults under the root, as lines fit for an editor."""
    root = pathlib.Path(root)
    faults = []
    for top in ("include", "src"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix in (".h", ".cpp"):
                path = file.relative_to(root)
                faults += [f"{path}:{line}: {fault}" for line, fault in file_faults(root, path)]
    return faults


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    faults = check(root)
    for fault in faults:
        print(fault)
    print(f"layers: {len(faults)} faults" if faults else "layers: every include follows the arrows")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
