#!/usr/bin/env python3
"""Reads every file of the project for what should not stand in it.

  - words of unfinished work, such as the usual four letters for "do it later";
  - paths of one machine, and the names of package registries (lock files carry no addresses);
  - links of Markdown pages to files that are not there;
  - trailing blanks, tabs outside of Makefiles, a missing newline at the end;
  - sources that have grown too long: a warning above 500 lines, a fault above 800.

Usage: check_text.py [ROOT]. Looks at the files that git knows, or all if ROOT is no repository.
"""
import pathlib
import re
import subprocess
import sys

LINES_WARN = 500
LINES_MAX = 800
SOURCES = {".h", ".cpp", ".py", ".js", ".mjs", ".ts", ".sh", ".cmake", ".css", ".html"}
TEXTS = SOURCES | {".md", ".txt", ".json", ".in", ".yml", ".yaml", ".toml", ".cfg", ""}
# Written in halves, so that this file passes its own check.
WORDS = [
    (re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b"), "a word of unfinished work"),
    # HTTP's own name of its status 501 has two capitals.
    (re.compile(r"\b[Nn]ot (?:yet )?imple" r"mented\b"), "a word of unfinished work"),
    (re.compile(r"(?<![\w.}/-])/(?:wo" r"rk|ro" r"ot|tmp/w" r"t)(?:/|\b(?![\w.-]))"),
     "a path of one machine"),
    (re.compile(r"\b(?:regi" r"stry\.[\w-]+\.[\w.-]+|py" r"pi\.org)"), "a package registry's name"),
    (re.compile(r'"resol' r'ved"\s*:'), "an address in a lock file"),
]  # fmt: skip
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
# Others' text, kept as it came.
AS_IT_CAME = {"LICENSE"}


def project_files(root):
    """The files to read: those git tracks or would track."""
    try:
        listed = subprocess.run(
            ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            check=True, capture_output=True, text=True).stdout  # fmt: skip
        names = [name for name in listed.split("\0") if name]
    except (subprocess.CalledProcessError, FileNotFoundError):
        names = [str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()]
    return [pathlib.Path(n) for n in sorted(set(names)) if (root / n).is_file()]


def line_faults(root, path, number, line):
    """What is wrong with one line."""
    for pattern, what in WORDS:
        found = pattern.search(line)
        if found:
            yield f"{path}:{number}: {what}: {found.group(0).strip()}"
    if path.suffix == ".md":
        for link in LINK.findall(line):
            if not (root / path.parent / link).exists():
                yield f"{path}:{number}: a link to nothing: {link}"
    if path.suffix in SOURCES and line != line.rstrip():
        yield f"{path}:{number}: blanks at the end of the line"
    if path.suffix in SOURCES - {".html", ".css"} and "\t" in line:
        yield f"{path}:{number}: a tab"


def check(root):
    """(faults, warnings) of all files under the root."""
    root = pathlib.Path(root)
    faults, warnings = [], []
    for path in project_files(root):
        if path.suffix not in TEXTS or path.name in AS_IT_CAME:
            continue
        data = (root / path).read_bytes()
        if b"\0" in data[:4096]:
            continue
        text = data.decode("utf-8", errors="replace")
        lines = text.split("\n")
        for number, line in enumerate(lines, 1):
            faults += line_faults(root, path, number, line)
        if path.suffix in SOURCES:
            if text and not text.endswith("\n"):
                faults.append(f"{path}:{len(lines)}: no newline at the end")
            if len(lines) - 1 > LINES_MAX:
                faults.append(f"{path}:1: {len(lines) - 1} lines, more than {LINES_MAX}")
            elif len(lines) - 1 > LINES_WARN:
                warnings.append(f"{path}:1: {len(lines) - 1} lines, more than {LINES_WARN}")
    return faults, warnings


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    faults, warnings = check(root.resolve())
    for warning in warnings:
        print(f"warning: {warning}")
    for fault in faults:
        print(fault)
    print(f"text: {len(faults)} faults, {len(warnings)} warnings")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
