"""`holdfast store`, and what the program says when the disk is full or a byte has flipped."""
import os
import pathlib
import resource
import subprocess

from program import PROGRAM, ROOT, ProgramTest, WAIT_S, main

LINES = b"".join(b'{"n":%d,"text":"some words that come again and again"}\n' % i for i in range(20_000))


class Store(ProgramTest):
    def fill(self):
        self.ok("stream", "create", "a")
        self.ok("stream", "append", "a", "-", stdin=LINES)

    def size(self):
        return sum(path.stat().st_size for path in self.dir.glob("store.db*")
                   if not path.name.endswith(("-shm", "-bell")))

    def test_info_is_readable_and_json(self):
        self.fill()
        self.assertIn("write-ahead log", self.ok("store", "info").out)
        info = self.ok("--json", "store", "info").json
        self.assertEqual(info["path"], str(self.store))
        self.assertGreaterEqual(info["logs"], 1)
        self.assertGreater(info["fileBytes"] + info["walBytes"], len(LINES) // 2)

    def test_S4_seal_and_compact_make_it_small(self):
        self.fill()
        sealed = self.ok("--json", "store", "seal").json
        self.assertLessEqual(sealed["bytesAfter"], sealed["bytesBefore"])
        compacted = self.ok("--json", "store", "compact").json
        self.assertLessEqual(compacted["bytesAfter"], compacted["bytesBefore"])
        self.assertLess(self.size(), len(LINES) // 3)
        self.assertEqual(self.ok("stream", "read", "a").bytes, LINES)
        self.assertIn("nothing to seal", self.ok("store", "seal").out)
        self.assertIn("compacted", self.ok("store", "compact").out)

    def test_a_sound_store_is_called_sound(self):
        self.fill()
        self.assertIn("sound: ", self.ok("store", "check").out)
        report = self.ok("--json", "store", "check").json
        self.assertTrue(report["sound"])
        self.assertEqual(report["faults"], [])
        self.assertGreaterEqual(report["records"], 20_000)

    def test_E2_flipped_bits_are_named_and_never_served(self):
        self.fill()
        self.ok("store", "compact")
        data = bytearray(self.store.read_bytes())
        at = data.find(b"some words", len(data) // 2)
        self.assertGreater(at, 0)
        data[at] ^= 0x10
        self.store.write_bytes(data)
        check = self.fails(10, "store", "check")
        self.assertIn("fault: ", check.out)
        self.assertIn("restore a backup", check.err)
        report = self.fails(10, "--json", "store", "check")
        self.assertFalse(report.json["sound"])
        self.assertTrue(report.json["faults"])
        read = self.fails(10, "stream", "read", "a")
        self.assertTrue(LINES.startswith(read.bytes))

    def test_what_is_no_store_is_refused(self):
        path = self.write("notes.txt", b"these are notes, not a store\n" * 400)
        self.fails(10, "--store", path, "stream", "ls")
        self.assertEqual(path.read_bytes(), b"these are notes, not a store\n" * 400)

    def test_a_backup_is_a_store(self):
        self.fill()
        copy = self.dir / "copy.db"
        self.assertIn("wrote ", self.ok("store", "backup", copy).out)
        self.assertEqual(self.ok("--store", copy, "stream", "read", "a").bytes, LINES)
        self.fails(4, "store", "backup", copy)

    def test_progress_is_told_when_asked_for(self):
        self.fill()
        for command in ("check", "seal", "compact"):
            self.assertEqual(self.ok("store", command).err, "", command)


class S4_TheSessionTakesLittleOfTheDisk(ProgramTest):
    def test_under_half_more_while_hot_and_under_a_third_when_sealed(self):
        self.ok("stream", "import", "session", str(ROOT / "data" / "session-24539.jsonl.zst"))
        lines = self.ok("stream", "read", "session", "--from", "0").bytes
        self.assertEqual(lines.count(b"\n"), 24_539)
        size = lambda: sum(path.stat().st_size for path in self.dir.glob("store.db*"))
        self.assertLess(size(), 1.5 * len(lines))
        self.ok("store", "seal")
        self.ok("store", "compact")
        self.assertLess(size(), len(lines) / 3)
        self.assertEqual(self.ok("stream", "read", "session", "--from", "0").bytes, lines)


class DiskFull(ProgramTest):
    def limited(self, size):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return limit

    def test_E1_at_a_size_limit_what_was_acknowledged_stays(self):
        self.ok("stream", "create", "a")
        self.ok("stream", "append", "a", "kept")
        full = self.fails(7, "--json", "stream", "append", "a", "-", stdin=LINES * 10,
                          preexec=self.limited(600_000))
        self.assertIn(full.error["code"], ("disk_full", "io", "stopped"))
        self.assertTrue((b"kept\n" + LINES * 10).startswith(self.ok("stream", "read", "a").bytes))
        self.ok("stream", "append", "a", "after")
        self.assertTrue(self.ok("stream", "read", "a").bytes.endswith(b"after\n"))
        self.ok("store", "check")

    def on_small_disk(self, script):
        """Runs the script in a mount namespace where ./small is a file system of 8 MB."""
        small = self.dir / "small"
        small.mkdir(exist_ok=True)
        wrapped = f"mount -t tmpfs -o size=8m none {small} && {script}"
        done = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", wrapped],
                              capture_output=True, timeout=WAIT_S, cwd=self.dir,
                              env=dict(os.environ, P=f"{PROGRAM} --store {small}/s.db"))
        return done

    def test_E1_on_a_full_disk_import_says_so_and_goes_on_when_there_is_space(self):
        if self.on_small_disk("true").returncode != 0:
            self.skipTest("no mount namespaces here")
        lines = b"".join(b"%d %s\n" % (i, os.urandom(60).hex().encode()) for i in range(12_000))
        self.write("lines.txt", lines)
        done = self.on_small_disk(
            "head -c 7200000 /dev/zero > small/ballast; "
            "$P stream import a lines.txt; echo status $?; $P stream tail a; "
            "rm small/ballast; $P stream import a lines.txt > /dev/null; echo status $?; "
            "$P stream read a --from 0 > out.txt; echo status $?")
        said = done.stdout.decode().split("\n")
        self.assertEqual(said[0], "status 7", done)
        self.assertIn(b"space", done.stderr)
        self.assertLess(int(said[1]), 12_000)
        self.assertEqual(said[2:4], ["status 0", "status 0"], done)
        self.assertEqual((self.dir / "out.txt").read_bytes(), lines)


if __name__ == "__main__":
    main()
