#!/usr/bin/env python3
"""Keeps the peers' figures of one run in PEERS/results.json, for the tables of later runs.

Usage: bench_peers.py PEERS.jsonl PEERS
"""
import datetime
import json
import os
import pathlib
import sys

SERVER = "@durable-streams/server"


def processor():
    """What the machine calls its processor, and how many there are."""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{os.cpu_count()} x {line.split(':', 1)[1].strip()}"
    return f"{os.cpu_count()} processors"


def main():
    jsonl, place = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    versions = json.loads((place / "package.json").read_text())["dependencies"]
    figures = {}
    for line in map(json.loads, jsonl.read_text().splitlines()):
        figures[line["name"]] = {
            "peer": line.get("peer") or f"{SERVER} {versions[SERVER]}",
            "n": line["n"], "unit": line["unit"], "value": line["value"], "note": line.get("note", ""),
        }  # fmt: skip
    results = {
        "date": datetime.date.today().isoformat(),
        "machine": processor(),
        # Above the number of processors, CPU times come out too high and waiting too short.
        "load": round(os.getloadavg()[1], 1),
        "peers": sorted({figure["peer"] for figure in figures.values()}),
        "figures": figures,
    }
    (place / "results.json").write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
