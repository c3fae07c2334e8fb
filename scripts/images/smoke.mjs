import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { inRoot, lastLines } from '../setup/command.mjs';
import { done, SetupError, warn } from '../setup/report.mjs';

const START_MS = 180_000;
/** Beyond Switchyard's own engines: a model whose answer takes three seconds. */
const SLOW = `
  - id: slow
    kind: llm
    engine: synthetic
    capabilities: [chat]
    options: { baseMs: 1000, perTokenMs: 250, tokens: 8 }
`;
const ADD_SLOW = `sed -i 's/^models: \\[\\]$/models:/' data/models.yaml && printf '%s' "$1" >> data/models.yaml`;
const SPOKEN = 'the train is on the right track';

/**
 * What each image must do, whoever runs it: a first start that prints one key and serves
 * nobody without it; a root that is not written, by uid 1000; a drain that answers what runs;
 * a second start with the same data.
 * @param options `models`: fetch Whisper into `speech`, from a hub or a package index
 * @throws SetupError with what differs and the end of the log
 */
export async function smoke(engine, target, tag, { models }) {
  const container = await engine.start(tag);
  try {
    const key = await firstStart(container);
    const ask = (path, init = {}) =>
      fetch(`${container.url}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${key}`, ...init.headers },
      });
    await confined(container);
    await OF_TARGET[target]?.({ container, ask, models });
    demand(
      (await container.exec('sh', '-c', ADD_SLOW, 'sh', SLOW)).code === 0,
      'models.yaml is written',
    );
    demand((await container.stop()) === 0, 'an idle container ends with code 0');
    await container.start();
    await until(
      'ready',
      container,
      async () => (await ask('/v1/models/slow')).ok && ready(container),
    );
    await drains(container, ask);
    demand(count(await container.logs(), 'it made one') === 1, 'one key is made, once');
  } catch (error) {
    throw new SetupError(`${target}: ${error.message}\n${lastLines(await container.logs())}`);
  } finally {
    await container.remove();
  }
  done(target, 'key, 401, uid 1000, read-only root, drain, second start');
}

const demand = (holds, what) => {
  if (!holds) throw new SetupError(`not true: ${what}`);
};
const count = (text, part) => text.split(part).length - 1;

async function until(what, container, holds) {
  for (const end = Date.now() + START_MS; Date.now() < end; await pause(300)) {
    if (await holds().catch(() => false)) return;
    demand(await container.isRunning(), `it runs until it is ${what}`);
  }
  throw new SetupError(`not ${what} within ${START_MS / 1000} s`);
}

const ready = async ({ url }) => (await fetch(`${url}/health/ready`)).ok;

async function firstStart(container) {
  await until('live', container, async () => (await fetch(`${container.url}/health/live`)).ok);
  const [, key] = /^ {2}(sk-\S+)$/m.exec(await container.logs()) ?? [];
  demand(key, 'the first start prints a key');
  const status = async headers => (await fetch(`${container.url}/v1/models`, { headers })).status;
  demand((await status({})) === 401, '401 without a key');
  demand((await status({ authorization: `Bearer ${key}` })) === 200, '200 with the key');
  return key;
}

async function confined(container) {
  demand((await container.exec('id', '-u')).output.trim() === '1000', 'it runs as uid 1000');
  const { output } = await container.exec(
    'sh',
    '-c',
    'touch /app/written /usr/written; ls /app/written',
  );
  demand(count(output, 'Read-only file system') === 2, 'its root is read-only');
  const version = await container.exec('switchyard', '--version');
  demand(/^\d+\.\d+\.\d+/m.test(version.output), 'the command line starts by its name');
}

/** SIGTERM comes while the answer is computed: it is whole, and the container ends by itself. */
async function drains(container, ask) {
  const body = {
    model: 'slow',
    messages: [{ role: 'user', content: 'one two three four five six' }],
  };
  const headers = { 'content-type': 'application/json', 'x-request-id': 'draining' };
  const answer = ask('/v1/chat/completions', {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  const isRunning = async () =>
    (await (await ask('/v1/requests/draining')).json()).state === 'running';
  await until('answering', container, isRunning);
  const stopped = container.stop();
  const { choices } = await (await answer).json();
  demand(choices?.[0].finish_reason, 'a request that runs is answered while the container drains');
  demand((await stopped) === 0, 'a drained container ends with code 0');
}

async function transcribed(ask, bytes, name, model) {
  const form = new FormData();
  form.set('file', new Blob([bytes]), name);
  form.set('model', model);
  const { text } = await (
    await ask('/v1/audio/transcriptions', { method: 'POST', body: form })
  ).json();
  return String(text).toLowerCase();
}

const OF_TARGET = {
  /** It speaks, and hears what it said. */
  async cpu({ container, ask }) {
    await until('ready', container, () => ready(container));
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ model: 'tts-1', voice: 'alloy', input: SPOKEN });
    const speech = await ask('/v1/audio/speech', { method: 'POST', headers, body });
    const text = await transcribed(ask, await speech.arrayBuffer(), 'spoken.mp3', 'whisper-1');
    demand(/right track/.test(text), `it hears what it said (${text})`);
    done('cpu', `spoke and heard "${text}"`);
  },
  /** Whisper hears the recording of the manual. */
  async speech({ container, ask, models }) {
    const { output } = await container.exec('switchyard', 'engines', 'list');
    demand(/^ctranslate2 +4\./m.test(output), `CTranslate2 is installed\n${output}`);
    if (!models) return warn('speech: nothing was transcribed (--no-models)');
    const added = await container.exec('switchyard', 'models', 'starter', 'whisper-base', '--yes');
    if (/cannot be reached|unreachable/.test(added.output))
      return warn(
        `speech: nothing was transcribed, since no model came: ${lastLines(added.output)}`,
      );
    demand(added.code === 0, `Whisper base is added\n${lastLines(added.output)}`);
    const recording = readFileSync(inRoot('config/verify-speech.ogg'));
    const text = await transcribed(ask, recording, 'speech.ogg', 'whisper-1');
    demand(text.split(' ').length > 5, `Whisper hears a sentence (${text})`);
    done('speech', `Whisper heard "${text.trim().slice(0, 70)}"`);
  },
};
