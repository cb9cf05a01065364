"""`holdfast stream follow`, in a process of its own beside the writer's."""
import json
import os
import subprocess

from program import ProgramTest, WAIT_S, main, signal


class Follow(ProgramTest):
    def setUp(self):
        super().setUp()
        self.ok("stream", "create", "a")

    def follow(self, *words, before=()):
        """A follower that has printed its first line, so that it is known to follow."""
        self.ok("stream", "append", "a", "ready")
        process = self.start(*before, "stream", "follow", "a", "--from", "-1", *words)
        first = process.stdout.readline()
        self.assertIn(b"ready", first)
        return process

    def test_chunks_come_as_they_are_appended(self):
        process = self.follow()
        for i in range(20):
            self.ok("stream", "append", "a", f"chunk {i}")
            self.assertEqual(process.stdout.readline(), b"chunk %d\n" % i)

    def test_what_is_there_comes_first(self):
        self.ok("stream", "append", "a", "1", "2", "3")
        process = self.start("stream", "follow", "a", "--from", "1", "--limit", "3")
        self.assertEqual([process.stdout.readline() for _ in range(2)], [b"2\n", b"3\n"])
        self.ok("stream", "append", "a", "4", "5")
        done = self.finish(process)
        self.assertEqual((done.status, done.out, done.err), (0, "4\n", ""))

    def test_it_ends_with_the_stream_and_says_so(self):
        process = self.follow()
        self.ok("stream", "append", "a", "last", "--close")
        done = self.finish(process)
        self.assertEqual((done.status, done.out), (0, "last\n"))
        self.assertIn("'a' is closed: it ends at offset 2", done.err)

    def test_the_end_is_json_with_json(self):
        process = self.follow(before=("--json",))
        self.ok("stream", "append", "a", "x")
        self.assertEqual(json.loads(process.stdout.readline()),
                         {"offset": 1, "next": 2, "data": "x"})
        self.ok("stream", "close", "a")
        done = self.finish(process)
        self.assertEqual(json.loads(done.err_bytes), {"closed": {"name": "a", "cursor": 2}})

    def test_a_closed_stream_is_read_to_its_end(self):
        self.ok("stream", "append", "a", "1", "2", "--close")
        done = self.ok("stream", "follow", "a", "--from", "0")
        self.assertEqual(done.out, "1\n2\n")
        self.assertIn("is closed", done.err)

    def test_signals_end_it_cleanly(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.follow()
            process.send_signal(number)
            done = self.finish(process)
            self.assertEqual((done.status, done.out, done.err), (0, "", ""))

    def test_a_reader_that_goes_away_ends_it_though_nothing_comes(self):
        process = self.follow()
        process.stdout.close()
        process.stdout = None
        self.assertEqual(process.wait(timeout=WAIT_S), 0)
        self.assertEqual(process.stderr.read(), b"")

    def test_S12_a_killed_writer_leaves_no_follower_stuck(self):
        process = self.follow()
        writer = self.start("stream", "append", "a", "-", stdin=subprocess.PIPE)
        writer.stdin.write(b"before\n")
        writer.stdin.flush()
        self.assertEqual(process.stdout.readline(), b"before\n")
        writer.kill()
        writer.wait()
        self.ok("stream", "append", "a", "after")
        self.assertEqual(process.stdout.readline(), b"after\n")

    def test_S10_order_holds_with_several_writers(self):
        process = self.follow("--limit", "300")
        writers = [self.start("stream", "append", "a", "-", stdin=subprocess.PIPE) for _ in range(3)]
        for number, writer in enumerate(writers):
            writer.stdin.write(b"".join(b"%d %d\n" % (number, i) for i in range(100)))
            writer.stdin.close()
            writer.stdin = None
        lines = [process.stdout.readline() for _ in range(299)]
        for number in range(3):
            mine = [line for line in lines if line.startswith(b"%d " % number)]
            self.assertEqual(mine, [b"%d %d\n" % (number, i) for i in range(100)][:len(mine)])
        self.assertEqual(len(set(lines)), 299)
        self.assertEqual(self.finish(process).status, 0)

    def test_S6_the_follower_prints_what_a_read_prints(self):
        process = self.start("stream", "follow", "a", "--from", "0")
        blob = b"".join(os.urandom(40).replace(b"\n", b"") + b"\n" for _ in range(5000))
        self.ok("stream", "append", "a", "-", "--close", stdin=blob)
        done = self.finish(process)
        self.assertEqual(done.bytes, blob)
        self.assertEqual(done.bytes, self.ok("stream", "read", "a", "--from", "0").bytes)

    def test_folded_catches_up_then_follows(self):
        self.ok("stream", "create", "d", "--content-type", "application/json")
        self.ok("stream", "append", "d", '{"delta":"a"}', '{"delta":"b"}')
        process = self.start("stream", "follow", "d", "--from", "0", "--folded")
        self.assertEqual(json.loads(process.stdout.readline()), {"delta": "ab"})
        self.ok("stream", "append", "d", '{"delta":"c"}')
        self.assertEqual(process.stdout.readline(), b'{"delta":"c"}\n')

    def test_a_stream_that_is_deleted_ends_it_with_an_error(self):
        process = self.follow()
        self.ok("stream", "rm", "a")
        self.assertEqual(self.finish(process).status, 3)


if __name__ == "__main__":
    main()
