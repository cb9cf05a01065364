// What the browser tests stand on: a real `holdfast serve` on a store in a temporary place, its command
// line, and Chromium. The program under test is named by HOLDFAST_PROGRAM.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { chromium } from "playwright-core";

const kProgram = resolve(process.env.HOLDFAST_PROGRAM ?? "build/holdfast");
const kFlags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const run = promisify(execFile);

async function free_port() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** A store in a temporary place and the server on it, which can be ended and started again. */
export class Holdfast {
  #server = null;

  static async make() {
    const made = new Holdfast();
    made.place = await mkdtemp(join(tmpdir(), "holdfast-browser-"));
    made.store = join(made.place, "store.db");
    made.port = await free_port();
    made.url = `http://127.0.0.1:${made.port}`;
    return made;
  }

  /** Runs a command on the store; resolves to what it printed. */
  async command(...args) {
    const { stdout } = await run(kProgram, ["--store", this.store, ...args]);
    return stdout;
  }

  /** A command that appends what is written to its standard input, line by line. */
  appender(name) {
    const child = spawn(kProgram, ["--store", this.store, "stream", "append", name, "-"],
      { stdio: ["pipe", "ignore", "inherit"] });
    return {
      write: (line) => child.stdin.write(`${line}\n`),
      end: async () => {
        child.stdin.end();
        const [status] = child.exitCode === null ? await once(child, "exit") : [child.exitCode];
        if (status !== 0) throw new Error(`stream append ended with status ${status}`);
      },
    };
  }

  async start(...options) {
    const server = spawn(kProgram, ["--store", this.store, "serve", "--port", String(this.port), ...options],
      { stdio: ["ignore", "ignore", process.env.HOLDFAST_TEST_LOG ? "inherit" : "ignore"] });
    this.#server = server;
    for (let tries = 0; tries < 200; tries += 1) {
      if (server.exitCode !== null) throw new Error(`the server ended with status ${server.exitCode}`);
      const there = await fetch(`${this.url}/healthz`).catch(() => null);
      if (there?.ok) return;
      await new Promise((done) => setTimeout(done, 50));
    }
    throw new Error("the server does not answer");
  }

  /** Ends the server by a signal, and waits for its end. */
  async end(signal) {
    const server = this.#server;
    if (server === null || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, "exit");
    server.kill(signal);
    await ended;
    this.#server = null;
  }

  async remove() {
    await this.end("SIGKILL");
    await rm(this.place, { recursive: true, force: true });
  }
}

/** Chromium with a fresh profile. Pages it opens collect what went wrong in `page.faults`. */
export class Browser {
  static async make() {
    const made = new Browser();
    made.chromium = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: kFlags });
    return made;
  }

  async page({ width = 1280, height = 800, dark = false, scale = 1 } = {}) {
    const context = await this.chromium.newContext({ viewport: { width, height }, deviceScaleFactor: scale,
      colorScheme: dark ? "dark" : "light", permissions: ["clipboard-read", "clipboard-write"] });
    const page = await context.newPage();
    page.faults = [];
    page.on("pageerror", (error) => page.faults.push(error.stack));
    page.on("console", (message) => {
      // A server that is down is no fault of the page.
      if (message.type() === "error" && !/ERR_|status of/.test(message.text())) page.faults.push(message.text());
    });
    return page;
  }

  close() { return this.chromium.close(); }
}

/** Waits until the page's connection is in a state. */
export const in_state = (page, state) =>
  page.waitForSelector(`#status[data-state="${state}"]`, { timeout: 30_000 });

/** The rows in the document, as they stand: {from, next, text}. */
export const rows_in_sight = (page) => page.$$eval("#rows .row", (rows) => rows.map((row) => ({
  from: Number(row.dataset.from), next: Number(row.dataset.next),
  text: (row.querySelector(".text") ?? row.querySelector(".words, .mark")).textContent })));

/**
 * Reads the stream from its first to its last line as a person does, by scrolling; fails if rows are ever
 * out of order, or one is followed by another than the next.
 */
export async function read_by_scrolling(page, lines) {
  await page.focus("#lines");
  await page.keyboard.press("g");
  await page.waitForFunction(() => document.querySelector("#rows .row")?.dataset.from === "0");
  const seen = new Map();
  for (let steps = 0; steps < 3_000; steps += 1) {
    const rows = await rows_in_sight(page);
    rows.forEach((row, i) => {
      if (i > 0 && row.from !== rows[i - 1].next) throw new Error(`line ${row.from} stands after ${rows[i - 1].next - 1}`);
      const before = seen.get(row.from);
      if (before !== undefined && before.text !== row.text) throw new Error(`line ${row.from} changed its text`);
      seen.set(row.from, row);
    });
    if (rows.length > 0 && rows.at(-1).next >= lines) break;
    await page.$eval("#lines", (box) => { box.scrollTop += box.clientHeight; });
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  }
  return [...seen.values()].sort((a, b) => a.from - b.from);
}
