#!/usr/bin/env python3
"""The shipped sessions have the lines they promise, and the generator makes the same bytes again."""
import hashlib
import json
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SESSIONS = {
    "long": ("session-24539.jsonl.zst", 24_539,
             "91c029128c8996ba80d33e086f3ed5bf1786297c0233db8b2d7d00069c6eacf4"),
    "live": ("live.jsonl.zst", 3_000,
             "d953c988a1287341e1594f16c43fc835322c8c4a358157ca9493498c2cac55bd"),
}
KINDS = {"turn_start", "user_message", "reasoning_delta", "tool_start", "tool_end", "text_delta",
         "turn_end"}


def shipped(name):
    path = ROOT / "data" / SESSIONS[name][0]
    return subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True).stdout


class SessionData(unittest.TestCase):
    def test_every_line_is_one_json_value_of_a_known_kind(self):
        for name, (_, count, _) in SESSIONS.items():
            lines = shipped(name).decode("utf-8").split("\n")
            self.assertEqual(lines.pop(), "", name)
            self.assertEqual(len(lines), count, name)
            self.assertEqual({json.loads(line)["type"] for line in lines}, KINDS, name)

    def test_a_session_ends_with_the_end_of_a_turn(self):
        for name in SESSIONS:
            last = json.loads(shipped(name).splitlines()[-1])
            self.assertEqual(last["type"], "turn_end", name)

    def test_the_generator_makes_the_shipped_bytes_again(self):
        for name, (_, _, sha256) in SESSIONS.items():
            self.assertEqual(hashlib.sha256(shipped(name)).hexdigest(), sha256, name)
            with tempfile.NamedTemporaryFile() as made:
                subprocess.run([ROOT / "tools" / "make_session.py", name, made.name], check=True)
                self.assertEqual(hashlib.sha256(made.read()).hexdigest(), sha256, name)


if __name__ == "__main__":
    unittest.main()
