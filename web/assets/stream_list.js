// The list of streams: read by pages as it is scrolled, kept up to date by the server's events.
import { Refused, encode_name, list_streams, open_list_events } from "./api.js";
import { bytes, count, element } from "./format.js";
import { read_events } from "./sse.js";

const kPage = 100;

export class StreamList {
  #streams = [];
  #next_after = "";
  #query = "";
  #current = null;
  #request = null;
  #abort = null;

  constructor({ list, note, on_refused, on_changed }) {
    Object.assign(this, { list, note, on_refused, on_changed });
    list.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    document.addEventListener("visibilitychange", () => (document.hidden ? this.stop() : this.start()));
  }

  start() {
    if (this.#abort) return;
    this.#abort = new AbortController();
    this.#listen(this.#abort.signal);
  }

  stop() {
    this.#abort?.abort();
    this.#abort = null;
  }

  find(query) {
    if (query === this.#query) return;
    this.#query = query;
    this.list.scrollTop = 0;
    this.reload(kPage);
  }

  /** Reads again what is shown. */
  async reload(limit = Math.max(kPage, this.#streams.length)) {
    const read = await this.#read({ limit: Math.min(1000, limit) });
    if (!read) return;
    this.#streams = read.streams;
    this.#next_after = read.next_after;
    this.#show();
    this.on_changed(this.#streams);
  }

  /** Marks the stream that is open. */
  set_current(name) {
    this.#current = name;
    for (const link of this.links()) mark_current(link, name);
  }

  /** What the open stream's connection knows better than the list. */
  update(info) {
    const at = this.#streams.findIndex((each) => each.name === info.name);
    if (at < 0) return;
    this.#streams[at] = { ...this.#streams[at], ...info };
    const link = this.list.children[at]?.firstElementChild;
    if (link?.dataset.name === info.name) show_figures(link, this.#streams[at]);
  }

  links() { return [...this.list.querySelectorAll("a")]; }

  /** Moves the focus along the list. */
  move(by) {
    const links = this.links();
    if (links.length === 0) return;
    const at = links.indexOf(document.activeElement);
    const current = links.findIndex((link) => link.dataset.name === this.#current);
    const to = at >= 0 ? at + by : current >= 0 ? current : 0;
    links[Math.min(links.length - 1, Math.max(0, to))].focus();
  }

  focus_end(last) { this.links().at(last ? -1 : 0)?.focus(); }

  async #read(options) {
    this.#request?.abort();
    this.#request = new AbortController();
    try {
      const page = await list_streams({ ...options, prefix: this.#query, signal: this.#request.signal });
      this.note.textContent = "";
      return page;
    } catch (error) {
      if (error.name !== "AbortError") this.#failed(error);
      return null;
    }
  }

  #failed(error) {
    if (error instanceof Refused) this.on_refused(error);
    this.note.textContent = error instanceof Refused ? error.message : "The server does not answer; trying again.";
  }

  async #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.list;
    if (!this.#next_after || scrollHeight - clientHeight - scrollTop > 400) return;
    const after = this.#next_after;
    this.#next_after = "";
    const read = await this.#read({ after, limit: kPage });
    if (!read) { this.#next_after = after; return; }
    this.#streams = this.#streams.concat(read.streams);
    this.#next_after = read.next_after;
    this.#show();
  }

  #show() {
    const focused = document.activeElement?.dataset?.name;
    this.list.replaceChildren(...this.#streams.map((stream) => {
      const item = element("li");
      item.append(stream_link(stream, this.#current));
      return item;
    }));
    if (focused) this.links().find((link) => link.dataset.name === focused)?.focus();
    if (this.#streams.length === 0) {
      this.note.textContent = this.#query ? `No stream begins with \u201c${this.#query}\u201d.` : "There are no streams yet.";
    }
  }

  async #listen(signal) {
    for (let delay_ms = 500; !signal.aborted;) {
      try {
        const response = await open_list_events(signal);
        // Read once changes are told of, so that none falls between.
        this.reload();
        delay_ms = 500;
        await read_events(response, {
          signal,
          on_events: (events) => {
            if (events.some((event) => event.type === "changed")) this.reload();
            return true;
          },
        });
      } catch (error) {
        if (signal.aborted) return;
        this.#failed(error);
        if (error instanceof Refused && error.is_final) return;
      }
      await new Promise((resolve) => setTimeout(resolve, delay_ms / 2 + (Math.random() * delay_ms) / 2));
      delay_ms = Math.min(15_000, delay_ms * 2);
    }
  }
}

function stream_link(stream, current) {
  const link = element("a", "stream-link");
  link.href = `#/stream/${encode_name(stream.name)}`;
  link.dataset.name = stream.name;
  const name = element("span", "stream-name");
  const slash = stream.name.lastIndexOf("/");
  if (slash >= 0) name.append(element("span", "faint", stream.name.slice(0, slash + 1)));
  name.append(stream.name.slice(slash + 1));
  link.append(name, element("span", "stream-figures"));
  show_figures(link, stream);
  mark_current(link, current);
  return link;
}

function show_figures(link, stream) {
  const lines = stream.tail - stream.first;
  const text = `${count(lines)} ${lines === 1 ? "line" : "lines"} \u00b7 ${bytes(stream.bytes)}`;
  const figures = link.querySelector(".stream-figures");
  if (figures.dataset.text === text + stream.closed) return;
  figures.dataset.text = text + stream.closed;
  figures.replaceChildren(text);
  if (stream.closed) figures.append(element("span", "tag", "closed"));
}

function mark_current(link, name) {
  if (link.dataset.name === name) link.setAttribute("aria-current", "page");
  else link.removeAttribute("aria-current");
}
