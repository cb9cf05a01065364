"""`holdfast stream import` and `export`: files into streams and back, cut off wherever it hurts."""
import json
import os
import random
import re
import shutil
import subprocess
import time

from program import PROGRAM, ROOT, ProgramTest, WAIT_S, main, signal


def json_lines(count, seed=1):
    dice = random.Random(seed)
    return b"".join(
        json.dumps({"n": i, "text": "word " * dice.randrange(20)}).encode() + b"\n"
        for i in range(count))


class Import(ProgramTest):
    def read(self, name):
        return self.ok("stream", "read", name, "--from", "0").bytes

    def test_a_file_of_json_lines_comes_back_exactly(self):
        lines = json_lines(5000) + b'  {"spaces" : [1, 2.50, 1e3]}  \n"text"\nnull\n'
        path = self.write("chat.jsonl", lines)
        done = self.ok("stream", "import", "chat", path)
        self.assertIn("5,003 lines", done.out)
        self.assertEqual(self.read("chat"), lines)
        self.assertEqual(self.ok("--json", "stream", "info", "chat").json["contentType"],
                         "application/json")

    def test_run_again_it_changes_nothing(self):
        path = self.write("a.jsonl", json_lines(100))
        first = self.ok("--json", "stream", "import", "a", path).json
        self.assertEqual((first["lines"], first["tail"]), (100, 100))
        again = self.ok("--json", "stream", "import", "a", path).json
        self.assertEqual((again["lines"], again["tail"]), (0, 100))
        self.assertIn("nothing new", self.ok("stream", "import", "a", path).out)
        self.assertEqual(self.tail("a"), 100)

    def test_a_file_that_has_grown_gives_only_what_is_new(self):
        lines = json_lines(300)
        path = self.write("a.jsonl", lines[:lines.index(b"\n", 5000) + 1])
        self.ok("stream", "import", "a", path)
        path.write_bytes(lines)
        self.ok("stream", "import", "a", path)
        self.assertEqual(self.read("a"), lines)

    def test_E3_raw_lines_may_hold_any_bytes(self):
        lines = b"\n\0\xff\n\r\n not json {\n" + bytes(b for b in range(256) if b != 10) + b"\n"
        path = self.write("a.txt", lines)
        self.ok("stream", "import", "a", path)
        self.assertEqual(self.read("a"), lines)

    def test_a_last_line_without_a_newline_counts(self):
        path = self.write("a.txt", b"one\ntwo")
        self.ok("stream", "import", "a", path)
        self.assertEqual(self.read("a"), b"one\ntwo\n")
        self.ok("stream", "import", "a", path)
        self.assertEqual(self.tail("a"), 2)

    def test_the_format_goes_by_the_name_or_the_option(self):
        path = self.write("a.ndjson", b"{bad\n")
        self.fails(2, "stream", "import", "a", path)
        self.ok("stream", "import", "b", path, "--format", "raw")
        self.assertEqual(self.read("b"), b"{bad\n")
        self.fails(2, "stream", "import", "c", "-", "--format", "jsonl", stdin=b"{bad\n")
        self.ok("stream", "import", "d", stdin=b"{bad\n")

    def test_standard_input_is_imported_and_goes_on_where_it_was(self):
        lines = json_lines(1000)
        self.ok("stream", "import", "a", "-", "--format", "jsonl", stdin=lines)
        self.ok("stream", "import", "a", "-", "--format", "jsonl", stdin=lines)
        self.assertEqual(self.read("a"), lines)

    def test_zstd_files_are_read_as_what_is_in_them(self):
        if not shutil.which("zstd"):
            self.skipTest("no zstd here")
        lines = json_lines(3000)
        self.write("a.jsonl", lines)
        subprocess.run(["zstd", "-q", str(self.dir / "a.jsonl")], check=True, timeout=WAIT_S)
        self.ok("stream", "import", "a", self.dir / "a.jsonl.zst")
        self.ok("stream", "import", "a", self.dir / "a.jsonl.zst")
        self.assertEqual(self.read("a"), lines)
        cut = self.write("cut.jsonl.zst", (self.dir / "a.jsonl.zst").read_bytes()[:-20])
        self.assertIn("breaks off", self.fails(2, "stream", "import", "b", cut).err)

    def test_the_session_that_ships_comes_back_exactly(self):
        packed = ROOT / "data" / "session-24539.jsonl.zst"
        done = self.ok("--json", "stream", "import", "demo", packed).json
        self.assertEqual(done["lines"], 24_539)
        if shutil.which("zstd"):
            plain = subprocess.run(["zstd", "-dcq", str(packed)], capture_output=True, check=True)
            self.assertEqual(self.read("demo"), plain.stdout)

    def test_bad_json_is_named_by_line_and_byte(self):
        good = json_lines(500)
        for number, bad in enumerate((b'{"a":1,}', b"{'a':1}", b'{"a":1} x', b'"\xff"', b"[NaN]")):
            name = f"bad{number}"
            path = self.write("bad.jsonl", good + bad + b"\n" + good)
            done = self.fails(2, "stream", "import", name, path)
            self.assertIn("line 501", done.err, bad)
            byte = int(re.search(r"byte (\d+)", done.err)[1])
            self.assertTrue(len(good) <= byte <= len(good) + len(bad), (bad, byte, len(good)))
            self.assertIn("bad.jsonl", done.err)

    def test_what_stands_before_a_bad_line_is_kept_and_a_mended_file_goes_on(self):
        good = json_lines(500)
        path = self.write("a.jsonl", good + b"{bad\n" + good)
        self.fails(2, "stream", "import", "a", path)
        kept = self.tail("a")
        self.assertLessEqual(kept, 500)
        path.write_bytes(good + b"{}\n" + good)
        self.ok("stream", "import", "a", path)
        self.assertEqual(self.read("a"), good + b"{}\n" + good)

    def test_another_file_is_not_taken_for_the_rest(self):
        self.ok("stream", "import", "a", self.write("a.jsonl", json_lines(200, seed=1)))
        before = self.read("a")
        self.run_it("stream", "import", "a", self.write("b.jsonl", json_lines(300, seed=2)))
        self.assertTrue(self.read("a").startswith(before))

    def test_missing_files_and_folders_are_named(self):
        self.assertIn("nothing.jsonl", self.fails(3, "stream", "import", "a", "nothing.jsonl").err)
        self.assertIn("directory", self.fails(2, "stream", "import", "a", self.dir).err)
        self.assertFalse(self.store.exists())

    def test_S12_kill_9_anywhere_and_again_gives_each_line_once(self):
        lines = json_lines(60_000)
        path = self.write("a.jsonl", lines)
        begun = time.monotonic()
        self.ok("stream", "import", "whole", path)
        whole_s = time.monotonic() - begun
        dice = random.Random(7)
        cut = 0
        for _ in range(12):
            process = self.start("stream", "import", "a", path)
            time.sleep(dice.random() * whole_s * 0.5)
            process.kill()
            cut += process.wait() == -signal.SIGKILL
            shown = self.run_it("stream", "read", "a", "--from", "0")
            if shown.status == 0:  # it may have been killed before it made the stream
                self.assertTrue(lines.startswith(shown.bytes))
        self.assertGreater(cut, 0)
        self.ok("stream", "import", "a", path)
        self.assertEqual(self.read("a"), lines)
        self.assertIn("sound", self.ok("store", "check").out)

    def test_an_interrupt_keeps_what_was_done_and_says_how_to_go_on(self):
        process = self.start("stream", "import", "a", "-", "--format", "jsonl",
                             stdin=subprocess.PIPE)
        lines = json_lines(2000)
        process.stdin.write(lines)
        process.stdin.flush()
        self.eventually(lambda: self.run_it("stream", "tail", "a").out not in ("", "0\n"), "lines")
        process.send_signal(signal.SIGINT)
        done = self.finish_reading(process)
        self.assertEqual(done.returncode, 130)
        said = done.stderr.read().decode()
        self.assertIn("interrupted", said)
        self.assertIn("run the same command again", said)
        self.ok("stream", "import", "a", "-", "--format", "jsonl", stdin=lines)
        self.assertEqual(self.read("a"), lines)

    def finish_reading(self, process):
        process.wait(timeout=WAIT_S)
        return process

    def test_a_second_process_may_append_meanwhile(self):
        """The import's own lines stay whole and in order, whatever others append between them."""
        lines = json_lines(30_000)
        path = self.write("a.jsonl", lines)
        self.ok("stream", "create", "a", "--content-type", "application/json")
        process = self.start("stream", "import", "a", path)
        others = 0
        while process.poll() is None:
            self.ok("stream", "append", "a", '"other"')
            others += 1
        self.assertEqual(process.returncode, 0, process.stderr.read())
        got = self.read("a").splitlines(keepends=True)
        self.assertEqual(b"".join(line for line in got if line != b'"other"\n'), lines)
        self.assertEqual(got.count(b'"other"\n'), others)

    def test_progress_off_a_terminal_is_silent_unless_asked_for(self):
        path = self.write("a.jsonl", json_lines(1000))
        self.assertEqual(self.ok("stream", "import", "a", path).err, "")
        process = self.start("stream", "import", "b", "-", "--progress", stdin=subprocess.PIPE)
        self.eventually(lambda: self.feed(process) or self.err_so_far(process), "a progress line")
        process.stdin.close()
        process.stdin = None
        self.assertEqual(self.finish(process).status, 0)

    @staticmethod
    def feed(process):
        process.stdin.write(b"line\n")
        process.stdin.flush()

    def err_so_far(self, process):
        os.set_blocking(process.stderr.fileno(), False)
        said = process.stderr.read()
        os.set_blocking(process.stderr.fileno(), True)
        if said:
            self.assertIn(b"lines/s", said)
            self.assertNotIn(b"\x1b", said)
        return said


class Export(ProgramTest):
    def test_it_is_the_reverse_of_import(self):
        lines = json_lines(4000)
        self.ok("stream", "import", "a", self.write("a.jsonl", lines))
        out = self.dir / "b.jsonl"
        self.assertIn("exported 4,000 chunks", self.ok("stream", "export", "a", out).out)
        self.assertEqual(out.read_bytes(), lines)
        self.assertEqual(self.ok("stream", "export", "a").bytes, lines)
        self.assertEqual(self.ok("stream", "export", "a", "-").bytes, lines)
        self.assertEqual(sorted(p.name for p in self.dir.glob("*.jsonl*")), ["a.jsonl", "b.jsonl"])

    def test_zst_names_are_compressed_and_can_be_imported(self):
        lines = json_lines(4000)
        self.ok("stream", "import", "a", self.write("a.jsonl", lines))
        packed = self.dir / "a.jsonl.zst"
        self.ok("stream", "export", "a", packed)
        self.assertLess(packed.stat().st_size, len(lines) // 3)
        self.ok("stream", "import", "b", packed)
        self.assertEqual(self.ok("stream", "read", "b").bytes, lines)

    def test_json_carries_offsets(self):
        self.ok("stream", "append", "a", "x", "y\nz", "--create")
        lines = self.ok("--json", "stream", "export", "a").json_lines
        self.assertEqual(lines, [{"offset": 0, "next": 1, "data": "x"},
                                 {"offset": 1, "next": 2, "data": "y\nz"}])

    def test_chunks_with_newlines_are_refused_unless_forced(self):
        self.ok("stream", "append", "a", "x", "y\nz", "--create")
        out = self.write("b.txt", b"what was there")
        refused = self.fails(2, "stream", "export", "a", out)
        self.assertIn("offset 1", refused.err)
        self.assertIn("--force", refused.err)
        self.assertEqual(out.read_bytes(), b"what was there")
        self.assertEqual(len(list(self.dir.glob("b.txt*"))), 1)
        self.ok("stream", "export", "a", out, "--force")
        self.assertEqual(out.read_bytes(), b"x\ny\nz\n")

    def test_E1_a_full_disk_leaves_the_old_file_alone(self):
        import resource
        self.ok("stream", "append", "a", "-", "--create", stdin=b"0123456789" * 30 + b"\n")
        self.ok("stream", "append", "a", "-", stdin=(b"0123456789" * 30 + b"\n") * 3000)
        self.ok("store", "compact")
        out = self.write("b.txt", b"what was there")

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        done = self.fails(7, "--json", "stream", "export", "a", out, preexec=limit)
        self.assertEqual(done.error["code"], "disk_full")
        self.assertEqual(out.read_bytes(), b"what was there")
        self.assertEqual(len(list(self.dir.glob("b.txt*"))), 1)


if __name__ == "__main__":
    main()
