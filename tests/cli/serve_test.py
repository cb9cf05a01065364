"""`holdfast serve`: that the command reaches the server; tests/http has the server's own tests."""
import http.client
import json

from program import ProgramTest, WAIT_S, main, signal


class Serve(ProgramTest):
    def serve(self, *words):
        process = self.start("--json", "serve", "--port", "0", *words)
        self.ready = json.loads(process.stdout.readline())
        return process

    def get(self, path, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.ready["port"], timeout=WAIT_S)
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body

    def test_it_serves_what_other_processes_append(self):
        process = self.serve("--long-poll-ms", "200")
        self.assertEqual(self.ready["url"], f"http://127.0.0.1:{self.ready['port']}")
        self.assertEqual(self.get("/healthz")[0], 200)
        self.ok("stream", "append", "chat/1", "hello", "--create", "--content-type", "text/plain")
        self.assertEqual(self.get("/v1/stream/chat/1"), (200, b"hello"))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(process).status, 0)

    def test_a_person_is_told_the_address(self):
        process = self.start("serve", "--port", "0")
        self.assertRegex(process.stdout.readline(), rb"^serving \S+store.db at http://127.0.0.1:\d+\n$")
        process.send_signal(signal.SIGINT)
        done = self.finish(process)
        self.assertEqual((done.status, done.err), (0, "holdfast: stopped\n"))

    def test_a_token_is_demanded_from_its_file(self):
        token = self.write("token", b"s3cret\nnot this\n")
        self.serve("--token-file", token)
        self.ok("stream", "create", "a")
        self.assertEqual(self.get("/v1/stream/a")[0], 401)
        self.assertEqual(self.get("/v1/stream/a", Authorization="Bearer s3cret")[0], 200)

    def test_other_addresses_want_a_token(self):
        done = self.fails(2, "serve", "--port", "0", "--address", "0.0.0.0")
        self.assertIn("token", done.err)

    def test_wrong_values_are_named(self):
        self.assertIn("--port", self.fails(2, "serve", "--port", "70000").err)
        self.assertIn("--heartbeat-ms", self.fails(2, "serve", "--heartbeat-ms", "60000").err)
        self.fails(3, "serve", "--token-file", "nothing")
        self.assertIn("token", self.fails(2, "serve", "--token-file", self.write("t", b"\n")).err)

    def test_a_port_that_is_taken_is_named(self):
        self.serve()
        done = self.fails(7, "serve", "--port", str(self.ready["port"]))
        self.assertIn(str(self.ready["port"]), done.err)


if __name__ == "__main__":
    main()
