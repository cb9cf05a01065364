"""`holdfast stream` but for import, export and follow."""
import json
import os
import pty
import subprocess
import unittest

from program import PROGRAM, ProgramTest, WAIT_S, main


class Create(ProgramTest):
    def test_a_stream_is_made_once(self):
        self.assertIn("created 'chat/1'", self.ok("stream", "create", "chat/1").out)
        self.assertIn("there already", self.ok("stream", "create", "chat/1").out)
        self.fails(4, "stream", "create", "chat/1", "--content-type", "text/plain")

    def test_json_tells_all(self):
        made = self.ok("--json", "stream", "create", "a", "--content-type", "application/json",
                       "--ttl", "1h", "--keep-chunks", "10", "--keep-bytes", "1MiB",
                       "--keep-age", "7d").json
        self.assertTrue(made["created"])
        stream = made["stream"]
        self.assertEqual(stream["name"], "a")
        self.assertEqual(stream["contentType"], "application/json")
        self.assertEqual((stream["first"], stream["tail"], stream["closed"]), (0, 0, False))
        self.assertEqual(stream["ttlSeconds"], 3600)
        self.assertEqual(stream["keep"], {"chunks": 10, "bytes": 1 << 20, "ageMs": 604800000})
        self.assertRegex(stream["id"], "^[0-9A-HJKMNP-TV-Z]{26}$")
        self.assertRegex(stream["created"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")

    def test_options_that_do_not_go_together_are_refused(self):
        self.assertIn("--ttl", self.fails(2, "stream", "create", "a", "--ttl", "1h", "--expires-at",
                                          "+1h").err)
        self.assertFalse(self.store.exists())

    def test_E5_names_cannot_escape_their_place(self):
        for name in ["", "..", "a/../b", "/a", "a/", "a//b", "a\nb", "a\x1b[2J", "x" * 501]:
            done = self.fails(2, "--json", "stream", "create", name)
            self.assertEqual(done.error["code"], "invalid_argument", name)
            self.assertNotIn("\x1b", done.err)
        self.ok("stream", "create", "x" * 500)
        self.ok("stream", "create", "日本/ä b'\"$(x)")
        self.assertEqual(self.ok("stream", "ls", "--names", "日本").out, "日本/ä b'\"$(x)\n")


class Append(ProgramTest):
    def setUp(self):
        super().setUp()
        self.ok("stream", "create", "a")

    def read(self, *more):
        return self.ok("stream", "read", "a", "--from", "0", *more)

    def test_arguments_are_chunks_of_one_commit(self):
        done = self.ok("--json", "stream", "append", "a", "one", "two").json
        self.assertEqual((done["first"], done["next"], done["chunks"]), (0, 2, 2))
        self.assertEqual(self.read().out, "one\ntwo\n")

    def test_E3_bytes_are_kept_exactly(self):
        chunks = ["[1,2,3]", "", "a\tb", "stream", "ends with space ", "\udcff\udcfe"]
        self.ok("stream", "append", "a", *chunks)
        self.assertEqual(self.read().bytes,
                         b"".join(os.fsencode(chunk) + b"\n" for chunk in chunks))
        blob = bytes(range(256)) + b"\r\n\0\n"
        self.ok("stream", "append", "a", "-", "--raw", stdin=blob)
        self.assertEqual(self.ok("stream", "read", "a", "--from", "-1", "--raw").bytes, blob)

    def test_lines_of_standard_input_are_chunks(self):
        done = self.ok("--json", "stream", "append", "a", "-", stdin=b"x\n\ny\0z\r\nlast").json
        self.assertEqual((done["chunks"], done["next"]), (4, 4))
        self.assertEqual(self.read().bytes, b"x\n\ny\0z\r\nlast\n")

    def test_a_line_is_there_before_the_next_one_comes(self):
        process = self.start("stream", "append", "a", "-", stdin=subprocess.PIPE)
        for count in (1, 2, 3):
            process.stdin.write(b"line\n")
            process.stdin.flush()
            self.eventually(lambda: self.tail("a") == count, f"{count} chunks")
        process.stdin.close()
        process.stdin = None
        self.assertEqual(self.finish(process).status, 0)

    def test_no_input_appends_nothing(self):
        done = self.ok("--json", "stream", "append", "a", "-").json
        self.assertEqual((done["chunks"], done["next"]), (0, 0))

    def test_nothing_to_append_is_refused(self):
        self.assertIn("nothing to append", self.fails(2, "stream", "append", "a").err)

    def test_a_closed_stream_takes_no_more(self):
        done = self.ok("--json", "stream", "append", "a", "last", "--close").json
        self.assertTrue(done["closed"])
        refused = self.fails(6, "--json", "stream", "append", "a", "more")
        self.assertEqual((refused.error["code"], refused.error["actual"]), ("closed", 1))

    def test_S11_a_producer_may_repeat_itself_and_is_fenced(self):
        say = lambda *words: ("--json", "stream", "append", "a", *words)
        self.assertEqual(self.ok(*say("x", "--producer", "p", "--seq", "0")).json["chunks"], 1)
        again = self.ok(*say("x", "--producer", "p", "--seq", "0")).json
        self.assertEqual((again["chunks"], again["duplicates"]), (0, 1))
        gap = self.fails(4, *say("z", "--producer", "p", "--seq", "5")).error
        self.assertEqual((gap["code"], gap["expected"], gap["actual"]), ("sequence_gap", 1, 5))
        self.ok(*say("y", "--producer", "p", "--epoch", "1", "--seq", "0"))
        stale = self.fails(4, *say("w", "--producer", "p", "--epoch", "0", "--seq", "1")).error
        self.assertEqual((stale["code"], stale["actual"]), ("fenced", 1))
        self.assertEqual(self.read().out, "x\ny\n")

    def test_S11_lines_of_a_producer_are_numbered_so_that_all_may_be_sent_again(self):
        first = b"".join(b"line %d\n" % i for i in range(7))
        self.ok("stream", "append", "a", "-", "--producer", "p", stdin=first)
        done = self.ok("--json", "stream", "append", "a", "-", "--producer", "p",
                       stdin=first + b"line 7\n").json
        self.assertEqual((done["chunks"], done["duplicates"]), (1, 7))
        self.assertEqual(self.read().bytes, first + b"line 7\n")

    def test_an_expected_tail_that_is_not_the_tail_is_stale(self):
        self.ok("stream", "append", "a", "-", "--expect-tail", "0", stdin=b"1\n2\n")
        stale = self.fails(4, "--json", "stream", "append", "a", "x", "--expect-tail", "0").error
        self.assertEqual((stale["code"], stale["actual"]), ("stale", 2))

    def test_json_streams_take_only_json_and_the_line_is_named(self):
        self.ok("stream", "create", "j", "--content-type", "application/json")
        bad = self.fails(2, "stream", "append", "j", "-", "--producer", "p", stdin=b"{}\n[1]\n{bad\n")
        self.assertIn("line 3", bad.err)
        self.assertEqual(self.tail("j"), 2)

    def test_create_makes_what_is_missing(self):
        self.fails(3, "stream", "append", "new", "x")
        self.ok("stream", "append", "new", "x", "--create")
        self.ok("stream", "append", "new", "y", "--create")
        self.assertEqual(self.tail("new"), 2)


class Read(ProgramTest):
    def setUp(self):
        super().setUp()
        self.ok("stream", "create", "a")
        self.ok("stream", "append", "a", *[f"c{i}" for i in range(10)])

    def read(self, *words):
        return self.ok("stream", "read", "a", *words).out.split()

    def test_from_is_an_offset_a_word_or_counts_from_the_tail(self):
        everything = [f"c{i}" for i in range(10)]
        self.assertEqual(self.read(), everything)
        self.assertEqual(self.read("--from", "0"), everything)
        self.assertEqual(self.read("--from", "beginning"), everything)
        self.assertEqual(self.read("--from", "7"), everything[7:])
        self.assertEqual(self.read("--from=-2"), everything[8:])
        self.assertEqual(self.read("--from", "-99"), everything)
        self.assertEqual(self.read("--from", "tail"), [])
        self.fails(2, "stream", "read", "a", "--from", "11")
        self.fails(2, "stream", "read", "a", "--from", "soon")

    def test_limits_and_ends(self):
        self.assertEqual(self.read("--limit", "3"), ["c0", "c1", "c2"])
        self.assertEqual(self.read("-n3", "--from", "4"), ["c4", "c5", "c6"])
        self.assertEqual(self.read("-n", "0"), [])
        self.assertEqual(self.read("--from", "4", "--to", "6"), ["c4", "c5"])

    def test_offsets_stand_before_chunks(self):
        self.assertEqual(self.ok("stream", "read", "a", "--from", "8", "--with-offsets").out,
                         "8\tc8\n9\tc9\n")

    def test_raw_adds_nothing(self):
        self.assertEqual(self.ok("stream", "read", "a", "--raw").out,
                         "".join(f"c{i}" for i in range(10)))

    def test_json_lines_carry_cursors_and_bytes(self):
        self.ok("stream", "append", "a", "-", "--raw", stdin=b"\xff\x00")
        lines = self.ok("--json", "stream", "read", "a", "--from", "-2").json_lines
        self.assertEqual(lines[0], {"offset": 9, "next": 10, "data": "c9"})
        self.assertEqual(lines[1], {"offset": 10, "next": 11, "dataBase64": "/wA="})

    def test_folded_merges_deltas(self):
        self.ok("stream", "create", "d", "--content-type", "application/json")
        self.ok("stream", "append", "d", '{"t":"x","delta":"he"}', '{"t":"x","delta":"llo"}',
                '{"t":"end"}')
        lines = [json.loads(line) for line in self.ok("stream", "read", "d", "--folded").out.split()]
        self.assertEqual(lines, [{"t": "x", "delta": "hello"}, {"t": "end"}])
        folded = self.ok("--json", "stream", "read", "d", "--folded").json_lines
        self.assertEqual([line["next"] for line in folded], [2, 3])

    def test_a_large_read_is_whole(self):
        lines = b"".join(b"%d %s\n" % (i, b"x" * (i % 300)) for i in range(30_000))
        self.ok("stream", "create", "big")
        self.ok("stream", "append", "big", "-", stdin=lines)
        self.assertEqual(self.ok("stream", "read", "big", "--from", "0").bytes, lines)

    def test_a_reader_that_stops_reading_is_no_failure(self):
        self.ok("stream", "create", "big")
        self.ok("stream", "append", "big", "-", stdin=b"x" * 1000 + b"\n" * 1 + b"y\n" * 200_000)
        process = self.start("stream", "read", "big")
        process.stdout.read(10)
        process.stdout.close()
        self.assertEqual(process.wait(timeout=WAIT_S), 0)
        self.assertEqual(process.stderr.read(), b"")

    def test_E1_output_to_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            process = self.start("stream", "read", "a", stdout=full)
            self.assertEqual(process.wait(timeout=WAIT_S), 7)
            self.assertIn(b"standard output", process.stderr.read())

    def test_a_missing_stream_is_named_with_the_nearest(self):
        self.ok("stream", "create", "chat/42")
        self.assertIn("Did you mean 'chat/42'?", self.fails(3, "stream", "read", "chat/43").err)
        error = self.fails(3, "--json", "stream", "read", "zzzzzzzz").error
        self.assertEqual((error["code"], error["remedy"]), ("not_found", "fix_request"))

    def test_S15_a_trimmed_offset_names_the_first_one_kept(self):
        self.assertIn("from offset 4", self.ok("stream", "trim", "a", "--before", "4").out)
        gone = self.fails(5, "--json", "stream", "read", "a", "--from", "2").error
        self.assertEqual((gone["code"], gone["actual"]), ("gone", 4))
        self.assertEqual(self.read(), [f"c{i}" for i in range(4, 10)])
        self.assertEqual(self.tail("a"), 10)


class Show(ProgramTest):
    def test_a_missing_store_is_an_error_that_makes_no_file(self):
        done = self.fails(3, "stream", "ls")
        self.assertIn(str(self.store), done.err)
        self.assertFalse(self.store.exists())

    def test_tail_is_a_number_and_more_in_json(self):
        self.ok("stream", "create", "a")
        self.ok("stream", "append", "a", "xyz")
        self.assertEqual(self.ok("stream", "tail", "a").out, "1\n")
        self.assertEqual(self.ok("--json", "stream", "tail", "a").json,
                         {"name": "a", "first": 0, "tail": 1, "closed": False, "bytes": 3})

    def test_info_shows_all(self):
        self.ok("stream", "create", "a", "--keep-age", "7d", "--content-type", "text/plain")
        out = self.ok("stream", "info", "a").out
        for shown in ("text/plain", "open", "the last 7 d", "offsets 0 to 0"):
            self.assertIn(shown, out)
        self.assertEqual(self.ok("stream", "info", "a", "--json").json["name"], "a")

    def test_ls_lists_by_prefix_and_page(self):
        for name in ("b/2", "a", "b/1", "c", "b/3"):
            self.ok("stream", "create", name)
        names = lambda *words: self.ok("stream", "ls", "--names", *words).out.split()
        self.assertEqual(names(), ["a", "b/1", "b/2", "b/3", "c"])
        self.assertEqual(names("b/"), ["b/1", "b/2", "b/3"])
        self.assertEqual(names("--limit", "2"), ["a", "b/1"])
        self.assertEqual(names("b/", "--after", "b/1", "--limit", "1"), ["b/2"])
        page = self.ok("stream", "ls", "--limit", "2")
        self.assertIn("--after b/1", page.err)
        self.assertEqual([line["name"] for line in self.ok("--json", "stream", "ls").json_lines],
                         names())

    def test_tables_are_aligned_and_plain_when_not_on_a_terminal(self):
        self.ok("stream", "create", "a-long-name", "--content-type", "text/plain")
        self.ok("stream", "create", "b", "--content-type", "text/plain")
        lines = self.ok("stream", "ls").out.splitlines()
        self.assertEqual(len(lines), 3)
        self.assertEqual(len({line.index("text/plain") for line in lines[1:]}
                             | {lines[0].index("TYPE")}), 1)
        self.assertNotIn("\x1b", "".join(lines))

    def test_an_empty_list_says_so_on_the_side(self):
        self.ok("stream", "create", "a")
        self.ok("stream", "rm", "a")
        done = self.ok("stream", "ls")
        self.assertEqual(done.out, "")
        self.assertIn("no streams", done.err)
        self.assertEqual(self.ok("--json", "stream", "ls").bytes, b"")


class Change(ProgramTest):
    def setUp(self):
        super().setUp()
        self.ok("stream", "create", "a")
        self.ok("stream", "append", "a", "1", "2", "3")

    def test_close_may_be_repeated(self):
        for _ in range(2):
            self.assertEqual(self.ok("--json", "stream", "close", "a").json,
                             {"name": "a", "tail": 3, "closed": True})

    def test_a_fork_shares_the_past_and_no_more(self):
        self.ok("stream", "fork", "a", "b", "--at", "2")
        self.ok("stream", "append", "b", "x")
        self.ok("stream", "append", "a", "4")
        self.ok("stream", "rm", "a")
        self.assertEqual(self.ok("stream", "read", "b").out, "1\n2\nx\n")
        info = self.ok("--json", "stream", "info", "b").json
        self.assertEqual((info["forkedFrom"], info["forkOffset"]), ("a", 2))

    def test_retain_shows_replaces_and_lifts_limits(self):
        self.assertIn("keeps everything", self.ok("stream", "retain", "a").out)
        self.assertIn("the last 2 chunks", self.ok("stream", "retain", "a", "--keep-chunks", "2").out)
        self.assertEqual(self.ok("--json", "stream", "retain", "a", "--keep-age", "1d").json["keep"],
                         {"ageMs": 86400000})
        self.assertNotIn("keep", self.ok("--json", "stream", "retain", "a", "--keep-all").json)
        self.fails(2, "stream", "retain", "a", "--keep-all", "--keep-chunks", "2")

    def test_rm_deletes_all_or_nothing_named(self):
        self.ok("stream", "create", "b")
        self.fails(3, "stream", "rm", "a", "missing")
        self.assertEqual(self.tail("a"), 3)
        self.assertEqual([line["deleted"] for line in
                          self.ok("--json", "stream", "rm", "a", "b").json_lines], ["a", "b"])
        self.fails(3, "stream", "read", "a")

    def on_terminal(self, answer, *words):
        """Runs with a terminal as its three files and types the answer."""
        main_end, program_end = pty.openpty()
        process = subprocess.Popen(self.command(words), stdin=program_end, stdout=program_end,
                                   stderr=program_end, env=self.env(TERM="xterm"), cwd=self.dir)
        self.addCleanup(self.end, process)
        os.close(program_end)
        shown = b""
        asked = False
        while True:
            try:
                part = os.read(main_end, 4096)
            except OSError:
                break
            shown += part
            if b"[y/N]" in shown and not asked:
                asked = True
                os.write(main_end, answer)
            if not part:
                break
        os.close(main_end)
        return process.wait(timeout=WAIT_S), shown.decode(), asked

    def test_rm_asks_on_a_terminal(self):
        status, shown, asked = self.on_terminal(b"n\n", "stream", "rm", "a")
        self.assertTrue(asked)
        self.assertEqual(status, 130)
        self.assertIn("nothing was deleted", shown)
        self.assertEqual(self.tail("a"), 3)
        status, shown, asked = self.on_terminal(b"", "stream", "rm", "a", "--yes")
        self.assertEqual((status, asked), (0, False))
        self.ok("stream", "create", "a")
        status, shown, asked = self.on_terminal(b"y\n", "stream", "rm", "a")
        self.assertEqual((status, asked), (0, True))
        self.fails(3, "stream", "tail", "a")

    def test_colour_is_for_terminals_and_can_be_refused(self):
        _, shown, _ = self.on_terminal(b"", "stream", "ls")
        self.assertIn("\x1b[", shown)
        plain = self.env(TERM="xterm", NO_COLOR="1")
        self.env = lambda **more: plain
        _, shown, _ = self.on_terminal(b"", "stream", "ls")
        self.assertNotIn("\x1b[", shown)


class Store(ProgramTest):
    def test_the_store_is_an_option_a_variable_or_here(self):
        other = self.dir / "other.db"
        self.ok("--store", other, "stream", "create", "o")
        self.ok("stream", "create", "v")
        bare = {k: v for k, v in self.env().items() if k != "HOLDFAST_STORE"}
        self.ok("stream", "create", "h", env=bare)
        for place, names in ((other, "o\n"), (self.store, "v\n"), (self.dir / "holdfast.db", "h\n")):
            self.assertEqual(self.ok("stream", "ls", "--names", "--store", place).out, names)


if __name__ == "__main__":
    main()
