#!/usr/bin/env python3
"""Turns the C++ blocks of a page into tests: doc_snippets.py PAGE OUT.cpp

Each block becomes one test, over a memory store of its own, with `streams` and `check` at hand.
"""

import pathlib
import re
import sys

HEAD = """// Made of {page}; do not edit.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include <holdfast/stream.h>

using namespace holdfast;
"""

TEST = """
TEST({suite}, Block{number}) {{
  const std::unique_ptr<Store> store = make_memory_store();
  Streams streams{{*store}};
  const auto check = [](bool holds) {{ EXPECT_TRUE(holds); }};
#line {line} "{path}"
{code}}}
"""


def main():
    page, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    text = page.read_text()
    blocks = list(re.finditer(r"^```cpp\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    if not blocks:
        sys.exit(f"{page}: no C++ blocks")
    suite = page.stem.capitalize() + "Page"
    parts = [HEAD.format(page=page.name)]
    for number, block in enumerate(blocks, 1):
        line = text.count("\n", 0, block.start(1)) + 1
        parts.append(
            TEST.format(suite=suite, number=number, line=line, path=page, code=block.group(1))
        )
    out.write_text("".join(parts))


if __name__ == "__main__":
    main()
