// What the page asks of the server. Offsets are numbers here and tokens on the wire.

const kTokenKey = "holdfast-token";

/** An answer that says no, with what the server said of it. */
export class Refused extends Error {
  constructor(status, message, retry_after_s = 0) {
    super(message || `the server answered ${status}`);
    this.status = status;
    this.retry_after_s = retry_after_s;
  }

  /** Asking again would bring the same answer. */
  get is_final() { return this.status < 500 && this.status !== 408 && this.status !== 429; }
}

export const offset_token = (offset) => `0000000000000000_${String(offset).padStart(16, "0")}`;

/** The offset in a token, or null if it is none. */
export function token_offset(token) {
  const match = /^\d{16}_(\d{16})$/.exec(token ?? "");
  return match ? Number(match[1]) : null;
}

export const stream_path = (name) => `/v1/stream/${encode_name(name)}`;
export const encode_name = (name) => name.split("/").map(encodeURIComponent).join("/");

export function set_token(token) { sessionStorage.setItem(kTokenKey, token); }

/** A fetch that carries the token and throws Refused for an answer that is not 2xx. */
export async function ask(path, { signal, method = "GET", headers = {} } = {}) {
  const token = sessionStorage.getItem(kTokenKey);
  const all = token ? { ...headers, Authorization: `Bearer ${token}` } : headers;
  const response = await fetch(path, { signal, method, headers: all, cache: "no-store" });
  if (response.ok) return response;
  const text = method === "HEAD" ? "" : await response.text().catch(() => "");
  throw new Refused(response.status, message_of(text), Number(response.headers.get("Retry-After")) || 0);
}

function message_of(text) {
  try {
    const { error, message } = JSON.parse(text);
    return message ?? error?.message ?? (typeof error === "string" ? error : text);
  } catch {
    return text.slice(0, 300);
  }
}

/** {streams, next_after}: streams in name order that begin with `prefix`. */
export async function list_streams({ prefix = "", after = "", limit = 100, signal } = {}) {
  const query = new URLSearchParams({ limit: String(limit) });
  if (prefix) query.set("prefix", prefix);
  if (after) query.set("after", after);
  const page = await (await ask(`/v1/streams?${query}`, { signal })).json();
  const number = (offset) => (typeof offset === "number" ? offset : token_offset(offset) ?? 0);
  const streams = page.streams.map((each) => ({ ...each, first: number(each.first), tail: number(each.tail) }));
  return { streams, next_after: page.nextAfter ?? "" };
}

/** Events that say when streams are made or deleted. */
export const open_list_events = (signal) =>
  ask("/v1/streams?live=events", { signal, headers: { Accept: "text/event-stream" } });

/** As the list tells of it; null if there is no such stream. */
export async function stream_info(name, signal) {
  const { streams } = await list_streams({ prefix: name, limit: 1, signal });
  return streams.length > 0 && streams[0].name === name ? streams[0] : null;
}

/** Opens the events of a stream from an offset. */
export function open_events(name, { from, fold = false, signal }) {
  const query = new URLSearchParams({ live: "events", offset: offset_token(from) });
  if (fold) query.set("fold", "1");
  return ask(`${stream_path(name)}?${query}`, { signal, headers: { Accept: "text/event-stream" } });
}

export const is_base64 = (response) => response.headers.get("stream-sse-data-encoding") === "base64";

/** The text that base64 stands for; bytes that are no UTF-8 show as replacement characters. */
export function from_base64(data) {
  const binary = atob(data.replace(/\s/g, ""));
  return new TextDecoder().decode(Uint8Array.from(binary, (c) => c.charCodeAt(0)));
}
