// One connection that is lost in every way a connection can be, and the lines it hands on.
import assert from "node:assert/strict";
import test from "node:test";
import { offset_token, token_offset } from "../../web/assets/api.js";
import { Live, read_range } from "../../web/assets/live.js";

globalThis.sessionStorage = { getItem: () => null };

const chunk = (next) => `id: ${offset_token(next)}\ndata: line ${next - 1}\n\n`;
const caught_up = "event: caught-up\ndata: {}\n\n";

/** A server of scripted answers: each takes the offset asked for and gives text, or throws. */
function serve(answers) {
  const asked = [];
  globalThis.fetch = async (path) => {
    const offset = token_offset(new URL(path, "http://server").searchParams.get("offset"));
    asked.push(offset);
    const answer = answers.shift();
    if (answer === undefined) throw new Error("asked once too often");
    const made = answer(offset);
    if (typeof made === "object") return new Response(made.body ?? "", made);
    return new Response(made, { headers: { "Content-Type": "text/event-stream" } });
  };
  return asked;
}

/** Follows to a final state; waits between connections are skipped. */
function follow(answers) {
  const asked = serve(answers);
  return new Promise((resolve) => {
    const lines = [];
    const states = [];
    const live = new Live("s", {
      cursor: 0,
      on_line: (from, next, text) => lines.push(text),
      on_state: (state) => {
        states.push(state.kind ? `${state.state}:${state.kind}` : state.state);
        if (state.state === "waiting") setTimeout(() => live.retry());
        if (state.state === "ended" || state.state === "refused") resolve({ lines, states, asked, state });
      },
    });
    live.start();
  });
}

test("each line comes once through drops, half events, goodbyes and failures, from the cursor", async () => {
  const { lines, states, asked } = await follow([
    () => chunk(1) + caught_up + chunk(2),
    () => chunk(3).slice(0, -1),
    () => { throw new TypeError("Failed to fetch"); },
    () => ({ status: 503, headers: { "Retry-After": "1" } }),
    () => chunk(2) + chunk(3) + caught_up + "event: goodbye\ndata: {}\n\n" + chunk(4),
    () => chunk(4) + "event: end\ndata: {}\n\n",
  ]);
  assert.deepEqual(lines, ["line 0", "line 1", "line 2", "line 3"]);
  assert.deepEqual(asked, [0, 2, 2, 2, 2, 3]);
  assert.deepEqual(states, [
    "connecting", "catching-up", "live", "waiting:drop",
    "connecting", "catching-up", "waiting:drop",
    "connecting", "waiting:drop",
    "connecting", "waiting:drop",
    "connecting", "catching-up", "live", "waiting:goodbye",
    "connecting", "catching-up", "ended",
  ]);
});

test("a refusal is final and says why", async () => {
  const { state } = await follow([() => ({ status: 404, body: "{\"error\":{\"message\":\"there is no stream s\"}}" })]);
  assert.equal(state.state, "refused");
  assert.equal(state.error.message, "there is no stream s");
});

test("a range comes back exactly, read on after a cut and never beyond its end", async () => {
  const asked = serve([() => chunk(6) + chunk(7), (at) => chunk(at + 1) + chunk(at + 2) + chunk(at + 3)]);
  const lines = await read_range("s", 5, 9);
  assert.deepEqual(lines.map((line) => [line.from, line.next, line.text]),
    [[5, 6, "line 5"], [6, 7, "line 6"], [7, 8, "line 7"], [8, 9, "line 8"]]);
  assert.deepEqual(asked, [5, 7]);
});

test("a folded line that reaches past the end of a range is read again as it is", async () => {
  const asked = serve([() => chunk(2) + chunk(9), () => chunk(3) + chunk(4) + chunk(5)]);
  const lines = await read_range("s", 0, 4, { fold: true });
  assert.deepEqual(lines.map((line) => [line.from, line.next]), [[0, 2], [2, 3], [3, 4]]);
  assert.deepEqual(asked, [0, 2]);
});
