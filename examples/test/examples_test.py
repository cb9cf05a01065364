#!/usr/bin/env python3
"""Runs the examples, and compares the README's code with the code that was compiled.

Usage: examples_test.py DIRECTORY_OF_PROGRAMS
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAMS = pathlib.Path(".")


class Examples(unittest.TestCase):
    def test_quickstart_prints_what_this_and_earlier_runs_appended(self):
        said = "Is it raining in Oslo?\nIt is. Take a coat.\n"
        with tempfile.TemporaryDirectory() as place:
            for runs in (1, 2, 3):
                run = subprocess.run(
                    [PROGRAMS / "quickstart"], cwd=place, capture_output=True, text=True, timeout=30)  # fmt: skip
                self.assertEqual(run.stderr, "")
                self.assertEqual(run.stdout, said * runs)
                self.assertEqual(run.returncode, 0)

    def test_append_and_follow_prints_ten_numbers_however_often_it_runs(self):
        numbers = [f"{i}: number {i}" for i in range(10)]
        with tempfile.TemporaryDirectory() as place:
            for _ in range(2):
                run = subprocess.run(
                    [PROGRAMS / "append_and_follow"], cwd=place, capture_output=True, text=True, timeout=30)  # fmt: skip
                self.assertEqual(run.returncode, 0, run.stderr)
                followed = [line for line in run.stdout.splitlines() if not line.startswith("(")]
                self.assertEqual(followed, numbers)

    def test_async_follow_gives_every_chunk_to_every_follower(self):
        run = subprocess.run([PROGRAMS / "async_follow"], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout, "100 followers took 100000 chunks of 1000 appended\n")

    def test_the_readme_shows_quickstart_as_it_is_compiled(self):
        shown = re.findall(r"^```cpp\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
        self.assertIn((ROOT / "examples/quickstart.cpp").read_text(), shown)


if __name__ == "__main__":
    PROGRAMS = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1])
