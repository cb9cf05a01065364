"""Runs the real program, each test with a store of its own in a temporary directory.

Every file of tests here is called with the program's path: `python3 import_test.py PROGRAM`.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None
ROOT = pathlib.Path(__file__).resolve().parents[2]
WAIT_S = 60  # the longest that anything here may take before it counts as stuck


class Done:
    """What a finished run left: its status, and its outputs as bytes and text."""

    def __init__(self, status, out, err):
        self.status, self.bytes, self.err_bytes = status, out, err

    @property
    def out(self):
        return self.bytes.decode()

    @property
    def err(self):
        return self.err_bytes.decode()

    @property
    def json(self):
        return json.loads(self.bytes)

    @property
    def json_lines(self):
        return [json.loads(line) for line in self.bytes.splitlines()]

    @property
    def error(self):
        """The error object of a --json run."""
        return json.loads(self.err_bytes)["error"]


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="holdfast-cli-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.store = self.dir / "store.db"

    def env(self, **more):
        env = {k: v for k, v in os.environ.items() if k not in ("HOLDFAST_STORE", "NO_COLOR")}
        env.update(HOLDFAST_STORE=str(self.store), **more)
        return env

    def command(self, words):
        return [PROGRAM, "--durability", "relaxed", *map(str, words)]

    def run_it(self, *words, stdin=b"", env=None, cwd=None, preexec=None):
        """Runs a command line to its end."""
        done = subprocess.run(self.command(words), input=stdin, capture_output=True, timeout=WAIT_S,
                              env=env or self.env(), cwd=cwd or self.dir, preexec_fn=preexec)
        return Done(done.returncode, done.stdout, done.stderr)

    def ok(self, *words, **options):
        done = self.run_it(*words, **options)
        self.assertEqual(done.status, 0, f"{words}: {done.err}")
        return done

    def fails(self, status, *words, **options):
        done = self.run_it(*words, **options)
        self.assertEqual(done.status, status, f"{words}: {done.out}{done.err}")
        self.assertNotEqual(done.err_bytes, b"")
        return done

    def start(self, *words, **options):
        """Starts a command line and leaves it running; it is ended with the test at the latest."""
        process = subprocess.Popen(self.command(words), stdin=options.pop("stdin", subprocess.DEVNULL),
                                   stdout=options.pop("stdout", subprocess.PIPE),
                                   stderr=subprocess.PIPE, env=self.env(), cwd=self.dir, **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe:
                pipe.close()

    def finish(self, process):
        """Waits for a started program."""
        out, err = process.communicate(timeout=WAIT_S)
        return Done(process.returncode, out, err)

    def eventually(self, condition, what):
        """Waits until the condition holds."""
        until = time.monotonic() + WAIT_S
        while not condition():
            self.assertLess(time.monotonic(), until, f"never: {what}")
            time.sleep(0.005)

    def tail(self, name):
        return int(self.ok("stream", "tail", name).out)

    def write(self, name, data):
        path = self.dir / name
        path.write_bytes(data)
        return path


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])


__all__ = ["Done", "ProgramTest", "PROGRAM", "ROOT", "WAIT_S", "main", "signal"]
