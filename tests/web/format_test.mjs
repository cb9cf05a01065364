// Numbers, sizes and JSON as the page writes them.
import assert from "node:assert/strict";
import test from "node:test";
import { bytes, count, pretty, shell_word } from "../../web/assets/format.js";

test("sizes have three digits at most", () => {
  assert.deepEqual([0, 999, 1000, 2_102_977, 999_999, 12_345_678_901].map(bytes),
    ["0 B", "999 B", "1.0 kB", "2.1 MB", "1.0 MB", "12.3 GB"]);
  assert.equal(count(24539), "24,539");
});

test("JSON is set on lines as JSON.stringify does it", () => {
  for (const value of [{}, [], { a: [], b: {} }, { a: [1, { b: "x, {y}: \" \\" }], c: null }, "text", [[]], [1, 2]]) {
    assert.equal(pretty(JSON.stringify(value)), JSON.stringify(value, null, 2));
    assert.equal(pretty(JSON.stringify(value, null, 5)), JSON.stringify(value, null, 2));
  }
});

test("numbers and the order of members stay as they were written", () => {
  assert.equal(pretty("{\"2\":12345678901234567890,\"1\":1.0}"), "{\n  \"2\": 12345678901234567890,\n  \"1\": 1.0\n}");
});

test("what is no JSON is left alone", () => assert.equal(pretty("{not json"), null));

test("shell words that need quotes get them", () => {
  assert.equal(shell_word("http://127.0.0.1/a"), "http://127.0.0.1/a");
  assert.equal(shell_word("a&b'c"), "'a&b'\\''c'");
});
