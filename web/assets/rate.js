// How fast lines come: over the last seconds as a number, over the last minute as a curve. It ticks
// only while there is something to show, so that an idle page does nothing.

const kBuckets = 60;
const kWindow_s = 5;

export class Rate {
  #lines = new Array(kBuckets).fill(0);
  #bytes = new Array(kBuckets).fill(0);
  #second = Math.floor(Date.now() / 1000);
  #timer = 0;

  /** @param on_tick ({lines_per_s, bytes_per_s, curve}) */
  constructor(on_tick) { this.on_tick = on_tick; }

  add(lines, bytes) {
    this.#advance();
    this.#lines[kBuckets - 1] += lines;
    this.#bytes[kBuckets - 1] += bytes;
    if (!this.#timer) this.#timer = setInterval(() => this.#tick(), 1000);
  }

  stop() {
    clearInterval(this.#timer);
    this.#timer = 0;
  }

  #tick() {
    this.#advance();
    // The second that runs is left out: it is not over.
    const recent = (values) => values.slice(-kWindow_s - 1, -1).reduce((a, b) => a + b, 0) / kWindow_s;
    this.on_tick({ lines_per_s: recent(this.#lines), bytes_per_s: recent(this.#bytes), curve: this.#lines.slice(0, -1) });
    if (this.#lines.every((n) => n === 0)) this.stop();
  }

  #advance() {
    const now = Math.floor(Date.now() / 1000);
    const passed = Math.min(kBuckets, Math.max(0, now - this.#second));
    this.#second = now;
    for (const values of [this.#lines, this.#bytes]) {
      values.splice(0, passed);
      while (values.length < kBuckets) values.push(0);
    }
  }
}

/** The curve as SVG paths in a box of the size given. */
export function curve_paths(values, width, height) {
  const top = Math.max(1, ...values);
  const x = (i) => ((i / (values.length - 1)) * width).toFixed(1);
  const y = (v) => (height - 1 - (v / top) * (height - 3)).toFixed(1);
  const line = values.map((v, i) => `${i === 0 ? "M" : "L"}${x(i)} ${y(v)}`).join("");
  return { line, area: `${line}L${width} ${height}L0 ${height}Z` };
}
