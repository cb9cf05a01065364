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

    def test_the_readme_shows_quickstart_as_it_is_compiled(self):
        shown = re.findall(r"^```cpp\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
        self.assertIn((ROOT / "examples/quickstart.cpp").read_text(), shown)


if __name__ == "__main__":
    PROGRAMS = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1])
