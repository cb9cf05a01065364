// Chromium opens the page against the real server: every line once, whatever becomes of the server.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { Browser, Holdfast, in_state, read_by_scrolling, rows_in_sight } from "./harness.mjs";

let browser;
let holdfast;
const kTimeout = { timeout: 120_000 };
const json = (value) => JSON.stringify(value);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

before(async () => { browser = await Browser.make(); });
after(() => browser.close());
beforeEach(async () => { holdfast = await Holdfast.make(); });
afterEach(() => holdfast.remove());

async function stream_with(name, lines) {
  const file = join(holdfast.place, "lines.jsonl");
  await writeFile(file, lines.map((line) => `${line}\n`).join(""));
  await holdfast.command("stream", "create", name, "--content-type", "application/json");
  if (lines.length > 0) await holdfast.command("stream", "import", name, file);
}

/** Appends lines at a steady pace until told to stop; resolves to how many. */
function keep_appending(name, line) {
  const appender = holdfast.appender(name);
  let count = 0;
  const timer = setInterval(() => {
    for (let i = 0; i < 4; i += 1) appender.write(line(count++));
  }, 20);
  return async () => {
    clearInterval(timer);
    await appender.end();
    return count;
  };
}

/** The server is killed, comes back, is stopped cleanly and comes back, while lines are written. */
async function through_restarts(page) {
  await in_state(page, "live");
  await sleep(500);
  await holdfast.end("SIGKILL");
  await page.waitForSelector("#status[data-state=waiting][data-kind=drop]", { timeout: 30_000 });
  assert.match(await page.textContent("#notice"), /^The connection dropped\./);
  await sleep(700);
  await holdfast.start();
  await in_state(page, "live");
  assert.equal(await page.isHidden("#notice"), true);
  await sleep(500);
  await holdfast.end("SIGTERM");
  await page.waitForSelector("#status[data-state=waiting][data-kind=goodbye]", { timeout: 30_000 });
  assert.match(await page.textContent("#notice"), /^The server said goodbye: a planned stop\. It goes on from line [\d,]+\.$/);
  await holdfast.start();
  await in_state(page, "live");
  await sleep(500);
}

test("each line is shown once and in order through a kill -9 and a clean stop of the server", kTimeout, async () => {
  const line = (n) => json({ n, text: `line ${n}` });
  await stream_with("followed", []);
  await holdfast.start();
  const page = await browser.page();
  await page.goto(`${holdfast.url}/#/stream/followed`);
  await in_state(page, "live");
  const stop = keep_appending("followed", line);
  await through_restarts(page);
  const count = await stop();
  await holdfast.command("stream", "close", "followed");
  await in_state(page, "ended");

  assert.equal(await page.textContent("#figure-cursor"), String(count));
  assert.equal((await rows_in_sight(page)).at(-1).next, count, "the end is followed");
  const read = await read_by_scrolling(page, count);
  assert.deepEqual(read.map((row) => row.text), Array.from({ length: count }, (_, n) => line(n)));
  assert.deepEqual(page.faults, []);
});

test("folded, the words are those that were written, none twice, through the same restarts", kTimeout, async () => {
  const delta = (n) => json({ type: "text_delta", turn: `t${Math.floor(n / 150)}`, delta: `w${n} ` });
  const past = Array.from({ length: 2_000 }, (_, n) => delta(n));
  await stream_with("chat/1", past);
  await holdfast.start();
  const page = await browser.page();
  await page.goto(`${holdfast.url}/#/stream/chat/1`);
  await page.waitForSelector("#view-folded[aria-pressed=true]");
  const stop = keep_appending("chat/1", (n) => delta(past.length + n));
  await through_restarts(page);
  const count = past.length + await stop();
  await holdfast.command("stream", "close", "chat/1");
  await in_state(page, "ended");

  const read = await read_by_scrolling(page, count);
  assert.equal(read.length, Math.ceil(count / 150), "an item for each turn");
  assert.equal(read.map((row) => row.text).join(""), Array.from({ length: count }, (_, n) => `w${n} `).join(""));
  assert.deepEqual(page.faults, []);
});

test("markup in a chunk is shown as text and never runs", kTimeout, async () => {
  const evil = "<script>window.ran=1</script><img src=x onerror='window.ran=2'><svg onload='window.ran=3'>\u0000\u2028";
  await stream_with("evil", [json({ type: "text_delta", delta: evil }), json(evil), json({ [evil]: evil }),
    json({ type: evil, text: evil })]);
  await holdfast.start();
  const page = await browser.page();
  await page.goto(`${holdfast.url}/#/stream/evil`);
  await in_state(page, "live");
  for (const view of ["#view-folded", "#view-raw"]) {
    await page.click(view);
    await page.waitForFunction(() => document.querySelectorAll("#rows .row").length === 4);
    for (const row of await page.$$("#rows .row")) {
      await row.click();
      assert.match(await page.textContent("#detail-text"), /<script>/);
    }
    assert.match(await page.textContent("#rows"), /<img src=x/);
    assert.equal(await page.$$eval("#rows img, #rows script, #rows svg, #detail-text img", (all) => all.length), 0);
  }
  await sleep(200);
  assert.equal(await page.evaluate(() => window.ran), undefined);
  assert.deepEqual(page.faults, []);
});

test("everything can be reached from the keyboard", kTimeout, async () => {
  await stream_with("alpha", [json({ n: 0 })]);
  await stream_with("beta", Array.from({ length: 500 }, (_, n) => json({ n })));
  await stream_with("gamma", [json({ n: 0 })]);
  await holdfast.start();
  const page = await browser.page();
  await page.goto(holdfast.url);
  await page.waitForSelector("#stream-list a");
  const focused = () => page.evaluate(() => document.activeElement.dataset.name ?? document.activeElement.id);
  const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };

  await press("j");
  assert.equal(await focused(), "alpha");
  await press("j", "j", "k");
  assert.equal(await focused(), "beta");
  await press("G");
  assert.equal(await focused(), "gamma");
  await press("/");
  assert.equal(await focused(), "search");
  await page.keyboard.type("bet");
  await page.waitForFunction(() => document.querySelectorAll("#stream-list a").length === 1);
  await press("Enter");
  assert.equal(await focused(), "beta");
  await press("Enter");
  await in_state(page, "live");
  assert.equal(await page.textContent("#name"), "beta");
  await page.waitForFunction(() => document.activeElement.id === "lines");

  const selected = () => page.$eval("#rows [aria-selected=true]", (row) => Number(row.dataset.from));
  await press("g");
  await page.waitForFunction(() => document.querySelector("#rows .row")?.dataset.from === "0");
  assert.equal(await page.getAttribute("#following", "aria-pressed"), "false");
  await press("j", "j", "ArrowDown", "k");
  assert.equal(await selected(), 1);
  await press("Enter");
  assert.equal(await page.textContent("#detail-text"), "{\n  \"n\": 1\n}");
  await press("j");
  assert.equal(await page.textContent("#detail-title"), "Line 2");
  await press("y");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "{\"n\":2}");
  await press("c");
  await page.waitForFunction(async () => (await navigator.clipboard.readText()).startsWith("curl"));
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^curl -N '.*\/v1\/stream\/beta\?live=events&offset=0{16}_0{15}2'$/);
  await press("Escape");
  assert.equal(await page.isHidden("#detail"), true);
  await press("G");
  await page.waitForFunction(() => [...document.querySelectorAll("#rows .row")].at(-1)?.dataset.from === "499");
  assert.equal(await page.getAttribute("#following", "aria-pressed"), "true");
  await press(" ");
  assert.equal(await page.getAttribute("#following", "aria-pressed"), "false");
  await press("f");
  assert.equal(await page.getAttribute("#following", "aria-pressed"), "true");
  await press("t");
  assert.equal(await page.getAttribute("#view-folded", "aria-pressed"), "true");
  await press("?");
  assert.equal(await page.$eval("#help", (dialog) => dialog.open), true);
  await press("Escape");
  assert.equal(await page.$eval("#help", (dialog) => dialog.open), false);
  await press("h");
  assert.equal(await focused(), "beta");
  assert.deepEqual(page.faults, []);
});

test("at phone width the list and the stream take turns, and nothing is cut off", kTimeout, async () => {
  await stream_with("a/rather/long/name/of/a/stream/that/does/not/fit", [json({ type: "text_delta", delta: "x".repeat(300) })]);
  await holdfast.start();
  const page = await browser.page({ width: 360, height: 720 });
  const no_overflow = async () => assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
  await page.goto(holdfast.url);
  await page.waitForSelector("#stream-list a");
  assert.equal(await page.isVisible("#stream"), false);
  await no_overflow();
  await page.click("#stream-list a");
  await in_state(page, "live");
  assert.equal(await page.isVisible(".streams"), false);
  await page.waitForSelector("#rows .row");
  await no_overflow();
  await page.click("#rows .row");
  assert.equal(await page.isVisible("#detail-text"), true);
  await no_overflow();
  await page.click(".back");
  assert.equal(await page.isVisible(".streams"), true);
  assert.deepEqual(page.faults, []);
});

test("a long stream opens at its end, is read back to its beginning, and few of its rows are in the document", kTimeout, async () => {
  const count = 30_000;
  const line = (n) => json({ n });
  await stream_with("long", Array.from({ length: count }, (_, n) => line(n)));
  await holdfast.start();
  const page = await browser.page();
  const rows = () => page.$$eval("#rows .row", (all) => [all.length, Number(all[0]?.dataset.from), Number(all.at(-1)?.dataset.next)]);
  await page.goto(`${holdfast.url}/#/stream/long`);
  await page.waitForFunction((n) => [...document.querySelectorAll("#rows .row")].at(-1)?.dataset.next === String(n), count);
  const heights = [];
  let at = (await rows())[1];
  while (at > count - 12_000) {
    await page.$eval("#lines", (box) => { box.scrollTop -= 5000; });
    await page.waitForFunction((before) => Number(document.querySelector("#rows .row")?.dataset.from) < before, at);
    const [in_document, first, next] = await rows();
    assert.ok(in_document < 150, `${in_document} rows in the document`);
    assert.ok(next - first === in_document, "no line is missing");
    at = first;
    heights.push(await page.$eval("#canvas", (canvas) => canvas.offsetHeight));
  }
  assert.ok(Math.max(...heights) <= 26 * 7_200, "the window is bounded");
  await page.focus("#lines");
  await page.keyboard.press("g");
  await page.waitForFunction(() => document.querySelector("#rows .row")?.dataset.from === "0");
  assert.equal(await page.textContent("#edge-top"), "The stream begins here.");
  await page.goto(`${holdfast.url}/#/stream/long?from=12345`);
  await page.waitForFunction(() => {
    const row = document.querySelector("#rows .row[data-from='12345']");
    const below_top = row === null ? -1 : row.getBoundingClientRect().top - document.querySelector("#lines").getBoundingClientRect().top;
    return below_top >= 0 && below_top < 60 && row.previousSibling?.dataset.from === "12344";
  });
  assert.deepEqual(page.faults, []);
});

test("an idle page asks for nothing", kTimeout, async () => {
  await stream_with("idle", [json({ n: 0 })]);
  await holdfast.start();
  const page = await browser.page();
  await page.goto(`${holdfast.url}/#/stream/idle`);
  await in_state(page, "live");
  await sleep(1_000);
  let asked = 0;
  page.on("request", () => { asked += 1; });
  await sleep(3_000);
  assert.equal(asked, 0);
});

test("streams that are made, deleted and made again are noticed", kTimeout, async () => {
  await stream_with("one", [json({ n: 1 })]);
  await holdfast.start();
  const page = await browser.page();
  await page.goto(`${holdfast.url}/#/stream/one`);
  await in_state(page, "live");
  const names = (...expected) => page.waitForFunction((want) =>
    [...document.querySelectorAll("#stream-list a")].map((link) => link.dataset.name).join() === want, expected.join());
  await names("one");
  await stream_with("two", [json({ n: 2 })]);
  await names("one", "two");
  await holdfast.command("stream", "rm", "one");
  await names("two");
  await in_state(page, "refused");
  await stream_with("one", [json({ n: 10 }), json({ n: 11 })]);
  await names("one", "two");
  await in_state(page, "live");
  await page.waitForFunction(() => document.querySelector("#rows")?.textContent.includes("{\"n\":11}"));
  assert.deepEqual((await rows_in_sight(page)).map((row) => row.text), ["{\"n\":10}", "{\"n\":11}"]);
});

test("where the server demands a token the page asks for it, and goes on with the right one", kTimeout, async () => {
  await stream_with("secret", [json({ n: 1 })]);
  await writeFile(join(holdfast.place, "token"), "open sesame\n");
  await holdfast.start("--token-file", join(holdfast.place, "token"));
  const page = await browser.page();
  await page.goto(`${holdfast.url}/#/stream/secret`);
  for (const token of ["wrong", "open sesame"]) {
    await page.waitForSelector("#token-dialog[open]");
    await page.fill("#token", token);
    await page.keyboard.press("Enter");
  }
  await in_state(page, "live");
  await page.waitForSelector("#stream-list a");
  await holdfast.command("stream", "append", "secret", "{\"n\":2}");
  await page.waitForFunction(() => document.querySelectorAll("#rows .row").length === 2);
  assert.equal(await page.$eval("#token-dialog", (dialog) => dialog.open), false);
  assert.deepEqual(page.faults, []);
});
