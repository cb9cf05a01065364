#!/usr/bin/env python3
"""Prints the lines of a file steadily, as something that makes them would.

    tools/pace.py FILE SECONDS   all of FILE (zstd is unpacked if its name ends in .zst), in SECONDS
"""
import subprocess
import sys
import time


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: tools/pace.py FILE SECONDS")
    path, seconds = sys.argv[1], float(sys.argv[2])
    if path.endswith(".zst"):
        content = subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True).stdout
    else:
        with open(path, "rb") as file:
            content = file.read()
    lines = content.splitlines(keepends=True)
    began = time.monotonic()
    for number, line in enumerate(lines, start=1):
        early = began + seconds * number / len(lines) - time.monotonic()
        if early > 0:
            time.sleep(early)
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, KeyboardInterrupt):
        sys.exit(1)
