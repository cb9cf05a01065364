// One stream, opened: its window of lines, its live connection, and what joins them.
//
// Invariants: the window ends at or before the live cursor. A live line is added if the window ends
// where it begins, and only counted otherwise; range reads then bring the window up to the cursor. So
// each line comes into the window once, by one way or the other.
import { Refused, stream_info } from "./api.js";
import { Lines, foldable } from "./lines.js";
import { Live, read_range } from "./live.js";
import { Rate } from "./rate.js";

const kRawPage = 1_000;
const kFoldedPage = 20_000;
const kProbe = 60;
const kUtf8 = new TextEncoder();

export class Session {
  #abort = new AbortController();
  #loading = { top: false, bottom: false };
  #unseen_from = 0;
  live = null;
  lines = new Lines();
  info = null;
  foldable = false;

  /**
   * @param shown {view, on_info(info), on_state(state), on_rate(rate), on_unseen(count), on_foldable(bool),
   *   on_notice(text), on_again(name, from)}
   * @param folded "auto", true or false
   */
  constructor(name, shown, folded) {
    this.name = name;
    this.shown = shown;
    this.folded = folded;
    this.rate = new Rate(shown.on_rate);
  }

  close() {
    this.#abort.abort();
    this.live?.stop();
    this.rate.stop();
  }

  /** @param from an offset, "beginning", or null for the end, followed. */
  async open(from) {
    const signal = this.#abort.signal;
    this.shown.on_state({ state: "connecting", attempt: 0 });
    try {
      this.info = await this.#patiently(() => stream_info(this.name, signal));
      if (this.info === null) {
        return this.shown.on_state({ state: "refused", error: new Refused(404, `there is no stream ${this.name}`) });
      }
      const { first, tail } = this.info;
      this.shown.on_info(this.info);
      const probe = await this.#patiently(() => read_range(this.name, Math.max(first, tail - kProbe), tail, { signal }));
      this.foldable = foldable(probe.map((line) => line.text));
      this.shown.on_foldable(this.foldable);
      if (this.folded === "auto") this.folded = this.foldable;
    } catch (error) {
      if (!signal.aborted) this.shown.on_state({ state: "refused", error });
      return;
    }
    this.#follow(this.info.tail);
    this.#show_from(from);
  }

  get attached() { return this.live !== null && this.lines.next === this.live.cursor; }

  go_begin() { this.#show_from("beginning"); }

  go_end() {
    if (!this.attached || this.lines.items.length === 0) this.#show_from(null);
    else this.shown.view.follow(true);
  }

  set_folded(folded) {
    if (folded === this.folded || this.live === null) return;
    this.folded = folded;
    const { view } = this.shown;
    this.#show_from(view.following ? null : view.first_seen()?.from ?? null);
  }

  /** The reader nears an end of the window: read on there. */
  edge(end) {
    if (this.live === null || this.#loading[end] || (end === "top" && this.lines.items.length === 0)) return;
    if (end === "top" ? this.lines.from > this.info.first : this.lines.next < this.live.cursor) this.#load(end);
  }

  following_changed(following) {
    this.#unseen_from = this.live?.cursor ?? 0;
    if (following) this.shown.on_unseen(0);
  }

  #follow(cursor) {
    this.live = new Live(this.name, {
      cursor,
      fold: () => this.folded && this.attached,
      on_line: (from, next, text, caught_up) => this.#line(from, next, text, caught_up),
      on_batch: () => this.#batch(),
      on_state: (state) => this.#state(state),
    });
    this.live.start();
  }

  #show_from(from) {
    const { view } = this.shown;
    const { first } = this.info;
    const tail = this.live.cursor;
    const lines = new Lines({ folded: this.folded });
    const page = this.folded ? kFoldedPage : kRawPage;
    const at = from === null ? Math.max(first, tail - page)
      : from === "beginning" ? first : Math.min(tail, Math.max(first, from));
    lines.reset(at);
    this.lines = lines;
    this.#loading = { top: false, bottom: false };
    view.show(lines, at);
    view.follow(from === null);
    this.edge("bottom");
  }

  #line(from, next, text, caught_up) {
    const size = kUtf8.encode(text).length;
    if (caught_up) this.rate.add(next - from, size);
    this.info.tail = next;
    this.info.bytes += size;
    const paused = this.lines.full && !this.shown.view.following;
    if (from === this.lines.next && !paused) this.lines.append(from, next, text);
  }

  #batch() {
    if (this.lines.full && this.shown.view.following) this.lines.drop("oldest");
    this.shown.on_info(this.info);
    if (!this.shown.view.following) this.shown.on_unseen(this.live.cursor - this.#unseen_from);
    this.edge("bottom");
  }

  async #state(state) {
    if (state.state === "live") {
      this.shown.on_state(state);
      await this.#refresh();
      this.shown.view.invalidate();
    } else if (state.state === "ended") {
      this.info.closed = true;
      this.shown.on_info(this.info);
      this.shown.on_state(state);
    } else if (state.state === "refused") {
      await this.#refused(state);
    } else {
      this.shown.on_state(state);
    }
  }

  /** The stream is another one, or has lost what was to come next, or is gone. */
  async #refused(state) {
    const cursor = this.live.cursor;
    const { id } = this.info;
    let info = null;
    try {
      info = await stream_info(this.name, this.#abort.signal);
    } catch {
      return this.shown.on_state(state);
    }
    if (this.#abort.signal.aborted) return;
    if (info !== null && info.id !== id) {
      this.shown.on_again(null, "This stream was deleted and made anew: these are the new one's lines.");
    } else if (info !== null && cursor < info.first) {
      this.shown.on_again(info.first, `Lines ${cursor} to ${info.first - 1} were trimmed before this page could read them.`);
    } else {
      const error = info === null ? new Refused(404, "the stream was deleted") : state.error;
      this.shown.on_state({ state: "refused", error });
    }
  }

  async #refresh() {
    try {
      const info = await stream_info(this.name, this.#abort.signal);
      if (info === null || info.id !== this.info.id) return;
      // What the connection brought meanwhile is newer than this answer may be.
      if (info.tail >= this.live.cursor) this.info = info;
      else this.info.first = info.first;
      this.shown.on_info({ ...this.info, tail: this.live.cursor });
    } catch {
      // The connection tells of it.
    }
  }

  async #load(end) {
    const lines = this.lines;
    const page = lines.folded ? kFoldedPage : kRawPage;
    const from = end === "top" ? Math.max(this.info.first, lines.from - page) : lines.next;
    const to = end === "top" ? lines.from : Math.min(this.live.cursor, lines.next + page);
    this.#loading[end] = true;
    let read = [];
    try {
      read = await read_range(this.name, from, to, { fold: lines.folded, signal: this.#abort.signal });
    } catch (error) {
      // Tried again when the connection is back.
      if (error instanceof Refused) await this.#refresh();
      return;
    } finally {
      if (lines === this.lines) this.#loading[end] = false;
    }
    if (lines !== this.lines || read.length === 0) return;
    if (end === "top") lines.prepend(read);
    else for (const line of read) lines.append(line.from, line.next, line.text);
    if (lines.full) {
      if (end === "bottom") lines.drop("oldest");
      else if (!this.shown.view.following) lines.drop("newest");
    }
  }

  /** Tries until there is an answer, yes or no. */
  async #patiently(question) {
    for (let delay_ms = 250; ; delay_ms = Math.min(15_000, delay_ms * 2)) {
      try {
        return await question();
      } catch (error) {
        this.#abort.signal.throwIfAborted();
        if (error instanceof Refused && error.is_final) throw error;
        const wait_ms = delay_ms / 2 + (Math.random() * delay_ms) / 2;
        this.shown.on_state({ state: "waiting", kind: "drop", why: "the server does not answer", delay_ms: wait_ms });
        await new Promise((resolve) => setTimeout(resolve, wait_ms));
        this.#abort.signal.throwIfAborted();
      }
    }
  }
}
