#!/usr/bin/env python3
"""Writes the sessions under data/: agent conversations as they were streamed, a JSON line per delta.

    tools/make_session.py long FILE   24,539 lines, about 2.1 MB: a long-lived chat, to import
    tools/make_session.py live FILE    3,000 lines, about 0.25 MB: a short one, to play

The words are those of data/licences.txt.zst and stand in for what people and models wrote. Invariant:
the same bytes at every run, on every machine and Python; so the random numbers are made here.
"""
import json
import pathlib
import re
import subprocess
import sys

SESSIONS = {"long": (24_539, 0x5E5510), "live": (3_000, 0x11FE)}
TOOLS = ["read_file", "search", "shell", "fetch"]
WORDS = pathlib.Path(__file__).resolve().parent.parent / "data" / "licences.txt.zst"


class SplitMix:
    """A 64-bit generator whose numbers depend on nothing but its seed."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    def between(self, low, high):
        return low + self.next() % (high - low + 1)


class Text:
    """Endless words, read in turn; each comes with the white space behind it."""

    def __init__(self, text, start):
        words = re.findall(r"\S+\s*", text)
        self.words = [word for word in words if re.search(r"\w", word)]  # no rulers
        self.at = start % len(self.words)

    def take(self, count):
        taken = "".join(self.words[(self.at + i) % len(self.words)] for i in range(count))
        self.at = (self.at + count) % len(self.words)
        return re.sub(r"\s+", lambda gap: "\n\n" if gap[0].count("\n") > 1 else " ", taken)


def turn_lines(number, rng, text):
    """One turn: what was asked, thinking, perhaps tools, the answer, its end."""
    turn = f"turn_{number:04d}"

    def line(kind, **members):
        return {"type": kind, "turn": turn, **members}

    yield line("turn_start", messageId=f"msg_{number:06d}")
    yield line("user_message", text=text.take(rng.between(6, 60)).strip())
    for _ in range(rng.between(20, 90)):
        yield line("reasoning_delta", delta=text.take(rng.between(3, 7)))
    for call in range(rng.between(0, 4) // 3):
        call_id = f"call_{number:04d}_{call}"
        query = {"query": text.take(4).strip()}
        yield line("tool_start", call=call_id, tool=TOOLS[rng.between(0, 3)], input=query)
        yield line("tool_end", call=call_id, output=text.take(rng.between(30, 250)).strip())
    written = rng.between(80, 420)
    for _ in range(written):
        yield line("text_delta", delta=text.take(rng.between(3, 7)))
    usage = {"input": rng.between(500, 90_000), "output": written * 6}
    yield line("turn_end", stopReason="end_turn", usage=usage)


def session(name):
    """The lines of a session. Its last turn is cut where the lines are used up, and ended."""
    count, seed = SESSIONS[name]
    rng = SplitMix(seed)
    source = subprocess.run(["zstd", "-dcq", WORDS], check=True, capture_output=True).stdout
    text = Text(source.decode("ascii"), rng.next())
    lines, number = [], 0
    while len(lines) < count:
        number += 1
        lines += turn_lines(number, rng, text)
    end = {"type": "turn_end", "turn": lines[count - 1]["turn"], "stopReason": "end_turn",
           "usage": {"input": 500, "output": 100}}
    return lines[:count - 1] + [end]


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in SESSIONS:
        sys.exit("usage: tools/make_session.py long|live FILE")
    with open(sys.argv[2], "w", encoding="utf-8", newline="\n") as out:
        for line in session(sys.argv[1]):
            out.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
