#!/usr/bin/env python3
"""The checks themselves are checked: each fault they promise to find is planted and found."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_layers  # noqa: E402
import check_text  # noqa: E402


class Planted(unittest.TestCase):
    """Makes a small tree in a temporary place."""

    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.place.name)
        self.addCleanup(self.place.cleanup)
        self.write("include/holdfast/result.h", "#pragma once\n")
        self.write("include/holdfast/stream.h", "#pragma once\n")
        self.write("src/core/log/names.h", "#pragma once\n")
        self.write("src/rt/loop.h", "#pragma once\n")
        self.write("src/store/sqlite/db.h", "#pragma once\n")
        self.write("src/sim/clock.h", "#pragma once\n")

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def layers(self, name, text):
        self.write(name, text)
        return [f for f in check_layers.check(self.root) if f.startswith(name)]

    def text(self, name, text):
        self.write(name, text)
        return check_text.check(self.root)


class Layers(Planted):
    def test_arrows_that_are_drawn_pass(self):
        self.assertEqual(self.layers("src/store/a.cpp", '#include "core/log/names.h"\n'), [])
        self.assertEqual(self.layers("src/engine/a.cpp", '#include "store/sqlite/db.h"\n'), [])
        self.assertEqual(self.layers("src/core/a.cpp", "#include <holdfast/result.h>\n"), [])
        self.assertEqual(self.layers("src/http/a.cpp", "#include <boost/asio.hpp>\n"), [])

    def test_an_arrow_upwards_is_caught(self):
        self.assertEqual(len(self.layers("src/core/a.cpp", '#include "store/sqlite/db.h"\n')), 1)
        self.assertEqual(len(self.layers("src/base/a.cpp", '#include "core/log/names.h"\n')), 1)

    def test_core_and_rt_do_not_know_each_other(self):
        self.assertEqual(len(self.layers("src/core/a.cpp", '#include "rt/loop.h"\n')), 1)
        self.assertEqual(len(self.layers("src/rt/a.cpp", '#include "core/log/names.h"\n')), 1)

    def test_base_knows_only_its_own_public_headers(self):
        self.assertEqual(len(self.layers("src/base/a.cpp", "#include <holdfast/stream.h>\n")), 1)

    def test_the_simulation_is_for_tests(self):
        self.assertEqual(len(self.layers("src/store/a.cpp", '#include "sim/clock.h"\n')), 1)
        self.assertEqual(self.layers("src/store/a_test.cpp", '#include "sim/clock.h"\n'), [])

    def test_the_core_cannot_name_io(self):
        for header in ("thread", "fstream", "mutex", "sys/mman.h", "boost/asio.hpp", "sqlite3.h"):
            with self.subTest(header):
                self.assertEqual(len(self.layers("src/core/a.cpp", f"#include <{header}>\n")), 1)

    def test_the_core_tells_no_time(self):
        line = "auto now = std::chrono::steady_clock::now();\n"
        self.assertEqual(len(self.layers("src/core/a.cpp", line)), 1)
        self.assertEqual(self.layers("src/core/a.cpp", "#include <chrono>\n"), [])

    def test_a_library_stays_in_its_layers(self):
        self.assertEqual(len(self.layers("src/engine/a.cpp", "#include <boost/asio.hpp>\n")), 1)
        self.assertEqual(len(self.layers("src/http/a.cpp", "#include <sqlite3.h>\n")), 1)
        self.assertEqual(len(self.layers("src/http/a.cpp", "#include <zstd.h>\n")), 1)

    def test_a_public_header_needs_public_headers_only(self):
        head = "#pragma once\n"
        for line in ('"core/log/names.h"', "<boost/asio.hpp>", "<sqlite3.h>", "<fmt/format.h>"):
            with self.subTest(line):
                faults = self.layers("include/holdfast/x.h", f"{head}#include {line}\n")
                self.assertEqual(len(faults), 1)
        self.assertEqual(
            self.layers("include/holdfast/asio.h", f"{head}#include <boost/asio.hpp>\n"), [])

    def test_a_header_guards_itself_and_paths_are_plain(self):
        self.assertEqual(len(self.layers("src/core/a.h", "int x();\n")), 1)
        self.assertGreaterEqual(len(self.layers("src/core/a.cpp", '#include "../rt/loop.h"\n')), 1)
        self.assertEqual(len(self.layers("src/core/a.cpp", "#include <holdfast/none.h>\n")), 1)
        self.assertEqual(len(self.layers("src/core/a.cpp", '#include "names.h"\n')), 1)


class Text(Planted):
    def test_plain_text_passes(self):
        self.assertEqual(self.text("src/core/a.cpp", "// A workflow's roots.\n"), ([], []))

    def test_what_should_not_stand_there_is_found(self):
        for line in ("// TO" "DO: later", "// FIX" "ME", "return fail(\"not imple" "mented\");",
                     "// see /wo" "rk/main/x", "cd /tmp/w" "t/a", "x = '/ro" "ot'",
                     "https://regi" "stry.example.org/x", "int x; ", "\tint x;"):  # fmt: skip
            with self.subTest(line):
                self.assertEqual(len(self.text("src/core/a.cpp", line + "\n")[0]), 1)

    def test_links_lead_somewhere(self):
        self.write("docs/a.md", "")
        self.assertEqual(self.text("README.md", "[a](docs/a.md#x) [b](https://x.org)\n")[0], [])
        self.assertEqual(len(self.text("README.md", "[c](docs/c.md)\n")[0]), 1)

    def test_lock_files_carry_no_addresses(self):
        self.assertEqual(len(self.text("a/package-lock.json", '{"resol' 'ved": "x"}\n')[0]), 1)

    def test_long_sources_are_named(self):
        self.assertEqual(len(self.text("src/core/a.cpp", "int x;\n" * 501)[1]), 1)
        self.assertEqual(len(self.text("src/core/a.cpp", "int x;\n" * 801)[0]), 1)

    def test_a_source_ends_with_a_newline(self):
        self.assertEqual(len(self.text("src/core/a.cpp", "int x;")[0]), 1)


if __name__ == "__main__":
    unittest.main()
