// Shows a window of lines (lines.js) as rows, of which only those in sight are in the document.
//
// Invariants: rows stand in the order of their lines, each line in one row; what the reader looks at
// stays where it is while lines are added or dropped around it; while following, the end is in sight.
// What a row says is rows.js's; where lines come from is session.js's.
import { fill_row } from "./rows.js";

const kOverscan_px = 600;
const kRawRow_px = 26;
const kFoldedGuess_px = 64;
const kNear_px = 1_500;
const kBegin_px = 52;
const kNowhere = -100;

export class LineView {
  following = true;
  selected = null;
  #lines = null;
  #tops = [0];
  #elements = new Map();
  #anchor = null;
  #begin = 0;
  #set_top = kNowhere;
  #frame = 0;

  /**
   * @param on_edge ("top" | "bottom"): the reader nears an end of the window.
   * @param on_follow (following)
   * @param on_select (item | null)
   * @param on_open (): the selected line is to be shown in full
   * @param on_render ()
   * @param can_follow () => boolean: whether the window ends where the stream does
   */
  constructor({ scroller, canvas, rows, on_edge, on_follow, on_select, on_open, on_render, can_follow }) {
    Object.assign(this, { scroller, canvas, rows, on_edge, on_follow, on_select, on_open, on_render, can_follow });
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    rows.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      const item = row && this.#lines.items[this.#lines.index_of(Number(row.dataset.from))];
      if (!item || String(getSelection()) !== "") return;
      this.follow(false);
      this.select(item);
      this.on_open(item);
    });
    let width = 0;
    new ResizeObserver(() => {
      if (scroller.clientWidth !== width) this.#forget_heights();
      width = scroller.clientWidth;
      this.reveal_selected();
      this.invalidate();
    }).observe(scroller);
  }

  /** Shows a window from the line at `offset` on, or at its end while following. */
  show(lines, offset) {
    this.#lines = lines;
    this.selected = null;
    this.#anchor = null;
    this.#begin = offset;
    this.rows.replaceChildren();
    this.#elements.clear();
    // What is seen goes back to the top at once, so that no scroll of the former window is taken for one
    // of this.
    this.#tops = [0];
    this.canvas.style.height = "0px";
    this.scroller.scrollTop = 0;
    this.#set_top = 0;
    this.canvas.classList.toggle("folded", lines.folded);
    lines.on_change = ({ kind }) => {
      if (kind === "reset") { this.select(null); this.#anchor = null; }
      this.invalidate();
    };
    this.invalidate();
  }

  invalidate() {
    if (!this.#frame) this.#frame = requestAnimationFrame(() => { this.#frame = 0; this.#render(); });
  }

  follow(following) {
    if (this.following === following) return;
    this.following = following;
    if (!following) this.#take_anchor();
    this.on_follow(following);
    this.invalidate();
  }

  select(item) {
    this.#elements.get(this.selected)?.setAttribute("aria-selected", "false");
    this.selected = item;
    const element = this.#elements.get(item);
    element?.setAttribute("aria-selected", "true");
    if (element) this.scroller.setAttribute("aria-activedescendant", element.id);
    else this.scroller.removeAttribute("aria-activedescendant");
    this.on_select(item);
  }

  /** Moves the selection by so many items and keeps it in sight. */
  move(by) {
    const { items } = this.#lines;
    if (items.length === 0) return;
    const at = items.indexOf(this.selected);
    const first_seen = this.#index_at(this.scroller.scrollTop + (by > 0 ? 0 : this.scroller.clientHeight - 40));
    const to = Math.min(items.length - 1, Math.max(0, at < 0 ? first_seen : at + by));
    if (by < 0) this.follow(false);
    this.#reveal(to);
    this.select(items[to]);
    if (to === items.length - 1 && by > 0 && this.can_follow()) this.follow(true);
  }

  /** Brings the selected line back in sight, if there is one. */
  reveal_selected() {
    const at = this.selected && !this.following ? this.#lines.items.indexOf(this.selected) : -1;
    if (at >= 0) this.#reveal(at);
  }

  /** Scrolls by most of what is seen. */
  page(by) {
    if (by < 0) this.follow(false);
    this.scroller.scrollBy({ top: by * (this.scroller.clientHeight - 60) });
  }

  /** The item at the top of what is seen. */
  first_seen() { return this.#lines.items[this.#index_at(this.scroller.scrollTop)] ?? null; }

  #reveal(index) {
    this.#measure_tops();
    const top = this.canvas.offsetTop + this.#tops[index];
    const bottom = this.canvas.offsetTop + this.#tops[index + 1];
    const view_top = this.scroller.scrollTop;
    const view = this.scroller.clientHeight;
    if (top < view_top + 8 || bottom - top > view) this.#anchor = { item: this.#lines.items[index], delta_px: 8 };
    else if (bottom > view_top + view - 8) {
      this.#anchor = { item: this.#lines.items[index], delta_px: view - 8 - (bottom - top) };
    }
    this.#render();
  }

  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    if (Math.abs(scrollTop - this.#set_top) < 2) return;
    this.#set_top = kNowhere;
    const at_end = scrollHeight - clientHeight - scrollTop < 6;
    if (at_end && this.can_follow()) this.follow(true);
    else if (!at_end) this.follow(false);
    this.#take_anchor();
    this.invalidate();
  }

  #take_anchor() {
    const { items } = this.#lines;
    if (items.length === 0) return;
    const index = this.#index_at(this.scroller.scrollTop);
    this.#anchor = { item: items[index], delta_px: this.canvas.offsetTop + this.#tops[index] - this.scroller.scrollTop };
  }

  #index_at(scroll_top) {
    const y = scroll_top - this.canvas.offsetTop;
    let low = 0;
    let high = Math.max(0, Math.min(this.#lines.items.length, this.#tops.length - 1) - 1);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#tops[middle] <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #guess(item) {
    if (!this.#lines.folded) return kRawRow_px;
    if (item.key === null) return kFoldedGuess_px;
    const columns = Math.max(30, this.scroller.clientWidth / 8);
    return 24 + 22 * Math.ceil(item.delta.length / columns);
  }

  #measure_tops() {
    const { items } = this.#lines;
    this.#tops.length = items.length + 1;
    let top = 0;
    for (let i = 0; i < items.length; i += 1) {
      this.#tops[i] = top;
      top += items[i].height || this.#guess(items[i]);
    }
    this.#tops[items.length] = top;
  }

  #forget_heights() {
    if (this.#lines?.folded) for (const item of this.#lines.items) item.height = 0;
  }

  #render() {
    if (!this.#lines) return;
    // Measured heights can move what is in sight, so it is placed again until nothing changes.
    for (let pass = 0; pass < 5; pass += 1) {
      this.#measure_tops();
      this.canvas.style.height = `${this.#tops.at(-1)}px`;
      this.#place();
      if (!this.#show_rows()) break;
    }
    this.on_render();
    if (this.scroller.scrollTop < kNear_px) this.on_edge("top");
    if (this.scroller.scrollHeight - this.scroller.clientHeight - this.scroller.scrollTop < kNear_px) this.on_edge("bottom");
  }

  #place() {
    let top = null;
    if (this.following) {
      top = this.scroller.scrollHeight - this.scroller.clientHeight;
    } else if (this.#lines.items.length > 0) {
      const { items } = this.#lines;
      this.#anchor ??= { item: items[this.#lines.index_of(this.#begin)], delta_px: kBegin_px };
      const index = this.#lines.index_of(this.#anchor.item.from);
      top = this.canvas.offsetTop + this.#tops[index] - this.#anchor.delta_px;
    }
    if (top === null || Math.abs(top - this.scroller.scrollTop) < 1) return;
    this.scroller.scrollTop = top;
    this.#set_top = this.scroller.scrollTop;
  }

  /** Returns whether a height was not as it was thought. */
  #show_rows() {
    const { items } = this.#lines;
    const top = this.scroller.scrollTop;
    const first = this.#index_at(top - kOverscan_px);
    const last = Math.min(items.length - 1, this.#index_at(top + this.scroller.clientHeight + kOverscan_px));
    this.rows.style.top = `${this.#tops[first] ?? 0}px`;

    const kept = new Set();
    let before = null;
    for (let i = first; i <= last; i += 1) {
      const item = items[i];
      kept.add(item);
      let element = this.#elements.get(item);
      if (!element) {
        element = document.createElement("div");
        this.#fill(element, item);
        this.#elements.set(item, element);
      } else if (item.changed) {
        this.#fill(element, item);
      }
      const place = before ? before.nextSibling : this.rows.firstChild;
      if (place !== element) this.rows.insertBefore(element, place);
      before = element;
    }
    for (const [item, element] of this.#elements) {
      if (kept.has(item)) continue;
      element.remove();
      this.#elements.delete(item);
    }
    return this.#lines.folded && this.#measure(items, first, last);
  }

  #fill(element, item) {
    item.changed = false;
    element.className = "row";
    element.id = `line-${item.from}`;
    element.setAttribute("role", "option");
    element.setAttribute("aria-selected", String(item === this.selected));
    element.dataset.from = item.from;
    element.dataset.next = item.next;
    fill_row(element, item, this.#lines.folded);
  }

  #measure(items, first, last) {
    let wrong = false;
    for (let i = first; i <= last; i += 1) {
      const height = this.#elements.get(items[i]).offsetHeight;
      if (height === items[i].height) continue;
      wrong = wrong || Math.abs(height - (items[i].height || this.#guess(items[i]))) >= 1;
      items[i].height = height;
    }
    return wrong;
  }
}
