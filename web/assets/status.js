// How the connection is, in words: a pill, a countdown while it waits, and a notice that tells a planned
// stop from a drop and stays until the reader is live again.

const kWords = {
  "connecting": "connecting",
  "catching-up": "catching up",
  "live": "live",
  "waiting": "reconnecting",
  "ended": "ended",
  "refused": "refused",
  "stopped": "stopped",
};

export class StatusView {
  #timer = 0;
  #kept = "";
  #first = null;

  constructor({ box, text, retry, notice }) {
    Object.assign(this, { box, text, retry, notice_box: notice });
  }

  show(state, session) {
    clearInterval(this.#timer);
    // Why it was lost is what counts, not why the next tries failed.
    if (state.state === "waiting") this.#first ??= state;
    else if (!["connecting", "catching-up"].includes(state.state)) this.#first = null;
    this.box.dataset.state = state.state;
    this.box.dataset.kind = this.#first?.kind ?? "";
    this.retry.hidden = state.state !== "waiting";
    this.text.textContent = state.state === "connecting" && state.attempt > 0 ? "reconnecting" : kWords[state.state];
    if (state.state === "waiting") this.#count_down(state, session);
    else if (state.state === "refused") this.notice(sentence(state.error.message), "refused");
    else if (state.state === "live" || state.state === "ended") this.#settle();
  }

  /** Says something of the stream that outlives the connection's ups and downs. */
  notice(text, kind = "kept") {
    if (kind === "kept") this.#kept = text;
    this.notice_box.hidden = text === "";
    this.notice_box.dataset.kind = kind;
    this.notice_box.textContent = text;
  }

  #settle() { this.notice(this.#kept); }

  #count_down({ delay_ms }, session) {
    const { kind, why } = this.#first;
    const until = performance.now() + delay_ms;
    const tick = () => {
      const seconds = Math.max(0, Math.ceil((until - performance.now()) / 1000));
      this.text.textContent = `reconnecting in ${seconds} s`;
    };
    tick();
    this.#timer = setInterval(tick, 250);
    const cursor = session?.live?.cursor;
    const then = cursor === undefined ? "" : ` It goes on from line ${cursor.toLocaleString("en-US")}.`;
    this.notice(`${sentence(why)}${then}`, kind);
  }
}

const sentence = (text) => {
  const trimmed = text.trim();
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}${/[.!?]$/.test(trimmed) ? "" : "."}`;
};
