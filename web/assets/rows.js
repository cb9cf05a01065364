// What a row says of a line. Raw: one row of text, JSON coloured. Folded: who speaks, and the words.
import { append_json, count, element } from "./format.js";
import { item_text } from "./lines.js";

const kRawChars = 600;
const kFoldedChars = 8_000;
const kTextMembers = ["delta", "text", "content", "message", "output", "error"];

export function fill_row(row, item, folded) {
  row.replaceChildren();
  if (folded) fill_folded(row, item);
  else fill_raw(row, item);
}

function fill_raw(row, item) {
  row.append(element("span", "offset", count(item.from)));
  const text = element("code", "text");
  const shown = item.text.slice(0, kRawChars).replace(/\r?\n/g, " \u23ce ");
  if (/^\s*[{["]/.test(shown)) append_json(text, shown);
  else text.textContent = shown;
  if (item.text.length > kRawChars) text.append(element("span", "faint", " \u2026"));
  row.append(text);
}

function fill_folded(row, item) {
  const value = item.value;
  const kind = typeof value?.type === "string" ? value.type : "";
  const role = role_of(kind);
  row.dataset.role = role;
  const lines = item.next - item.from;
  const offset = element("span", "offset", count(item.from));
  if (lines > 1) offset.append(element("span", "offset-count", `${count(lines)} lines`));
  row.append(offset);

  const body = element("div", "said");
  if (role === "mark") {
    body.append(element("span", "mark", mark_text(kind, value)));
  } else {
    if (kind) body.append(element("span", "speaker", speaker_of(kind)));
    body.append(words_of(item, value, role));
  }
  row.append(body);
}

function role_of(kind) {
  if (kind === "turn_start" || kind === "turn_end") return "mark";
  if (kind.startsWith("user")) return "user";
  if (kind.startsWith("reasoning") || kind.startsWith("thinking")) return "reasoning";
  if (kind.startsWith("tool")) return "tool";
  if (kind.startsWith("text") || kind.startsWith("assistant") || kind.startsWith("message")) return "text";
  if (kind.includes("error")) return "error";
  return "other";
}

const kSpeakers = { user_message: "user", reasoning_delta: "thinking", text_delta: "answer", tool_start: "tool call",
  tool_end: "tool result" };
const speaker_of = (kind) => kSpeakers[kind] ?? kind.replace(/_delta$/, "").replaceAll("_", " ");

function mark_text(kind, value) {
  const turn = typeof value.turn === "string" ? value.turn.replaceAll("_", " ") : "turn";
  if (kind === "turn_start") return turn;
  const usage = value.usage;
  const tokens = typeof usage?.input === "number" && typeof usage?.output === "number"
    ? ` \u00b7 ${count(usage.input)} tokens in, ${count(usage.output)} out` : "";
  return `end of ${turn}${tokens}`;
}

function words_of(item, value, role) {
  const text = item.key !== null ? item.delta : plain_text(value);
  if (text === null || role === "other") {
    const code = element("code", "words json");
    append_json(code, item_text(item).slice(0, kFoldedChars));
    return code;
  }
  const words = element(role === "tool" ? "code" : "p", "words", text.slice(0, kFoldedChars));
  if (role === "tool" && typeof value.tool === "string") words.prepend(element("b", "", `${value.tool} `));
  if (text.length > kFoldedChars) words.append(element("span", "faint", " \u2026 Enter shows all of it"));
  return words;
}

function plain_text(value) {
  if (value === null) return null;
  for (const member of kTextMembers) if (typeof value[member] === "string") return value[member];
  return value.input !== undefined ? JSON.stringify(value.input) : null;
}
