// Makes docs/images/page.png and page-dark.png: the page as it follows a session that is being written.
//   HOLDFAST_PROGRAM=build/holdfast node screenshot.mjs
import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Browser, Holdfast, in_state } from "./harness.mjs";

const kRoot = join(dirname(fileURLToPath(import.meta.url)), "../..");
const lines_of = (file) => execFileSync("zstd", ["-dcq", join(kRoot, "data", file)], { maxBuffer: 1 << 26 })
  .toString().trimEnd().split("\n");
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

const holdfast = await Holdfast.make();
const browser = await Browser.make();

async function stream_with(name, type, lines) {
  const file = join(holdfast.place, "lines");
  await writeFile(file, lines.map((line) => `${line}\n`).join(""));
  await holdfast.command("stream", "create", name, "--content-type", type);
  await holdfast.command("stream", "import", name, file);
}

try {
  const live = lines_of("live.jsonl.zst");
  await stream_with("demo/session", "application/json", lines_of("session-24539.jsonl.zst"));
  for (const [i, length] of [318, 1204, 87, 2210].entries()) {
    await stream_with(`chat/${1041 + i * 7}`, "application/json", live.slice(0, length));
  }
  await stream_with("logs/build", "text/plain", Array.from({ length: 204 }, (_, i) => `[${i + 1}/204] Building`));
  await holdfast.command("stream", "close", "logs/build");
  const turns = live.flatMap((line, i) => (line.includes('"turn_start"') && i > 400 ? [i] : []));
  // The picture shows a turn from its question to the first words of its answer.
  const turn = turns.find((at) => live.slice(at, at + 40).some((line) => line.includes('"text_delta"')));
  const answer = live.findIndex((line, i) => i > turn && line.includes('"text_delta"'));
  await stream_with("demo/live", "application/json", live.slice(0, turn));
  await holdfast.start();
  const pages = [await browser.page({ width: 1200, height: 750, scale: 1.25 }), await browser.page({ width: 1200, height: 750, scale: 1.25, dark: true })];
  for (const page of pages) {
    await page.goto(`${holdfast.url}/#/stream/demo/live`);
    await in_state(page, "live");
  }
  const appender = holdfast.appender("demo/live");
  for (const [i, line] of live.slice(turn, answer + 28).entries()) {
    appender.write(line);
    await sleep(i % 12 === 0 ? 200 : 60);
  }
  await mkdir(join(kRoot, "docs/images"), { recursive: true });
  for (const [page, file] of [[pages[0], "page.png"], [pages[1], "page-dark.png"]]) {
    await page.screenshot({ path: join(kRoot, "docs/images", file) });
  }
  await appender.end();
} finally {
  await browser.close();
  await holdfast.remove();
}
