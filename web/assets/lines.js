// The lines that the page holds of a stream: a window [from, next) of it, bounded in count and bytes.
//
// Invariants: the window has no hole and no line twice: what is added begins where the window ends, and
// anything else is refused. Folded, consecutive JSON lines that are equal but for their string member
// "delta" are one item whose delta is theirs joined; its range covers them all.

export class Lines {
  items = [];
  bytes = 0;
  /** Set by whoever shows them: told which items changed. */
  on_change = () => {};

  constructor({ folded = false, items_max = 6_000, bytes_max = 12_000_000, item_chars_max = 48_000 } = {}) {
    this.folded = folded;
    this.items_max = items_max;
    this.bytes_max = bytes_max;
    this.item_chars_max = item_chars_max;
    this.reset(0);
  }

  reset(at) {
    this.items = [];
    this.bytes = 0;
    this.from = at;
    this.next = at;
    this.on_change({ kind: "reset" });
  }

  /** Adds the line [from, next) at the end. Only the line that continues the window is taken. */
  append(from, next, text) {
    if (from !== this.next || next <= from) return false;
    const item = make_item(from, next, text, this.folded);
    const last = this.items.at(-1);
    this.next = next;
    this.bytes += text.length;
    if (this.#joins(last, item)) {
      last.delta += item.delta;
      last.next = next;
      last.size += text.length;
      last.changed = true;
    } else {
      this.items.push(item);
    }
    this.on_change({ kind: "append" });
    return true;
  }

  /** Adds lines [from, this.from) before the beginning; `lines` are {from, next, text} without holes. */
  prepend(lines) {
    if (lines.length === 0 || lines.at(-1).next !== this.from) return false;
    const before = new Lines({ ...this, folded: this.folded });
    before.reset(lines[0].from);
    for (const { from, next, text } of lines) before.append(from, next, text);
    if (before.next !== this.from) return false;
    const first = this.items[0];
    const last = before.items.at(-1);
    if (first && this.#joins(last, first)) {
      first.delta = last.delta + first.delta;
      first.from = last.from;
      first.size += last.size;
      first.changed = true;
      before.items.pop();
    }
    this.items = before.items.concat(this.items);
    this.bytes += before.bytes;
    this.from = before.from;
    this.on_change({ kind: "prepend" });
    return true;
  }

  get full() { return this.items.length > this.items_max || this.bytes > this.bytes_max; }

  /** Drops items at the end given until the window is well within its bounds. */
  drop(end) {
    let count = 0;
    while (this.items.length - count > 1 &&
           (this.items.length - count > this.items_max * 0.8 || this.bytes > this.bytes_max * 0.8)) {
      const item = end === "oldest" ? this.items[count] : this.items[this.items.length - 1 - count];
      this.bytes -= item.size;
      count += 1;
    }
    if (count === 0) return;
    if (end === "oldest") {
      this.items.splice(0, count);
      this.from = this.items[0].from;
    } else {
      this.items.splice(this.items.length - count, count);
      this.next = this.items.at(-1).next;
    }
    this.on_change({ kind: end === "oldest" ? "drop-oldest" : "drop-newest" });
  }

  /** The index of the item that holds the offset, or of the nearest. */
  index_of(offset) {
    let low = 0;
    let high = this.items.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.items[middle].from <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #joins(last, item) {
    return last !== undefined && last.key !== null && last.key === item.key &&
      last.delta.length + item.delta.length <= this.item_chars_max;
  }
}

function make_item(from, next, text, folded) {
  const item = { from, next, text, size: text.length, key: null, delta: "", value: null, height: 0, changed: false };
  if (!folded) return item;
  item.value = parse_object(text);
  if (item.value !== null && typeof item.value.delta === "string") {
    item.delta = item.value.delta;
    item.key = JSON.stringify({ ...item.value, delta: "" });
    item.text = "";
  }
  return item;
}

/** The JSON object that a text is, or null. */
export function parse_object(text) {
  if (text.charCodeAt(0) !== 0x7b) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** What an item says, in full. */
export const item_text = (item) =>
  item.key === null ? item.text : JSON.stringify({ ...item.value, delta: item.delta });

/** Whether folding these lines would merge anything. */
export const foldable = (texts) => texts.some((text) => typeof parse_object(text)?.delta === "string");
