#!/usr/bin/env python3
"""Runs clang-tidy over the project's sources, two at a time, and remembers what was clean.

A source is read again only if it, a project header that it includes, or .clang-tidy has changed
since it last passed (the memory is BUILD/tidy-clean). Tests are left out unless --tests is given:
GoogleTest's macros take most of the time and give the fewest findings.

Usage: tidy.py BUILD_DIR [--tests] [--all] [FILE...]
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<(holdfast/[^>]+)>|"([^"]+)")', re.M)


def included(file, seen):
    """Adds the file and the project headers it includes, directly or not."""
    if file in seen or not file.is_file():
        return
    seen.add(file)
    for public, private in INCLUDE.findall(file.read_text(errors="replace")):
        if public:
            included(ROOT / "include" / public, seen)
        else:
            for base in (ROOT / "src", ROOT / "tests", ROOT, file.parent):
                included(base / private, seen)


def fingerprint(file):
    """Changes when anything of ours that the source is made of changes."""
    files = set()
    included(file, files)
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
    for part in sorted(files):
        digest.update(str(part.relative_to(ROOT)).encode() + b"\0" + part.read_bytes())
    return digest.hexdigest()


def chosen(build, tests, only):
    """The sources of the compile database that are ours."""
    wanted = {(ROOT / name).resolve() for name in only}
    entries = json.loads((build / "compile_commands.json").read_text())
    for file in sorted({pathlib.Path(entry["file"]) for entry in entries}):
        if build in file.parents or ROOT not in file.parents:
            continue
        path = file.relative_to(ROOT)
        is_test = path.parts[0] == "tests" or path.stem.endswith("_test")
        if (file in wanted) if wanted else (tests or not is_test):
            yield file


def tidy(build, file):
    run = subprocess.run(
        ["clang-tidy-19", "-p", str(build), "--quiet", str(file)],
        capture_output=True, text=True, cwd=ROOT)  # fmt: skip
    return run.returncode, run.stdout + ("" if run.returncode == 0 else run.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--tests", action="store_true", help="tests too")
    parser.add_argument("--all", action="store_true", help="forget what was clean")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    memory = args.build / "tidy-clean"
    clean = set() if args.all or not memory.exists() else set(memory.read_text().split())
    marks = {file: fingerprint(file) for file in chosen(args.build, args.tests, args.files)}
    todo = [file for file, mark in marks.items() if mark not in clean]
    began, faulty = time.monotonic(), 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for file, (status, output) in zip(todo, pool.map(lambda f: tidy(args.build, f), todo)):
            if status == 0:
                clean.add(marks[file])
            else:
                faulty += 1
                print(output.strip(), flush=True)
    memory.write_text("\n".join(sorted(clean)) + "\n")
    spent = time.monotonic() - began
    print(f"tidy: {len(marks)} sources, {len(todo)} read in {spent:.0f} s, {faulty} with findings")
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
