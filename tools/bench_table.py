#!/usr/bin/env python3
"""Prints the figures of a benchmark run as one table, and puts the peers' beside them.

Usage: bench_table.py BENCH.jsonl PEERS.json [--gate-counts] [--markdown]

The peers' figures (`make bench-peers` measures them) are matched by name; they are also written
into the lines of BENCH.jsonl, as "peer" and "peer_name". With --gate-counts the exit status is 1 if
a figure that does not depend on the machine's speed is beyond its limit.
"""
import json
import pathlib
import sys

COUNTS = {"count", "per_append", "ratio"}


def number(value):
    """Three digits that matter."""
    if value is None:
        return ""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"


def met(line):
    """Whether the figure is within its limit; None if it has none."""
    if line.get("limit") is None:
        return None
    over = line["value"] < line["limit"] if line["at_least"] else line["value"] > line["limit"]
    return not over


def with_peers(lines, peers):
    """The lines, each with the figure that another product has for the same work."""
    for line in lines:
        found = peers.get("figures", {}).get(line["name"])
        line["peer"] = found["value"] if found else None
        if found:
            line["peer_name"] = found["peer"]
        yield line


def rows(lines):
    yield ["figure", "n", "value", "unit", "growth", "limit", "", "machine", "peer"]
    for line in lines:
        bound = number(line["limit"])
        if bound:
            bound = ("≥ " if line["at_least"] else "≤ ") + bound
        yield [line["name"], f"{line['n']:,}", number(line["value"]), line["unit"],
               number(line["growth"]), bound, {True: "met", False: "NOT MET", None: ""}[met(line)],
               number(line["machine"]), number(line["peer"])]  # fmt: skip


def table(lines):
    """Text, its columns aligned: words to the left, numbers to the right."""
    all_rows = list(rows(lines))
    widths = [max(len(row[i]) for row in all_rows) for i in range(len(all_rows[0]))]
    left = {0, 3, 6}
    for i, row in enumerate(all_rows):
        yield "  ".join(
            cell.ljust(w) if at in left else cell.rjust(w)
            for at, (cell, w) in enumerate(zip(row, widths))).rstrip()  # fmt: skip
        if i == 0:
            yield "  ".join("-" * w for w in widths)


def markdown(lines):
    for i, row in enumerate(rows(lines)):
        yield "| " + " | ".join(row) + " |"
        if i == 0:
            yield "|" + "---|" * len(row)


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    bench, peers_file = pathlib.Path(arguments[0]), pathlib.Path(arguments[1])
    peers = json.loads(peers_file.read_text()) if peers_file.is_file() else {}
    lines = list(with_peers([json.loads(x) for x in bench.read_text().splitlines() if x], peers))
    bench.write_text("".join(json.dumps(line) + "\n" for line in lines))
    print("\n".join(markdown(lines) if "--markdown" in sys.argv else table(lines)))
    print("\ngrowth: the figure over that of a history a hundred times shorter. machine: the bare"
          " machine's own figure for the same work, same run.")  # fmt: skip
    if peers:
        print(f"peer: {', '.join(peers['peers'])}, measured {peers['date']} on {peers['machine']},"
              f" load {peers['load']}.")
    missed = [line["name"] for line in lines if met(line) is False]
    counts = [line["name"] for line in lines if met(line) is False and line["unit"] in COUNTS]
    print(f"limits: {sum(met(line) is True for line in lines)} met, {len(missed)} not met"
          + (f": {', '.join(missed)}" if missed else ""))  # fmt: skip
    return 1 if counts and "--gate-counts" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
