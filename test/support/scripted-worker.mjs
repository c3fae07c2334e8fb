/**
 * A worker that a stranger might have written: grpc-js on proto/, nothing of src/. It
 * computes nothing and does what each request's prompt (or text) says; `--fault NAME`
 * makes the whole worker misbehave.
 *
 *   node test/support/scripted-worker.mjs --model ID --port N [--host H] [--kind stt] [--max-batch 4] [--fault NAME]
 *
 * Prompts: `sleep MS` takes the device that long; `hold` takes it until cancelled; `fail
 * CODE`; `crash` ends the process. An answer is one JSON object: the request's id, bytes,
 * priority and group, and the size of its engine call.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import http2 from 'node:http2';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { loadPackageDefinition, Metadata, Server, ServerCredentials, status } from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';

const { values: options } = parseArgs({
  options: {
    model: { type: 'string', default: 'm' },
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '0' },
    kind: { type: 'string', default: 'stt' },
    'max-batch': { type: 'string', default: '4' },
    streams: { type: 'string', default: '0' },
    device: { type: 'string', default: 'cpu' },
    fault: { type: 'string', default: '' },
    /** Audio is WAV: an answer has its length, and anything else is invalid_audio. */
    strict: { type: 'boolean', default: false },
    /** Seconds of each segment of an answer; 0: one segment. */
    'segment-s': { type: 'string', default: '0' },
    /** Environment variables whose values become the revision. */
    tell: { type: 'string', multiple: true, default: [] },
  },
});
const { model, kind, fault } = options;
const maxBatch = Number(options['max-batch']);

/** What is wrong with the process before it serves anything. */
const PROCESS_FAULTS = {
  exit: () => {
    process.stderr.write('cannot load model.bin: no such file\n');
    process.exit(3);
  },
  'never-listens': () => setInterval(() => undefined, 1000),
  flood: () => {
    const line = 'x'.repeat(1000);
    setInterval(() => process.stderr.write(`${line}\n`.repeat(1000)), 5);
  },
  forks: () => {
    const deaf = 'process.on("SIGTERM", () => undefined); setInterval(() => undefined, 1000)';
    const child = spawn(process.execPath, ['-e', deaf], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    process.stdout.write(`forked ${child.pid}\n`);
  },
  'ignores-sigterm': () => process.on('SIGTERM', () => undefined),
  dies: () => setTimeout(() => process.exit(4), 1000),
  'says-ready': () =>
    setTimeout(() => {
      isLoaded = true;
      process.stdout.write('ready\n');
    }, 2000),
};

/** What is wrong in what it says about itself. */
const HEALTH_FAULTS = {
  'never-ready': { state: 'STATE_STARTING' },
  /** It loads for 6 s. */
  'ready-late': {
    get state() {
      return Date.now() - startedAt < 6000 ? 'STATE_STARTING' : 'STATE_READY';
    },
  },
  'says-ready': {
    get state() {
      return isLoaded ? 'STATE_READY' : 'STATE_STARTING';
    },
  },
  'wrong-model': { model: 'another' },
  'wrong-kind': { kind: 'llm' },
  'too-many-slots': { maxBatch: 100_000 },
  'no-slots': { maxBatch: 0 },
  'small-messages': { maxMessageBytes: 4 * 1024 * 1024 },
  'long-device': { device: 'x'.repeat(2000) },
};

const startedAt = Date.now();
let isLoaded = false;
let draining = false;
let inFlight = 0;

const healthReport = () => ({
  state: draining ? 'STATE_DRAINING' : 'STATE_READY',
  model,
  kind,
  engine: 'scripted',
  device: options.device,
  revision: JSON.stringify(options.tell.map(name => process.env[name] ?? null)),
  maxBatch,
  maxConcurrent: 1,
  streams: Number(options.streams),
  inFlight,
  maxMessageBytes: 41 * 1024 * 1024,
  ...HEALTH_FAULTS[fault],
});

/**
 * What is wrong in how it serves; `switchyard worker check` finds each. `few-slots`:
 * reads two calls at a time.
 */
const faulty = name => fault === name;
const FEW = 2;

/** Ends connections that are pinged, as gRPC's C core does by default. */
if (faulty('punishes-pings')) {
  const create = http2.createServer;
  http2.createServer = (...args) =>
    create(...args).on('session', session => {
      let pings = 0;
      session.on(
        'ping',
        () => (pings += 1) > 2 && session.goaway(11, 0, Buffer.from('too_many_pings')),
      );
    });
}

/**
 * Answers no probe any more, one second after its start, as a process whose engine
 * holds the interpreter.
 */
const isHung = () => fault === 'hangs' && Date.now() - startedAt > 1000;

class Failure extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }

  get serviceError() {
    const metadata = new Metadata();
    const about = this.code === 'invalid_audio';
    if (about) metadata.set('switchyard-param', faulty('raw-param') ? 'a file' : 'file');
    if (!about || !faulty('no-code'))
      metadata.set('switchyard-code', about && faulty('own-code') ? 'bad' : this.code);
    const refused = this.code === 'no_worker' || this.code === 'shutting_down';
    return {
      code: refused ? status.UNAVAILABLE : status.INTERNAL,
      details: this.message,
      metadata,
    };
  }
}

/**
 * One engine call at a time, of all that waits, up to `maxBatch`; an idle device waits
 * 250 ms for a whole group.
 */
class Device {
  #waiting = [];
  #busy = false;
  #timer;

  compute(ticket) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...ticket, resolve, reject });
      ticket.signal.addEventListener('abort', () => this.#cancelled(ticket), {
        once: true,
      });
      this.#next();
    });
  }

  #cancelled({ id, signal }) {
    const at = this.#waiting.findIndex(ticket => ticket.id === id);
    if (at >= 0) this.#waiting.splice(at, 1)[0].reject(signal.reason);
  }

  #next(late = false) {
    const [first] = this.#waiting;
    if (this.#busy || !first) return;
    clearTimeout(this.#timer);
    const present = this.#waiting.filter(({ group }) => group.id === first.group.id).length;
    if (!late && present < Math.min(first.group.size, maxBatch)) {
      this.#timer = setTimeout(() => this.#next(true), 250);
      return;
    }
    void this.#run(this.#waiting.splice(0, maxBatch));
  }

  async #run(batch) {
    this.#busy = true;
    const began = performance.now();
    const limitMs = batch.reduce((sum, { group }) => sum + group.limitMs, 0);
    for (const { id } of batch) Object.assign(running.get(id), { began, limitMs });
    const batchId = randomUUID();
    const outcomes = await Promise.all(batch.map(ticket => perform(ticket).catch(error => error)));
    const failure = faulty('fails-together') && outcomes.find(outcome => outcome instanceof Error);
    if (failure) outcomes.fill(failure);
    this.#busy = false;
    const execution = {
      prepMs: 0,
      readyWaitMs: 0,
      deviceMs: performance.now() - began,
      batchSize: batch.length,
      batchId,
    };
    batch.forEach(({ resolve, reject }, index) => {
      if (outcomes[index] instanceof Error) reject(outcomes[index]);
      else resolve(execution);
    });
    this.#next();
  }
}

async function perform({ script, signal, problem, seconds }) {
  if (problem) throw problem;
  const untilMs = performance.now() + (faulty('blocks') && seconds > 20 ? 2500 : 0);
  while (performance.now() < untilMs);
  const [verb, argument] = script.split(' ');
  if (verb === 'crash') process.exit(9);
  if (verb === 'fail') throw new Failure(argument, `told to fail with ${argument}`);
  const ms = verb === 'hold' ? 3_600_000 : verb === 'sleep' ? Number(argument) : 5;
  await new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    if (fault === 'deaf') return;
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

const device = new Device();
const running = new Map();

const NO_AUDIO = new Failure('invalid_audio', 'This is no WAV file.');

/** A header that was written before the end is known holds ffffffff. */
function dataBytes(audio) {
  const told = audio.readUInt32LE(40);
  return told === 0xffffffff ? audio.length - 44 : told;
}

/**
 * Seconds by the header of a WAV file, in `--strict` mode; 1 otherwise. @throws Failure
 */
function secondsOf(audio) {
  if (!options.strict || faulty('says-one-second')) return 1;
  if (audio.toString('latin1', 0, 4) === 'RIFF') return dataBytes(audio) / audio.readUInt32LE(28);
  if (faulty('accepts-anything')) return 1;
  throw NO_AUDIO;
}

/**
 * Runs one request to its end. @param receive resolves with the bytes of its audio and
 * its first 44 bytes
 */
async function serve(call, request, script, receive) {
  if (draining) throw new Failure('shutting_down', 'The worker drains.');
  while (faulty('few-slots') && inFlight >= FEW)
    await new Promise(resolve => setTimeout(resolve, 10));
  const controller = new AbortController();
  const ends = faulty('ends-as-failed') ? 'engine_failed' : 'request_cancelled';
  const stop = () => controller.abort(new Failure(ends, 'The request was cancelled.'));
  call.once('cancelled', faulty('forgets-deadlines') ? () => (inFlight += 1) : stop);
  running.set(request.requestId, { stop, attempt: request.group?.id });
  inFlight += 1;
  try {
    const { signal } = controller;
    const { bytes, head } = await receivedUnless(signal, receive);
    const group = {
      id: request.group?.id || request.requestId,
      size: request.group?.size || 1,
      limitMs: request.group?.timeLimitMs || 0,
    };
    const { problem, seconds } = prepared(head);
    const execution = await device.compute({
      id: request.requestId,
      script,
      group,
      signal,
      problem,
      seconds,
    });
    const { requestId: id, priority } = request;
    return {
      execution,
      seconds,
      text: JSON.stringify({
        id,
        bytes,
        priority,
        group: { id: group.id, size: group.size },
        together: execution.batchSize,
      }),
    };
  } finally {
    inFlight -= 1;
    running.delete(request.requestId);
    if (draining) leaveWhenIdle();
  }
}

/**
 * A bad file fails before the device, unless the fault is that it takes
 * its neighbours along.
 */
function prepared(head) {
  try {
    return { seconds: head ? secondsOf(head) : 1 };
  } catch (error) {
    if (faulty('fails-together')) return { problem: error, seconds: 1 };
    throw error;
  }
}

/** `deaf`: a cancel is acknowledged, and the call goes on. */
function receivedUnless(signal, receive) {
  if (faulty('deaf')) return new Promise(() => undefined);
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    receive().then(resolve, reject);
  });
}

const answered = (error, callback) =>
  callback(error instanceof Failure ? error.serviceError : error);

function transcript(request, { execution, text, seconds }) {
  const lengthS = Number(options['segment-s']) || seconds;
  const segments = Array.from({ length: Math.ceil(seconds / lengthS) }, (_, id) => ({
    ...{ id, start: id * lengthS, end: Math.min(seconds, (id + 1) * lengthS) },
    text: id === 0 ? text : `segment ${id}`,
  }));
  return {
    text,
    language: request.language || 'en',
    durationS: seconds,
    segments,
    words: [],
    execution,
  };
}

async function upload(messages) {
  let bytes = 0;
  let head;
  for await (const { audio } of messages) {
    head ??= audio;
    bytes += audio.length;
  }
  return { bytes, head: head ?? Buffer.alloc(0) };
}

/** Undefined also for another attempt at a request that runs. */
function callOf({ requestId, attempt }) {
  const call = running.get(requestId);
  const isIt = !attempt || faulty('stops-any-attempt') || attempt === call?.attempt;
  return isIt ? call : undefined;
}

const control = {
  progress: ({ request }, callback) => {
    const { began, limitMs = 0, attempt } = callOf(request) ?? {};
    const known = attempt !== undefined && !faulty('knows-no-progress');
    const deviceMs = began === undefined ? 0 : performance.now() - began;
    callback(null, { known, onDevice: began !== undefined, deviceMs, limitMs });
  },
  cancel: ({ request }, callback) => {
    const call = callOf(request);
    if (!faulty('denies-cancels')) call?.stop();
    const acknowledged =
      (call !== undefined && !faulty('denies-cancels')) ||
      (faulty('knows-everything') && !request.attempt);
    setTimeout(() => callback(null, { acknowledged }), faulty('slow-cancels') ? 300 : 0);
  },
  health: (_, callback) => {
    if (isHung()) return;
    callback(null, healthReport());
    if (draining) seenDraining = true;
  },
};

const speechToText = {
  ...control,
  transcribeFile: (call, callback) => {
    if (faulty('never-answers')) return;
    const { audio } = call.request;
    serve(call, call.request, call.request.prompt, async () => ({
      bytes: audio.length,
      head: audio,
    })).then(
      done => callback(null, transcript(call.request, done)),
      error => answered(error, callback),
    );
  },
  transcribeUpload: async call => {
    try {
      const messages = call[Symbol.asyncIterator]();
      const { start } = (await messages.next()).value;
      const done = transcript(
        start,
        await serve(call, start, start.prompt, () => upload(messages)),
      );
      for (const segment of done.segments)
        call.write({ segment: { segment, words: [], logprobs: [] } });
      while (faulty('floods')) {
        for (let n = 0; n < 100; n += 1)
          call.write({
            segment: { segment: done.segments[0], words: [], logprobs: [] },
          });
        await new Promise(resolve => setImmediate(resolve));
        if (call.cancelled) return;
      }
      if (!faulty('no-done')) call.write({ done });
      call.end();
    } catch (error) {
      call.emit('error', error instanceof Failure ? error.serviceError : error);
    }
  },
  /** Each commit, and the end, gives one final with the bytes heard. */
  transcribeStream: async call => {
    let utterance = 0;
    let bytes = 0;
    const final = () => {
      call.write({
        final: { utterance, text: `${bytes} bytes`, start: 0, end: 1, words: [] },
      });
      utterance += 1;
      bytes = 0;
    };
    for await (const { config, audio, commit } of call) {
      if (config) call.write({ ready: {} });
      else if (commit && faulty('no-finals')) continue;
      else if (commit) final();
      else bytes += audio.length;
    }
    if (bytes > 0) final();
    call.end();
  },
};

const nothing = async () => ({ bytes: 0 });

const textToSpeech = {
  ...control,
  synthesize: async call => {
    try {
      const { execution, text } = await serve(call, call.request, call.request.text, nothing);
      call.write({ header: { contentType: 'audio/wav', sampleRate: 24_000 } });
      call.write({ audio: Buffer.from(text) });
      call.write({ done: { durationS: 1, execution } });
      call.end();
    } catch (error) {
      call.emit('error', error instanceof Failure ? error.serviceError : error);
    }
  },
};

const textGeneration = {
  ...control,
  embed: (call, callback) => {
    const { inputs, body } = call.request;
    serve(call, call.request, JSON.parse(body.toString()).user ?? '', async () => ({
      bytes: body.length,
    })).then(
      ({ execution }) => {
        const vectors = Buffer.from(new Float32Array(inputs * 2).fill(0.5).buffer);
        callback(null, { vectors, dimensions: 2, execution });
      },
      error => answered(error, callback),
    );
  },
};

const standardHealth = {
  check: (_, callback) =>
    isHung() ||
    callback(null, {
      status: draining || faulty('not-serving') ? 'NOT_SERVING' : 'SERVING',
    }),
};

let seenDraining = false;
function leaveWhenIdle() {
  if (inFlight > 0) return;
  setTimeout(() => process.exit(0), seenDraining ? 100 : 300);
}

function listen() {
  const folder = fileURLToPath(new URL('../../proto/', import.meta.url));
  const files = ['stt', 'tts', 'generation'].map(name => `switchyard/v1/${name}.proto`);
  const definition = protoLoader.loadSync([...files, 'grpc/health/v1/health.proto'], {
    ...{
      includeDirs: [folder],
      longs: Number,
      enums: String,
      defaults: true,
      oneofs: true,
    },
  });
  const { switchyard, grpc } = loadPackageDefinition(definition);
  const server = new Server({
    'grpc.max_receive_message_length': (faulty('receives-little') ? 4 : 48) * 1024 * 1024,
    'grpc.so_reuseport': 0,
  });
  server.addService(switchyard.v1.SpeechToText.service, speechToText);
  server.addService(switchyard.v1.TextToSpeech.service, textToSpeech);
  server.addService(switchyard.v1.TextGeneration.service, textGeneration);
  if (fault !== 'no-standard-health')
    server.addService(grpc.health.v1.Health.service, standardHealth);
  const port = fault === 'wrong-port' ? '0' : options.port;
  server.bindAsync(
    `${options.host}:${port}`,
    ServerCredentials.createInsecure(),
    (error, bound) => {
      if (error) throw error;
      process.stdout.write(`scripted worker for ${model} listens on ${bound}\n`);
    },
  );
}

if (fault !== 'ignores-sigterm') {
  process.on('SIGTERM', () => {
    if (faulty('drops-calls')) process.exit(0);
    draining = true;
    leaveWhenIdle();
  });
}
PROCESS_FAULTS[fault]?.();
if (fault !== 'never-listens') listen();
