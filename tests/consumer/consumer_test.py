#!/usr/bin/env python3
"""Installs a build into a temporary place and builds a consumer against it in both ways: with
CMake's find_package, and with pkg-config. Then runs each.

Usage: consumer_test.py BUILD_DIR CXX_COMPILER CONFIG
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def run(*command, **options):
    """The command's output; its failure is the test's, with all it said."""
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=280, **options)  # fmt: skip
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Installed(unittest.TestCase):
    build, compiler, config = None, "c++", "Debug"

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="holdfast-consumer-")
        cls.addClassCleanup(cls.place.cleanup)
        cls.prefix = pathlib.Path(cls.place.name) / "prefix"
        run("cmake", "--install", cls.build, "--prefix", cls.prefix)
        cls.installed = {str(p.relative_to(cls.prefix)) for p in cls.prefix.rglob("*") if p.is_file()}

    def check_consumer(self, program):
        with tempfile.TemporaryDirectory(dir=self.place.name) as work:
            self.assertRegex(run(program, cwd=work), r'^[0-9A-Z]{26} {"delta":"holdfast"}\n$')

    def test_find_package_gives_the_library(self):
        work = pathlib.Path(self.place.name) / "by-cmake"
        run("cmake", "-S", HERE, "-B", work, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_CXX_COMPILER={self.compiler}", f"-DCMAKE_BUILD_TYPE={self.config}",
            "-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON")  # fmt: skip
        run("cmake", "--build", work)
        self.check_consumer(work / "consumer")

    def test_pkg_config_gives_the_library(self):
        found = [p for p in self.installed if p.endswith("/pkgconfig/holdfast.pc")]
        self.assertEqual(len(found), 1)
        environment = dict(os.environ, PKG_CONFIG_PATH=str((self.prefix / found[0]).parent))
        flags = run("pkg-config", "--cflags", "--libs",
                    "holdfast", env=environment).split()  # fmt: skip
        program = pathlib.Path(self.place.name) / "by-pkg-config"
        run(self.compiler, "-std=c++23", HERE / "main.cpp", *flags, "-o", program)
        self.check_consumer(program)

    def test_only_the_public_headers_are_installed(self):
        ours = {f"include/holdfast/{p.name}" for p in (HERE.parent.parent / "include/holdfast").glob("*.h")}
        self.assertEqual({p for p in self.installed if p.startswith("include/")}, ours)

    def test_the_program_comes_with_manual_and_completions(self):
        for name in ("bin/holdfast", "share/man/man1/holdfast.1",
                     "share/bash-completion/completions/holdfast",
                     "share/zsh/site-functions/_holdfast",
                     "share/fish/vendor_completions.d/holdfast.fish"):  # fmt: skip
            with self.subTest(name):
                self.assertIn(name, self.installed)
                self.assertGreater((self.prefix / name).stat().st_size, 100)


if __name__ == "__main__":
    Installed.build, Installed.compiler, Installed.config = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1])
