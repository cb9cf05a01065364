// How the page takes server-sent events apart.
import assert from "node:assert/strict";
import test from "node:test";
import { EventParser } from "../../web/assets/sse.js";

const kText = ": hello\n\nid: 1\ndata: one\n\nevent: end\r\ndata: {\"a\":1}\r\n\r\nid:3\rdata:two\rdata: lines\r\rdata\n\n";
const kEvents = [
  { type: "message", id: "1", data: "one" },
  { type: "end", id: "1", data: "{\"a\":1}" },
  { type: "message", id: "3", data: "two\nlines" },
  { type: "message", id: "3", data: "" },
];

test("events come out whole however the text is cut", () => {
  for (let size = 1; size <= kText.length; size += 1) {
    const parser = new EventParser();
    const events = [];
    for (let at = 0; at < kText.length; at += size) events.push(...parser.push(kText.slice(at, at + size)));
    assert.deepEqual(events, kEvents, `cut every ${size}`);
  }
});

test("an event that has not ended is not handed on", () => {
  const parser = new EventParser();
  assert.deepEqual(parser.push("id: 1\ndata: half"), []);
  assert.deepEqual(parser.push("\n"), []);
  assert.equal(parser.push("\n").length, 1);
});

test("a byte order mark before the first event is no part of it", () => {
  assert.deepEqual(new EventParser().push("\ufeffdata: x\n\n"), [{ type: "message", id: null, data: "x" }]);
});

test("only one space after the colon is taken away, and fields without a meaning are left out", () => {
  const events = new EventParser().push("retry: 5\nfoo: bar\ndata:  x\n\n");
  assert.deepEqual(events, [{ type: "message", id: null, data: " x" }]);
});
