import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bearer, KeysFolder } from '../auth/keys-folder.js';
import { GatewayRig, until } from './gateway-rig.js';
import { ttsModel } from './models.js';
import { RawHttp } from './raw-http.js';

const TENANTS = 40;
/** The longest input. */
const CHARACTERS = 4096;
/** A second of 24 kHz with 16 bits. */
const BYTES_PER_S = 48_000;
const CHARACTERS_PER_S = 1000;
const WHOLE_BYTES = Math.ceil((CHARACTERS / CHARACTERS_PER_S) * BYTES_PER_S);
const LONG = { model: 'tts', voice: 'alloy', input: 'a'.repeat(CHARACTERS) };

const folder = new KeysFolder();
const keys = Array.from({ length: TENANTS }, (_, at) => folder.add(`tenant-${at}`, 'inference'));
const operator = folder.add('operator', 'admin');

const rigWith = (settings: Parameters<typeof GatewayRig.start>[0]['settings']) =>
  GatewayRig.start({
    models: [
      ttsModel({
        replicas: 1,
        voices: { alloy: 'synthetic' },
        options: { charactersPerSecond: CHARACTERS_PER_S, maxBatch: 1, steps: 4, baseMs: 4 },
      }),
    ],
    settings: { 'auth.keys_file': folder.file, ...settings },
    launch: 'hosted',
  });

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

describe('4,096 characters from each of forty tenants', () => {
  it('are all spoken to the end', async () => {
    const rig = await rigWith({});
    const answers = await Promise.all(keys.map(key => speak(rig, key)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const lengths = await Promise.all(answers.map(lengthOf));
    for (const length of lengths) expect(Math.abs(length - WHOLE_BYTES)).toBeLessThan(16);
    await until(async () => (await live(rig)) === 0);
    await rig.close();
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
    await until(async () => (await live(rig)) === 0);
    await rig.close();
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
