import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { openBrowser } from '../support/browser.js';
import { Product } from '../support/product.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { pause } from '../support/waiting.js';

/**
 * The picture of the README: a batch client keeps 8 requests on one model, a person asks
 * another one once a minute, which does not fit beside it. Four minutes of the console in
 * twenty seconds. Needs Chromium and ffmpeg.
 * node --import ./test/support/typescript-loader.mjs test/night/device-recording.ts FILE.webp
 */
const [file = 'swap.webp'] = process.argv.slice(2);
/** So that the timeline is full when the recording begins. */
const BEFORE_MS = Number(process.env.RECORDING_BEFORE_S ?? 660) * 1000;
const RECORDED_MS = 240_000;
const FRAMES = 160;
const SHOWN_S = 20;
const CALLERS = 8;
const SIZE = { width: 900, height: 360 };
/** The device and what the page says of it. */
const ONLY =
  '.side, .skip, .page dl, .card:not(:has(.device)) { display: none } .shell { display: block }';

const model = (id: string, memory: string, loadMs: number, more: object = {}): ModelSpec =>
  ({
    ...{ id, kind: 'stt', engine: 'synthetic', capabilities: ['transcribe'] },
    ...{ device: 'gpu0', memory, ...more },
    options: { baseMs: 1000, loadMs, maxBatch: 4 },
  }) as unknown as ModelSpec;

const models = [
  model('whisper-large', '8GiB', 7000),
  model('whisper-medium', '5GiB', 5000),
  model('whisper-tiny', '1GiB', 1000, { pin: true }),
];
const devices = [{ id: 'gpu0', memory: '12GiB' }];

await using product = await Product.start(models, {}, { devices });
let isOver = false;
const ask = async (name: string, priority: 'realtime' | 'batch'): Promise<void> => {
  const response = await product.transcribe('words', { model: name, priority });
  await response.text();
};
const work = Array.from({ length: CALLERS }, async () => {
  while (!isOver) await ask('whisper-large', 'batch');
});
const person = async (): Promise<void> => {
  for (; !isOver; await pause(60_000)) await ask('whisper-medium', 'realtime');
};
work.push(person());

await using browser = await openBrowser();
const page = await browser.newPage({ viewport: SIZE, bypassCSP: true });
await page.goto(`${product.url}/console/`);
await page.locator('.device').waitFor();
await page.addStyleTag({ content: ONLY });
await pause(BEFORE_MS);
const folder = temporaryFolder();
const fromMs = performance.now();
for (let frame = 0; frame < FRAMES; frame += 1) {
  await page.screenshot({ path: join(folder, `${String(frame).padStart(4, '0')}.png`) });
  await pause(Math.max(0, fromMs + ((frame + 1) * RECORDED_MS) / FRAMES - performance.now()));
}
isOver = true;
execFileSync('ffmpeg', [
  ...['-y', '-loglevel', 'error', '-framerate', String(FRAMES / SHOWN_S)],
  ...['-i', join(folder, '%04d.png'), '-c:v', 'libwebp_anim', '-lossless', '1', '-loop', '0', file],
]);
await Promise.all(work);
