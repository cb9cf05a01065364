// Server-sent events, read from a fetch: so that a token can be sent, and every way an answer can end
// is seen. Invariant: an event is handed on once it is complete, in order; a piece of one never is.

export const kSilence = "the server fell silent";

/** Takes text as it comes, gives {type, id, data} for each complete event. Comments count as life. */
export class EventParser {
  #rest = "";
  #data = [];
  #type = "";
  #id = null;
  #started = false;

  /** @returns {{type: string, id: string | null, data: string}[]} */
  push(text) {
    if (!this.#started && text.length > 0) {
      this.#started = true;
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    const events = [];
    const all = this.#rest + text;
    let at = 0;
    for (const end of all.matchAll(/\r\n?|\n/g)) {
      // A carriage return that ends the text may be half of a CRLF.
      if (end[0] === "\r" && end.index + 1 === all.length) break;
      const event = this.#line(all.slice(at, end.index));
      if (event) events.push(event);
      at = end.index + end[0].length;
    }
    this.#rest = all.slice(at);
    return events;
  }

  #line(line) {
    if (line === "") {
      const event = this.#data.length > 0 || this.#type !== ""
        ? { type: this.#type || "message", id: this.#id, data: this.#data.join("\n") } : null;
      this.#data = [];
      this.#type = "";
      return event;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return null;
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#type = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    return null;
  }
}

/**
 * Reads events until the answer ends, `on_events` returns false or `signal` aborts. Throws what fetch
 * throws; silence of more than `silence_ms` counts as a broken connection.
 */
export async function read_events(response, { on_events, signal, silence_ms = 45_000 }) {
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const parser = new EventParser();
  let heard = performance.now();
  let silent = false;
  const timer = setInterval(() => {
    if (performance.now() - heard <= silence_ms) return;
    silent = true;
    reader.cancel().catch(() => {});
  }, silence_ms / 3);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (silent) throw new Error(kSilence);
      if (done || signal?.aborted) return;
      heard = performance.now();
      const events = parser.push(decoder.decode(value, { stream: true }));
      if (events.length > 0 && on_events(events) === false) return;
    }
  } finally {
    clearInterval(timer);
    reader.cancel().catch(() => {});
  }
}
