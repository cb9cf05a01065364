// The page: the address, the keys and the parts, put together.
import { encode_name, offset_token, set_token, stream_path, token_offset } from "./api.js";
import { append_json, bytes, count, pretty, rate, set_text, shell_word } from "./format.js";
import { item_text } from "./lines.js";
import { LineView } from "./line_view.js";
import { curve_paths } from "./rate.js";
import { Session } from "./session.js";
import { StatusView } from "./status.js";
import { StreamList } from "./stream_list.js";

const kDetailChars = 400_000;
const $ = (id) => document.getElementById(id);

let session = null;
let folded = "auto";
let pending_notice = "";
let focus_lines = false;

const list = new StreamList({
  list: $("stream-list"),
  note: $("list-note"),
  on_refused: ask_for_token,
  on_changed: (streams) => {
    const now = session?.info && streams.find((each) => each.name === session.name);
    if (now && session.info && now.id !== session.info.id) open_again(null, "This stream was deleted and made anew.");
  },
});

const status = new StatusView({ box: $("status"), text: $("status-text"), retry: $("retry"), notice: $("notice") });

const view = new LineView({
  scroller: $("lines"),
  canvas: $("canvas"),
  rows: $("rows"),
  on_edge: (end) => session?.edge(end),
  on_follow: (following) => {
    $("following").setAttribute("aria-pressed", String(following));
    $("following").textContent = following ? "Following" : "Paused";
    session?.following_changed(following);
    show_edges();
  },
  on_select: () => { if (!$("detail").hidden) show_detail(); },
  on_open: () => show_detail(),
  on_render: () => show_edges(),
  can_follow: () => session?.attached ?? false,
});

const shown = {
  view,
  on_info: show_info,
  on_state: (state) => {
    status.show(state, session);
    if (state.state === "refused") ask_for_token(state.error);
    show_edges();
  },
  on_rate: show_rate,
  on_unseen: (lines) => {
    $("new-lines").hidden = lines === 0;
    if (lines > 0) $("new-lines").textContent = `\u2193 ${count(lines)} new ${lines === 1 ? "line" : "lines"}`;
  },
  on_foldable: () => {},
  on_again: open_again,
};

// --- The address: #/stream/NAME?from=OFFSET ---

function route() {
  const match = /^#\/stream\/([^?]+)(?:\?(.*))?$/.exec(location.hash);
  if (!match) {
    close_stream();
    return;
  }
  const name = match[1].split("/").map(decodeURIComponent).join("/");
  const from = new URLSearchParams(match[2] ?? "").get("from");
  open_stream(name, parse_from(from));
}

function parse_from(from) {
  if (from === null || from === "" || from === "end") return null;
  if (from === "beginning") return from;
  return token_offset(from) ?? (/^\d+$/.test(from) ? Number(from) : null);
}

function open_stream(name, from) {
  session?.close();
  document.body.dataset.view = "stream";
  document.title = `${name} \u2013 Holdfast`;
  $("empty").hidden = true;
  $("follow").hidden = false;
  $("name").textContent = name;
  $("lines").setAttribute("aria-label", `Lines of ${name}`);
  if (focus_lines) $("lines").focus();
  focus_lines = false;
  for (const id of ["figure-lines", "figure-bytes", "figure-cursor"]) set_text(id, "\u2013");
  set_text("content-type", "");
  set_text("created", "");
  show_rate({ lines_per_s: 0, bytes_per_s: 0, curve: new Array(59).fill(0) });
  close_detail();
  shown.on_unseen(0);
  status.notice(pending_notice);
  pending_notice = "";
  list.set_current(name);
  session = new Session(name, shown, folded);
  session.open(from).then(show_folded);
}

function open_again(from, notice) {
  pending_notice = notice;
  open_stream(session.name, from);
}

function close_stream() {
  session?.close();
  session = null;
  document.body.dataset.view = "list";
  document.title = "Holdfast";
  $("empty").hidden = false;
  $("follow").hidden = true;
  list.set_current(null);
}

// --- What is shown of the open stream ---

function show_info(info) {
  const lines = info.tail - info.first;
  set_text("figure-lines", count(lines));
  $("figure-lines").title = `lines ${count(info.first)} to ${count(info.tail)}`;
  set_text("figure-bytes", bytes(info.bytes));
  $("figure-bytes").title = `${count(info.bytes)} bytes ever appended`;
  set_text("figure-cursor", String(session.live?.cursor ?? info.tail));
  $("figure-cursor").title = offset_token(session.live?.cursor ?? info.tail);
  set_text("content-type", info.contentType ?? "");
  const created = new Date(info.created);
  set_text("created", Number.isNaN(created.getTime()) ? "" : `made ${created.toLocaleString()}`);
  list.update({ name: info.name, first: info.first, tail: info.tail, bytes: info.bytes, closed: info.closed });
  show_edges();
}

function show_rate({ lines_per_s, bytes_per_s, curve }) {
  set_text("figure-rate", `${rate(lines_per_s)} lines/s`);
  set_text("figure-rate-bytes", lines_per_s > 0 ? `${bytes(bytes_per_s)}/s` : "");
  const { line, area } = curve_paths(curve, 120, 28);
  $("spark").querySelector(".spark-line").setAttribute("d", line);
  $("spark").querySelector(".spark-area").setAttribute("d", area);
}

function show_edges() {
  if (!session?.info) return;
  const { info, lines } = session;
  const at_first = lines.from <= info.first;
  set_text("edge-top", !at_first ? "\u2026" : info.first > 0
    ? `Lines before ${count(info.first)} were trimmed.` : "The stream begins here.");
  set_text("edge-bottom", !session.attached ? "\u2026" : info.closed
    ? "The stream is closed: this is its end." : info.tail === info.first ? "No lines yet." : "");
}

function show_folded() {
  if (!session) return;
  $("view-folded").setAttribute("aria-pressed", String(session.folded === true));
  $("view-raw").setAttribute("aria-pressed", String(session.folded !== true));
}

function set_folded(value) {
  if (!session) return;
  folded = value;
  session.set_folded(value);
  show_folded();
}

function show_detail() {
  const item = view.selected;
  if (!item) return close_detail();
  const text = item_text(item);
  const lines = item.next - item.from;
  $("detail").hidden = false;
  set_text("detail-title", lines === 1 ? `Line ${count(item.from)}` : `Lines ${count(item.from)} to ${count(item.next - 1)}`);
  set_text("detail-size", bytes(new TextEncoder().encode(text).length));
  $("detail-link").href = `#/stream/${encode_name(session.name)}?from=${item.from}`;
  $("detail-text").replaceChildren();
  append_json($("detail-text"), (pretty(text) ?? text).slice(0, kDetailChars));
  if (text.length > kDetailChars) $("detail-text").append("\n\u2026 (Copy gives all of it)");
}

function close_detail() {
  if ($("detail").contains(document.activeElement)) $("lines").focus();
  $("detail").hidden = true;
}

// --- Copying ---

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} copied`);
  } catch {
    toast(text);
  }
}

function copy_curl() {
  if (!session) return;
  const at = view.selected ? view.selected.from : session.live?.cursor ?? 0;
  const url = `${location.origin}${stream_path(session.name)}?live=events&offset=${offset_token(at)}`;
  const token = sessionStorage.getItem("holdfast-token") ? ' -H "Authorization: Bearer $TOKEN"' : "";
  copy(`curl -N${token} ${shell_word(url)}`, "curl command");
}

function copy_line() {
  if (view.selected) copy(item_text(view.selected), "Line");
}

let toast_timer = 0;
function toast(text) {
  $("toast").textContent = text;
  $("toast").classList.add("shown");
  clearTimeout(toast_timer);
  toast_timer = setTimeout(() => $("toast").classList.remove("shown"), 2500);
}

// --- The token ---

function ask_for_token(error) {
  if (error?.status !== 401 && error?.status !== 403) return;
  if (!$("token-dialog").open) $("token-dialog").showModal();
}

$("token-form").addEventListener("submit", () => {
  set_token($("token").value);
  $("token").value = "";
  list.stop();
  list.start();
  route();
});

// --- Keys ---

const in_list = () => document.querySelector(".streams").contains(document.activeElement) || session === null;

const kKeys = {
  "j": () => move(1), "ArrowDown": () => move(1),
  "k": () => move(-1), "ArrowUp": () => move(-1),
  "PageDown": () => page(1), "PageUp": () => page(-1),
  "h": () => list.move(0), "ArrowLeft": () => list.move(0),
  "l": () => $("lines").focus(), "ArrowRight": () => $("lines").focus(),
  "g": () => (in_list() ? list.focus_end(false) : session.go_begin()), "Home": () => kKeys.g(),
  "G": () => (in_list() ? list.focus_end(true) : session.go_end()), "End": () => kKeys.G(),
  "/": () => { go_to_list(); $("search").focus(); $("search").select(); },
  "f": toggle_following, " ": toggle_following,
  "t": () => set_folded(session?.folded !== true),
  "c": copy_curl,
  "y": copy_line,
  "r": () => { session?.live?.retry(); list.reload(); },
  "?": () => $("help").showModal(),
  "Enter": () => show_detail(),
  "Escape": escape,
};

function move(by) {
  if (in_list()) list.move(by);
  else view.move(by);
}

function page(by) {
  if (session === null) return;
  view.page(by);
}

function toggle_following() {
  if (!session) return;
  if (view.following) view.follow(false);
  else session.go_end();
}

function escape() {
  if (!$("detail").hidden) close_detail();
  else if (document.activeElement === $("search")) list.move(0);
  else if (view.selected) view.select(null);
}

function go_to_list() {
  if (matchMedia("(max-width: 760px)").matches && session) location.hash = "#/";
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const target = event.target;
  if (target === $("search")) {
    if (event.key === "Enter" || event.key === "ArrowDown") { event.preventDefault(); list.focus_end(false); }
    if (event.key === "Escape") { $("search").value = ""; list.find(""); list.move(0); }
    return;
  }
  const presses = target.matches("a, button");
  if (presses && (event.key === "Enter" || event.key === " ")) return;
  if (target === $("detail-text") && event.key !== "Escape") return;
  const action = kKeys[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

let search_timer = 0;
$("search").addEventListener("input", () => {
  clearTimeout(search_timer);
  search_timer = setTimeout(() => list.find($("search").value), 120);
});

const on_click = (id, action) => $(id).addEventListener("click", action);
on_click("help-button", () => $("help").showModal());
on_click("view-folded", () => set_folded(true));
on_click("view-raw", () => set_folded(false));
on_click("go-begin", () => session?.go_begin());
on_click("go-end", () => session?.go_end());
on_click("new-lines", () => session?.go_end());
on_click("following", toggle_following);
on_click("copy-curl", copy_curl);
on_click("detail-copy", copy_line);
on_click("detail-close", close_detail);
on_click("retry", () => session?.live?.retry());
$("stream-list").addEventListener("click", (event) => {
  const link = event.target.closest("a");
  focus_lines = link !== null;
  if (link && link.hash === location.hash) route();
});

addEventListener("hashchange", route);
addEventListener("online", () => session?.live?.retry());
list.start();
route();
