// One connection that follows a stream from a cursor, and begins again from there when it is lost.
//
//   state         event                          next state
//   connecting    answered                       catching-up
//   catching-up   caught-up                      live
//   live          chunk                          live
//   any of these  end                            ended         (the stream was closed: no more lines)
//   any of these  goodbye, error, drop, 5xx      waiting       (says which; counts down)
//   waiting       time is up, retry()            connecting
//   connecting    4xx                            refused       (says why)
//   any           stop()                         stopped
//
// Invariants: the cursor moves only past lines handed on, so a line is handed on once whatever happens
// to the connection; there is at most one connection.
import { Refused, from_base64, is_base64, open_events, token_offset } from "./api.js";
import { parse_object } from "./lines.js";
import { kSilence, read_events } from "./sse.js";

const kFirstDelayMs = 250;
const kDelayMsMax = 15_000;

export class Live {
  #attempt = 0;
  #abort = null;
  #wake = null;
  #stopped = false;

  /**
   * @param on_line (from, next, text, caught_up): each line, once, in order.
   * @param on_state ({state, why, delay_ms, error})
   */
  constructor(name, { cursor, fold = () => false, on_line, on_batch = () => {}, on_state }) {
    this.name = name;
    this.cursor = cursor;
    this.fold = fold;
    this.on_line = on_line;
    this.on_batch = on_batch;
    this.on_state = on_state;
    this.state = "connecting";
  }

  start() { this.#run(); }

  /** Connects at once instead of waiting. */
  retry() { this.#wake?.(); }

  stop() {
    this.#stopped = true;
    this.#abort?.abort();
    this.#wake?.();
  }

  #set(state, more = {}) {
    this.state = state;
    if (!this.#stopped) this.on_state({ state, ...more });
  }

  async #run() {
    while (!this.#stopped) {
      this.#set("connecting", { attempt: this.#attempt });
      const end = await this.#connect();
      if (this.#stopped) break;
      if (end.kind === "end") return this.#set("ended");
      if (end.kind === "refused") return this.#set("refused", { error: end.error });
      await this.#wait(end);
    }
    this.#set("stopped");
  }

  /** One connection, to its end: {kind: end | goodbye | drop | refused, ...}. */
  async #connect() {
    this.#abort = new AbortController();
    const signal = this.#abort.signal;
    let ending = { kind: "drop", why: "the connection dropped" };
    try {
      const response = await open_events(this.name, { from: this.cursor, fold: this.fold(), signal });
      this.#set("catching-up");
      const decode = is_base64(response) ? from_base64 : (data) => data;
      await read_events(response, {
        signal,
        on_events: (events) => {
          for (const event of events) {
            const end = this.#event(event, decode);
            if (end) {
              ending = end;
              this.on_batch();
              return false;
            }
          }
          this.on_batch();
          return true;
        },
      });
    } catch (error) {
      if (error instanceof Refused && error.is_final) return { kind: "refused", error };
      const busy = error instanceof Refused;
      return { kind: "drop", why: busy ? error.message : unreachable(error, this.state),
        delay_ms_min: busy ? error.retry_after_s * 1000 : 0 };
    }
    return ending;
  }

  #event(event, decode) {
    if (event.type === "message") {
      const next = token_offset(event.id);
      if (next !== null && next > this.cursor) {
        const from = this.cursor;
        this.cursor = next;
        this.on_line(from, next, decode(event.data), this.state === "live");
      }
    } else if (event.type === "caught-up") {
      this.#attempt = 0;
      if (this.state !== "live") this.#set("live");
    } else if (event.type === "end") {
      return { kind: "end" };
    } else if (event.type === "goodbye") {
      return { kind: "goodbye", why: "the server said goodbye: a planned stop" };
    } else if (event.type === "error") {
      return { kind: "drop", why: parse_object(event.data)?.message ?? "the server could not read on" };
    }
    return null;
  }

  async #wait({ kind, why, delay_ms_min = 0 }) {
    const ceiling = Math.min(kDelayMsMax, kFirstDelayMs * 2 ** this.#attempt);
    const delay_ms = Math.max(delay_ms_min, ceiling / 2 + Math.random() * ceiling / 2);
    this.#attempt += 1;
    this.#set("waiting", { kind, why, delay_ms });
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, delay_ms);
      this.#wake = () => { clearTimeout(timer); resolve(); };
    });
    this.#wake = null;
  }
}

function unreachable(error, state) {
  if (error.message === kSilence) return error.message;
  return state === "connecting" ? "the server does not answer" : "the connection dropped";
}

/**
 * The lines [from, to) exactly, as they are or folded. A folded line that would reach past `to` is read
 * again as it is, so that what comes back never overlaps with what begins at `to`.
 */
export async function read_range(name, from, to, { fold = false, signal } = {}) {
  const lines = [];
  let cursor = from;
  while (cursor < to) {
    const abort = new AbortController();
    const stop = () => abort.abort();
    signal?.addEventListener("abort", stop, { once: true });
    let over = false;
    let progress = false;
    try {
      const response = await open_events(name, { from: cursor, fold, signal: abort.signal });
      const decode = is_base64(response) ? from_base64 : (data) => data;
      await read_events(response, {
        signal: abort.signal,
        on_events: (events) => {
          for (const event of events) {
            if (event.type !== "message") { over = true; return false; }
            const next = token_offset(event.id);
            if (next === null || next <= cursor) continue;
            if (next > to) { over = true; return false; }
            lines.push({ from: cursor, next, text: decode(event.data) });
            cursor = next;
            progress = true;
            if (cursor >= to) return false;
          }
          return true;
        },
      });
    } finally {
      signal?.removeEventListener("abort", stop);
      abort.abort();
    }
    signal?.throwIfAborted();
    if (cursor < to && over && fold) {
      lines.push(...await read_range(name, cursor, to, { signal }));
      return lines;
    }
    if (cursor < to && !progress) break;
  }
  return lines;
}
