// The figures of @workflow/world-local's streams, named as Holdfast's are.
//
//   node world_local.mjs OUT.jsonl DIRECTORY SESSION.jsonl [--smoke]
//   node world_local.mjs --follow DIRECTORY NAME COUNT     (what it starts for the other process)
//
// CPU is that of the whole process, all threads. Its store keeps a file per chunk and never syncs.
import { createWorld } from '@workflow/world-local';
import { spawn } from 'node:child_process';
import { appendFileSync, lstatSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const here = new URL('.', import.meta.url);
const wanted = JSON.parse(readFileSync(new URL('package.json', here), 'utf8')).dependencies;
const peer = `@workflow/world-local ${wanted['@workflow/world-local']}`;
const run = 'wrun_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const cpuUs = () => { const used = process.cpuUsage(); return used.user + used.system; };
const wallUs = () => Number(process.hrtime.bigint()) / 1e3;
const percentile = (samples, percent) => {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1))];
};

async function follow(directory, name, count) {
  const { streams } = createWorld({ dataDir: directory });
  const reader = (await streams.get(run, name, -1)).getReader();
  await reader.read();
  console.log('0');
  for (let i = 0; i < count; ++i) {
    const { value } = await reader.read();
    const now = wallUs();
    console.log((now - Number(Buffer.from(value).toString().trim())).toFixed(3));
  }
  process.exit(0);
}

function diskBytes(path) {
  let sum = lstatSync(path).blocks * 512;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inside = join(path, entry.name);
    sum += entry.isDirectory() ? diskBytes(inside) : lstatSync(inside).blocks * 512;
  }
  return sum;
}

async function measure(out, place, lines, smoke) {
  const report = (name, n, unit, value, note) =>
    appendFileSync(out, `${JSON.stringify({ name, n, unit, value: Number(value.toFixed(4)), peer, note })}\n`);
  const rounds = smoke ? 1 : 5;
  const directory = join(place, 'streams');
  const world = createWorld({ dataDir: directory });
  const { streams } = world;
  const length = smoke ? 2_500 : 25_000;
  const line = (i) => lines[i % lines.length];
  for (let at = 0; at < length; at += 500) {
    await streams.writeMulti(run, 'long', Array.from({ length: 500 }, (_, i) => line(at + i)));
  }

  // Reads before appends: the figures are those of this length.
  const perCall = async (count, call) => {
    const began = cpuUs();
    for (let i = 0; i < count; ++i) await call(i);
    return (cpuUs() - began) / count;
  };
  const tails = [];
  for (let i = 0; i < 3; ++i) tails.push(await perCall(1, () => streams.getInfo(run, 'long')));
  report('stream.tail', length, 'us_cpu', percentile(tails, 50), 'getInfo');

  let began = cpuUs();
  const whole = (await streams.get(run, 'long', 0)).getReader();
  for (let i = 0; i < length; ++i) await whole.read();
  const readUs = cpuUs() - began;
  await whole.cancel();
  report('stream.read.all', 1_000_000, 'ms_cpu', ((readUs / length) * 1e6) / 1e3, `by its rate over ${length} chunks`);

  const idle = (await streams.get(run, 'long', -1)).getReader();
  await idle.read();
  const waiting = idle.read();
  await sleep(1_000);
  began = cpuUs();
  const seconds = smoke ? 1 : 5;
  await sleep(seconds * 1_000);
  report('follower.idle.cpu', length, 'percent', (cpuUs() - began) / (seconds * 1e4));
  await streams.write(run, 'long', line(0));
  await waiting;
  await idle.cancel();

  const single = [];
  const batched = [];
  for (let round = 0; round < rounds; ++round) {
    single.push(await perCall(200, (i) => streams.write(run, 'long', line(i))));
    batched.push((await perCall(10, (at) =>
      streams.writeMulti(run, 'long', Array.from({ length: 32 }, (_, i) => line(at * 32 + i))))) / 32);
  }
  report('stream.append.relaxed.single', length, 'us_cpu', percentile(single, 50));
  report('stream.append.relaxed.batch32', length, 'us_cpu', percentile(batched, 50), 'writeMulti, per chunk');

  const count = smoke ? 5 : 40;
  const other = spawn(process.execPath, [import.meta.filename ?? new URL(import.meta.url).pathname,
    '--follow', directory, 'long', String(count)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const samples = [];
  let ready;
  const isReady = new Promise((resolve) => { ready = resolve; });
  createInterface({ input: other.stdout }).on('line', (text) => {
    if (text === '0') ready();
    else samples.push(Number(text));
  });
  await isReady;
  await sleep(500);
  for (let i = 0; i < count; ++i) {
    await streams.write(run, 'long', String(wallUs()).padEnd(86));
    await sleep(130 + ((i * 37) % 100));
  }
  await new Promise((resolve) => { other.on('close', resolve); });
  report('stream.append_to_follower.p50', length, 'us', percentile(samples, 50));
  report('stream.append_to_follower.p99', length, 'us', percentile(samples, 99));

  const kept = join(place, 'session');
  const session = createWorld({ dataDir: kept });
  for (const each of lines) await session.streams.write(run, 'session', each);
  const bytes = lines.reduce((sum, each) => sum + Buffer.byteLength(each) + 1, 0);
  report('session.disk.hot', lines.length, 'ratio', diskBytes(kept) / bytes, 'a file per chunk');
}

const [first, ...rest] = process.argv.slice(2);
if (first === '--follow') {
  await follow(rest[0], rest[1], Number(rest[2]));
} else {
  const place = mkdtempSync(join(rest[0], 'peer-'));
  try {
    const lines = readFileSync(rest[1], 'utf8').trimEnd().split('\n');
    await measure(first, place, lines, rest[2] === '--smoke');
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
  process.exit(0);
}
