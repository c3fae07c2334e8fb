import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { bearer, KeysFolder } from '../auth/keys-folder.js';
import { builtLaunch, GatewayRig, type RigOptions, until } from './gateway-rig.js';
import { ttsModel } from './models.js';
import { RawHttp } from './raw-http.js';

const TENANTS = 40;
/** The longest input. */
const CHARACTERS = 4096;
/** A second of 24 kHz with 16 bits. */
const BYTES_PER_S = 48_000;
const CHARACTERS_PER_S = 250;
const SPEED = 4;
const WHOLE_BYTES = Math.ceil((CHARACTERS / CHARACTERS_PER_S / SPEED) * BYTES_PER_S);
const SENTENCE =
  'The train leaves at seven before nobody waits for it and arrives at noon for something else. ';
const TEXT = SENTENCE.repeat(Math.ceil(CHARACTERS / SENTENCE.length)).slice(0, CHARACTERS);
const LONG = { model: 'tts', voice: 'alloy', input: TEXT, speed: SPEED };

const whole = ttsModel({
  replicas: 1,
  voices: { alloy: 'synthetic' },
  options: { charactersPerSecond: CHARACTERS_PER_S, maxBatch: 1, steps: 4, baseMs: 4 },
});
/** With generated weights: it speaks sentences in turns. */
const inTurns: ModelSpec = {
  ...whole,
  engine: 'sherpa-onnx',
  voices: { alloy: '1' },
  options: { modelDir: resolve('test/fixtures/sherpa/vits') },
};

const folder = new KeysFolder();
const keys = Array.from({ length: TENANTS }, (_, at) => folder.add(`tenant-${at}`, 'inference'));
const operator = folder.add('operator', 'admin');

/** The worker of an engine with work to do is a process of its own. */
async function rigWith(settings: RigOptions['settings'], model = whole): Promise<GatewayRig> {
  const rig = await GatewayRig.start({
    models: [model],
    settings: { 'auth.keys_file': folder.file, ...settings },
    launch: model === whole ? 'hosted' : builtLaunch,
  });
  await rig.ready('tts');
  return rig;
}

const speak = (rig: GatewayRig, key: string): Promise<Response> =>
  rig.post(
    '/v1/audio/speech',
    { ...LONG, response_format: 'pcm' },
    { headers: { ...bearer(key), 'x-priority': 'realtime' } },
  );

const lengthOf = async (answer: Response): Promise<number> =>
  (await answer.arrayBuffer()).byteLength;

const live = async (rig: GatewayRig): Promise<number> => {
  const answer = await fetch(`${rig.url}/admin/v1/requests`, { headers: bearer(operator) });
  const { data } = (await answer.json()) as { data: readonly { state: string }[] };
  return data.filter(({ state }) => state === 'queued' || state === 'running').length;
};

const settledWith = async (rig: GatewayRig): Promise<void> => {
  await until(async () => (await live(rig)) === 0);
  await rig.close();
};

describe('4,096 characters from each of forty tenants', () => {
  it.each([
    ['speaks whole texts', whole],
    ['speaks sentences in turns', inTurns],
  ])('are all spoken to the end by a voice that %s', async (_title, model) => {
    const rig = await rigWith({}, model);
    const alone = await lengthOf(await speak(rig, keys[0]!));
    const answers = await Promise.all(keys.map(key => speak(rig, key)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    for (const length of await Promise.all(answers.map(lengthOf)))
      expect(Math.abs(length - alone)).toBeLessThan(100);
    await settledWith(rig);
  });

  it('are refused with the time to wait where the queue is full; the others are spoken to the end', async () => {
    const rig = await rigWith({ 'queue.max_requests': 8 });
    const answers = await Promise.all(keys.map(key => speak(rig, key)));
    const spoken = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(Math.min(spoken.length, refused.length)).toBeGreaterThan(0);
    for (const { status, headers } of refused) {
      expect([429, 503]).toContain(status);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    for (const length of await Promise.all(spoken.map(lengthOf)))
      expect(Math.abs(length - WHOLE_BYTES)).toBeLessThan(16);
    await settledWith(rig);
  });
});

describe('a player that stalls', () => {
  let rig: GatewayRig;
  beforeAll(async () => {
    rig = await rigWith({});
  });
  afterAll(() => rig.close());

  /** Reads nothing before `resume`. */
  async function stalled(): Promise<RawHttp> {
    const player = await RawHttp.open(rig.port);
    player.socket.pause();
    const body = JSON.stringify({ ...LONG, response_format: 'pcm' });
    player.send(
      'POST /v1/audio/speech HTTP/1.1',
      ...['Host: localhost', 'Connection: close', 'Content-Type: application/json'],
      ...['X-Priority: realtime', `Authorization: Bearer ${keys[0]}`],
      ...[`Content-Length: ${body.length}`, '', body],
    );
    return player;
  }

  it('holds neither the device nor a slot, and has all of its speech when it goes on', async () => {
    const players = await Promise.all(Array.from({ length: 8 }, stalled));
    // As many as have slots, and more: the next one would wait for ever.
    expect(await lengthOf(await speak(rig, keys[1]!))).toBeGreaterThan(WHOLE_BYTES - 16);
    await until(async () => (await live(rig)) === 0);
    for (const player of players) {
      player.socket.resume();
      const { status, body } = await player.answer(true);
      expect(status).toBe(200);
      expect(body.length).toBeGreaterThan(WHOLE_BYTES - 16);
    }
  });

  it('that disappears is forgotten: no request of it is left', async () => {
    const players = await Promise.all(Array.from({ length: 8 }, stalled));
    await until(async () => (await live(rig)) === 0);
    for (const { socket } of players) socket.resetAndDestroy();
    expect(await lengthOf(await speak(rig, keys[2]!))).toBeGreaterThan(WHOLE_BYTES - 16);
  });
});
