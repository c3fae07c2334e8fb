/**
 * Measures the engines as the worker uses them and prints JSON:
 * `npm run build && node test/contract/engines/measure.mjs`.
 */
import { readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import '../../support/typescript-loader.mjs';

const { createEngine } = await import('../../../src/worker/engine-factory.js');
const { sleepUntil } = await import('../../../src/worker/engines/synthetic/device.js');
const RATE = 16_000;
const TEXT =
  `The quick brown fox jumps over the lazy dog. She sells sea shells by the sea shore. The weather was cold this
morning and the children stayed at home. A train left the station at seven and arrived in the city before
noon. The old man walked slowly along the river and looked at the water. Many people believe that music helps
them to work. The government announced a new plan to build more houses in the north of the country. My brother
bought a red car last week and he drives it every day. The doctor told him to drink more water and to sleep
eight hours a night. We will meet again tomorrow at the office to talk about the report. The company sold more
computers this year than ever before. He opened the window because the room was too hot.`.replaceAll(
    '\n',
    ' ',
  );
const SENTENCES = TEXT.match(/[^.]+\./g).map(sentence => sentence.trim());

const model = {
  aliases: [],
  capabilities: [],
  languages: [],
  replicas: 1,
  addresses: [],
  voices: {},
};
const never = new AbortController().signal;
const percentile = (values, p) =>
  round(values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * p)]);
const round = value => Math.round(value * 1000) / 1000;
const residentMb = () =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024);

async function timed(work) {
  const start = performance.now();
  const value = await work();
  return { value, ms: performance.now() - start };
}

async function say(voice, text) {
  const parts = [];
  let firstMs;
  const start = performance.now();
  const emit = samples => {
    firstMs ??= performance.now() - start;
    parts.push(samples);
  };
  await flite.synthesize([{ requestId: 'r', text, voice, speed: 1, signal: never, emit }]);
  return {
    samples: Int16Array.from(parts.flatMap(part => [...part])),
    firstMs,
    ms: performance.now() - start,
  };
}

async function transcribe(samples, signal = never) {
  const audio = {
    kind: 'pcm',
    samples,
    sampleRate: RATE,
    durationS: samples.length / RATE,
  };
  const rest = {
    task: 'transcribe',
    language: '',
    prompt: '',
    temperature: 0,
    wordTimestamps: true,
  };
  const [outcome] = await sphinx.transcribe([{ requestId: 'r', audio, signal, ...rest }]);
  return outcome.ok ? outcome.value.text : '';
}

function wordErrors(reference, heard) {
  const words = text =>
    text
      .toLowerCase()
      .replace(/[^a-z' ]/g, ' ')
      .split(/\s+/)
      .filter(Boolean);
  const [a, b] = [words(reference), words(heard)];
  let row = [...Array(b.length + 1).keys()];
  a.forEach((word, i) => {
    const next = [i + 1];
    b.forEach((other, j) =>
      next.push(Math.min(row[j + 1] + 1, next[j] + 1, row[j] + (word === other ? 0 : 1))),
    );
    row = next;
  });
  return { errors: row[b.length], words: a.length };
}

async function measureVoice(voice) {
  const spoken = [];
  for (const sentence of SENTENCES) spoken.push(await say(voice, sentence));
  const sentenceMs = spoken.map(({ ms }) => ms);
  const whole = await say(voice, TEXT);
  const tally = { errors: 0, words: 0, ms: 0, seconds: 0 };
  for (const [i, { samples }] of spoken.entries()) {
    const { value, ms } = await timed(() => transcribe(samples));
    const { errors, words } = wordErrors(SENTENCES[i], value);
    tally.errors += errors;
    tally.words += words;
    tally.ms += ms;
    tally.seconds += samples.length / RATE;
  }
  const paragraph = await timed(() => transcribe(whole.samples));
  const heard = wordErrors(TEXT, paragraph.value);
  return {
    ...{
      voice,
      sentenceP50Ms: percentile(sentenceMs, 0.5),
      firstAudioOfParagraphMs: round(whole.firstMs),
    },
    speechRtf: round(whole.ms / 1000 / (whole.samples.length / RATE)),
    sentences: {
      wer: round(tally.errors / tally.words),
      rtf: round(tally.ms / 1000 / tally.seconds),
    },
    paragraph: {
      wer: round(heard.errors / heard.words),
      rtf: round((paragraph.ms / 1000 / whole.samples.length) * RATE),
    },
  };
}

async function measureCancel(samples) {
  const latencies = [];
  for (let i = 0; i < 20; i++) {
    const abort = new AbortController();
    const running = transcribe(samples, abort.signal);
    await new Promise(resolve => setTimeout(resolve, 100 + 37 * i));
    const start = performance.now();
    abort.abort();
    await running;
    latencies.push(performance.now() - start);
  }
  return { p50Ms: percentile(latencies, 0.5), maxMs: percentile(latencies, 1) };
}

async function measureStream(samples) {
  const before = residentMb();
  const stream = await sphinx.openStream({ language: 'en', partials: true });
  const pushes = [];
  for (let at = 0; at < samples.length; at += RATE / 10) {
    pushes.push((await timed(() => stream.push(samples.subarray(at, at + RATE / 10)))).ms);
  }
  const { ms } = await timed(() => stream.commit());
  const seconds = round(samples.length / RATE);
  const residentMoreMb = residentMb() - before;
  await stream.close();
  return {
    seconds,
    residentMoreMb,
    push100msP50Ms: percentile(pushes, 0.5),
    push100msP95Ms: percentile(pushes, 0.95),
    finalMs: round(ms),
  };
}

async function measureSleep() {
  const late = [];
  for (let i = 0; i < 100; i++) {
    const until = performance.now() + 20;
    await sleepUntil(until);
    late.push(performance.now() - until);
  }
  return {
    meanLateMs: round(late.reduce((sum, value) => sum + value, 0) / late.length),
    p95LateMs: percentile(late, 0.95),
  };
}

const baseMb = residentMb();
const flite = createEngine({
  ...model,
  id: 'flite',
  kind: 'tts',
  engine: 'flite',
  options: {},
});
const fliteLoad = await timed(() => flite.load());
const fliteMb = residentMb();
const sphinx = createEngine({
  ...model,
  id: 'sphinx',
  kind: 'stt',
  engine: 'pocketsphinx',
  options: {},
});
const sphinxLoad = await timed(() => sphinx.load());
const sphinxMb = residentMb();
const loop = monitorEventLoopDelay({ resolution: 1 });
loop.enable();
const voices = [];
for (const { id } of flite.voices) voices.push(await measureVoice(id));
loop.disable();
const paragraph = (await say('rms', TEXT)).samples;
const result = {
  machine: {
    cpu: cpus()[0].model,
    cores: cpus().length,
    load1m: round(loadavg()[0]),
    node: process.version,
  },
  load: {
    fliteMs: round(fliteLoad.ms),
    fliteMb: fliteMb - baseMb,
    pocketsphinxMs: round(sphinxLoad.ms),
    pocketsphinxMb: sphinxMb - fliteMb,
  },
  voices,
  loopDelayWhileDecodingMs: {
    p50: round(loop.percentile(50) / 1e6),
    p99: round(loop.percentile(99) / 1e6),
  },
  cancel: await measureCancel(paragraph),
  stream: await measureStream((await say('rms', SENTENCES[6])).samples),
  sleep20ms: await measureSleep(),
};
await sphinx.close();
await flite.close();
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
