// The window of lines that the page holds.
import assert from "node:assert/strict";
import test from "node:test";
import { Lines, foldable, item_text } from "../../web/assets/lines.js";

const delta = (turn, text, type = "text_delta") => JSON.stringify({ type, turn, delta: text });
const fill = (lines, from, texts) => texts.forEach((text, i) => lines.append(from + i, from + i + 1, text));

test("a line that does not begin where the window ends is refused", () => {
  const lines = new Lines();
  lines.reset(5);
  assert.equal(lines.append(5, 6, "a"), true);
  assert.equal(lines.append(5, 6, "a"), false);
  assert.equal(lines.append(7, 8, "c"), false);
  assert.equal(lines.append(6, 6, "b"), false);
  assert.deepEqual(lines.items.map((item) => item.text), ["a"]);
  assert.equal(lines.next, 6);
});

test("folded, consecutive deltas of one part become one item, others stay apart", () => {
  const lines = new Lines({ folded: true });
  fill(lines, 0, [delta("1", "a"), delta("1", "b"), delta("2", "c"), delta("2", "d", "reasoning_delta"), "{}", "{}"]);
  assert.deepEqual(lines.items.map((item) => [item.from, item.next, item_text(item)]), [
    [0, 2, delta("1", "ab")], [2, 3, delta("2", "c")], [3, 4, delta("2", "d", "reasoning_delta")],
    [4, 5, "{}"], [5, 6, "{}"],
  ]);
});

test("folding in any two pieces gives what folding in one gives", () => {
  const texts = ["{\"type\":\"turn_start\"}", ...Array.from({ length: 9 }, (_, i) => delta("1", `${i} `)), "x", delta("1", "z")];
  const whole = new Lines({ folded: true });
  fill(whole, 0, texts);
  for (let cut = 1; cut < texts.length; cut += 1) {
    const lines = new Lines({ folded: true });
    lines.reset(cut);
    fill(lines, cut, texts.slice(cut));
    assert.equal(lines.prepend(texts.slice(0, cut).map((text, i) => ({ from: i, next: i + 1, text }))), true);
    assert.deepEqual(lines.items.map((item) => [item.from, item.next, item_text(item)]),
      whole.items.map((item) => [item.from, item.next, item_text(item)]), `cut at ${cut}`);
    assert.equal(lines.bytes, whole.bytes);
  }
});

test("lines before the window are refused unless they end where it begins", () => {
  const lines = new Lines();
  lines.reset(5);
  fill(lines, 5, ["a"]);
  assert.equal(lines.prepend([{ from: 2, next: 3, text: "x" }]), false);
  assert.equal(lines.prepend([]), false);
  assert.equal(lines.prepend([{ from: 4, next: 5, text: "x" }]), true);
  assert.equal(lines.from, 4);
});

test("the window is bounded in items and in bytes, whichever end is dropped", () => {
  for (const end of ["oldest", "newest"]) {
    for (const bounds of [{ items_max: 10 }, { bytes_max: 100 }]) {
      const lines = new Lines(bounds);
      for (let at = 0; !lines.full; at += 1) lines.append(at, at + 1, "0123456789");
      const before = lines.items.length;
      lines.drop(end);
      assert.ok(!lines.full && lines.items.length < before && lines.items.length > 1);
      assert.equal(lines.from, lines.items[0].from);
      assert.equal(lines.next, lines.items.at(-1).next);
      assert.equal(lines.bytes, lines.items.length * 10);
    }
  }
});

test("the item of an offset is found, also within a folded one", () => {
  const lines = new Lines({ folded: true });
  fill(lines, 0, [delta("1", "a"), delta("1", "b"), delta("1", "c"), "{}", "x"]);
  assert.deepEqual([0, 2, 3, 4, 99].map((offset) => lines.index_of(offset)), [0, 0, 1, 2, 2]);
});

test("a session of deltas can be folded, other lines cannot", () => {
  assert.equal(foldable(["{}", delta("1", "a")]), true);
  assert.equal(foldable(["{\"delta\":5}", "delta", "[1]", "{broken", "null"]), false);
});
