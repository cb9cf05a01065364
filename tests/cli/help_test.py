"""What the program says about itself: help, manual page, completions, exit statuses, docs."""
import os
import re
import shutil
import subprocess
import unittest

from program import PROGRAM, ROOT, ProgramTest, WAIT_S, main

STREAM = ("create append read follow tail info ls close trim retain fork rm import export").split()
STORE = "info check seal compact backup".split()
COMMANDS = ([("stream", name) for name in STREAM] + [("store", name) for name in STORE]
            + [("serve",), ("completion",), ("man",)])


class Help(ProgramTest):
    def test_every_level_has_help_with_examples(self):
        for words in [(), ("stream",), ("store",), *COMMANDS]:
            out = self.ok(*words, "--help").out
            self.assertTrue(out.startswith(" ".join(("holdfast", *words)) + ": "), out)
            self.assertIn("Usage: holdfast", out)
            self.assertIn("-h, --help", out)
            self.assertLessEqual(max(map(len, out.splitlines())), 100, words)
            if words not in (("stream",), ("store",)):
                self.assertIn("Examples", out, words)
                self.assertRegex(out, r"\n  (\S+ \| |source <\()?(\./agent \| )?holdfast ")

    def test_help_lists_every_command(self):
        for group, names in (("stream", STREAM), ("store", STORE)):
            out = self.ok(group, "--help").out
            for name in names:
                self.assertRegex(out, rf"(?m)^  {name} +\S")

    def test_without_words_it_shows_help_and_fails(self):
        self.assertIn("Usage: holdfast", self.run_bare().stderr.decode())
        self.assertEqual(self.run_bare().returncode, 2)

    def run_bare(self):
        return subprocess.run([PROGRAM], capture_output=True, timeout=WAIT_S)

    def test_the_version_is_the_projects(self):
        version = re.search(r"project\(holdfast VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
        done = subprocess.run([PROGRAM, "--version"], capture_output=True, timeout=WAIT_S)
        self.assertEqual((done.returncode, done.stdout.decode()), (0, f"holdfast {version[1]}\n"))

    def test_unknown_commands_and_options_suggest_the_nearest(self):
        for words, meant in ((("steram", "ls"), "stream"), (("stream", "raed", "a"), "read"),
                             (("store", "chek"), "check"),
                             (("stream", "read", "a", "--limt", "1"), "--limit"),
                             (("stream", "ls", "--jsno"), "--json")):
            self.assertIn(f"did you mean '{meant}'?", self.fails(2, *words).err)

    def test_errors_are_json_with_json(self):
        error = self.fails(2, "stream", "raed", "--json").error
        self.assertEqual(error["code"], "invalid_argument")
        self.assertEqual(error["remedy"], "fix_request")


class Manual(ProgramTest):
    def test_the_page_names_every_command_and_option(self):
        page = self.ok("man").out.replace("\\-", "-")
        for words in COMMANDS:
            self.assertIn("holdfast " + " ".join(words), page)
            for option in re.findall(r"--[a-z-]+", self.ok(*words, "--help").out):
                self.assertIn(option, page)

    def test_the_page_has_no_faults(self):
        page = self.ok("man").bytes
        for line in page.splitlines():
            self.assertFalse(line.startswith((b".", b"'")) and not re.match(
                rb"\.(TH|SH|SS|PP|TP|RS|RE|nf|fi)( |$)", line), line)
        if not shutil.which("groff"):
            self.skipTest("no groff here")
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page,
                              capture_output=True, timeout=WAIT_S)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_the_page_reads_well(self):
        if not shutil.which("groff"):
            self.skipTest("no groff here")
        done = subprocess.run(["groff", "-man", "-Tascii", "-P-c", "-P-b", "-P-u"],
                              input=self.ok("man").bytes, capture_output=True, timeout=WAIT_S)
        text = done.stdout.decode()
        for heading in ("NAME", "SYNOPSIS", "EXIT STATUS", "EXAMPLES"):
            self.assertRegex(text, rf"(?m)^{heading}$")
        self.assertIn("--store PATH", text)


class Completions(ProgramTest):
    def setUp(self):
        super().setUp()
        for name in ("chat/1", "chat/2", "log"):
            self.ok("stream", "create", name)

    def bash(self, line):
        """What bash would offer at the end of the line."""
        script = self.write("c.bash", self.ok("completion", "bash").bytes)
        (self.dir / "holdfast").exists() or (self.dir / "holdfast").symlink_to(PROGRAM)
        words = line.split(" ")
        code = (f"source {script}; COMP_WORDS=({' '.join(repr(w) for w in words)}); "
                f"COMP_CWORD={len(words) - 1}; COMP_LINE={line!r}; COMP_POINT={len(line)}; "
                "compopt() { :; }; _holdfast; printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = subprocess.run(["bash", "--norc", "-c", code], capture_output=True, timeout=WAIT_S,
                              env=self.env(PATH=f"{self.dir}:{os.environ['PATH']}"), cwd=self.dir)
        self.assertEqual(done.stderr, b"")
        return sorted(filter(None, done.stdout.decode().split("\n")))

    def test_bash_completes_commands_options_choices_and_streams(self):
        self.assertEqual(self.bash("holdfast st"), ["store", "stream"])
        self.assertEqual(self.bash("holdfast stream re"), ["read", "retain"])
        self.assertEqual(self.bash("holdfast --json store c"), ["check", "compact"])
        self.assertEqual(self.bash("holdfast stream read --fr"), ["--from"])
        self.assertEqual(self.bash("holdfast --durability "), ["full", "relaxed"])
        self.assertEqual(self.bash("holdfast stream ls --durability r"), ["relaxed"])
        self.assertEqual(self.bash("holdfast completion "), ["bash", "fish", "zsh"])
        self.assertEqual(self.bash("holdfast stream read "), ["chat/1", "chat/2", "log"])
        self.assertEqual(self.bash("holdfast stream read ch"), ["chat/1", "chat/2"])
        self.assertEqual(self.bash(f"holdfast --store {self.store} stream rm chat/1 ch"),
                         ["chat/1", "chat/2"])
        self.assertEqual(self.bash("holdfast --store nowhere.db stream read "), [])
        self.write("lines.jsonl", b"{}\n")
        self.assertEqual(self.bash("holdfast stream import log li"), ["lines.jsonl"])

    def test_zsh_reads_the_script(self):
        if not shutil.which("zsh"):
            self.skipTest("no zsh here")
        script = self.write("_holdfast", self.ok("completion", "zsh").bytes)
        done = subprocess.run(["zsh", "-n", str(script)], capture_output=True, timeout=WAIT_S)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def fish(self, line):
        script = self.write("c.fish", self.ok("completion", "fish").bytes)
        (self.dir / "holdfast").exists() or (self.dir / "holdfast").symlink_to(PROGRAM)
        done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C {line!r}"],
                              capture_output=True, timeout=WAIT_S, cwd=self.dir,
                              env=self.env(PATH=f"{self.dir}:{os.environ['PATH']}",
                                           HOME=str(self.dir)))
        self.assertEqual(done.stderr, b"")
        return sorted(row.split("\t")[0] for row in done.stdout.decode().splitlines())

    def test_fish_completes_commands_options_choices_and_streams(self):
        if not shutil.which("fish"):
            self.skipTest("no fish here")
        self.assertEqual(self.fish("holdfast st"), ["store", "stream"])
        self.assertEqual(self.fish("holdfast stream re"), ["read", "retain"])
        self.assertEqual(self.fish("holdfast --durability "), ["full", "relaxed"])
        self.assertEqual(self.fish("holdfast stream read ch"), ["chat/1", "chat/2"])
        self.assertIn("--from", self.fish("holdfast stream read --fr"))
        self.assertEqual(self.fish("holdfast completion "), ["bash", "fish", "zsh"])


class Docs(ProgramTest):
    def docs(self):
        return (ROOT / "docs" / "cli.md").read_text()

    def test_the_exit_statuses_are_those_of_the_code(self):
        code = (ROOT / "src" / "base" / "result.cpp").read_text()
        expected = {}
        for name, status in re.findall(r'CodeRow\{ErrorCode::\w+, "(\w+)", Remedy::\w+, \d+, (\d+)\}',
                                       code):
            expected.setdefault(int(status), []).append(name)
        self.assertGreater(len(expected), 8)
        documented = {int(status): re.findall(r"`(\w+)`", names) for status, names in
                      re.findall(r"(?m)^\| (\d+) \|[^|]*\|([^|]*)\|$", self.docs())}
        self.assertEqual(documented.pop(0), [])
        self.assertEqual(documented, expected)

    def test_every_command_and_option_is_documented(self):
        docs = self.docs()
        for words in COMMANDS:
            self.assertIn("holdfast " + " ".join(words), docs)
            own = self.ok(*words, "--help").out.split("Options of every command")[0]
            for option in re.findall(r"(?m)^  (?:-\w, |    )(--[a-z-]+)", own):
                self.assertIn(f"`{option}", docs, words)


if __name__ == "__main__":
    main()
