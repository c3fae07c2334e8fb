import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GatewayRig, until } from '../integration/api/gateway-rig.js';
import { ttsModel } from '../integration/api/models.js';
import { RawHttp } from '../integration/api/raw-http.js';
import { freePort } from '../support/free-port.js';
import { HalfOpenLink } from './seeded/half-open-link.js';

/** The longest input, 15 characters a second: 13 MB, which no socket takes at once. */
const CHARACTERS = 4096;
const WHOLE_BYTES = Math.ceil((CHARACTERS / 15) * 48_000);
const CALLERS = 4;

let rig: GatewayRig;
let link: HalfOpenLink;
let near: number;
beforeAll(async () => {
  const options = { charactersPerSecond: 15, maxBatch: 1, steps: 16, baseMs: 160 };
  rig = await GatewayRig.start({
    models: [ttsModel({ replicas: 1, voices: { alloy: 'synthetic' }, options })],
    launch: 'hosted',
  });
  link = new HalfOpenLink(rig.port);
  near = await freePort();
  await link.listen(near);
});
afterAll(async () => {
  await link[Symbol.asyncDispose]();
  await rig.close();
});

const speak = (port: number, signal?: AbortSignal): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-priority': 'realtime' },
    body: JSON.stringify({
      ...{ model: 'tts', voice: 'alloy', input: 'a'.repeat(CHARACTERS), response_format: 'pcm' },
    }),
    ...(signal && { signal }),
  });
const slotsInUse = (): number =>
  rig.pool.workers().reduce((sum, { slots }) => sum + slots.inUse, 0);

describe('a caller that disappears without closing its connection', () => {
  it.each([
    ['what is sent to it is lost', () => link.cut(), () => link.heal()],
    ['nothing is taken from it', () => link.freeze('there', 'back'), () => link.letOthersPass()],
  ])(
    'in the middle of speech, %s: the slots are free, and the next speech is whole',
    async (_, vanish, end) => {
      const left = new AbortController();
      const answers = await Promise.all(
        Array.from({ length: CALLERS }, () => speak(near, left.signal)),
      );
      for (const { body } of answers) await body!.getReader().read();
      vanish();
      const whole = await (await speak(rig.port)).arrayBuffer();
      expect(Math.abs(whole.byteLength - WHOLE_BYTES)).toBeLessThan(16);
      await until(() => slotsInUse() === 0);
      end();
      left.abort();
    },
  );

  it('is probed by the system while its connection has no traffic', async () => {
    const { socket } = await RawHttp.open(rig.port);
    const lines = (await readFile('/proc/net/tcp', 'utf8')).trim().split('\n').slice(1);
    const [, , , , , timer] = lines
      .map(line => line.trim().split(/\s+/))
      .find(([, at, peer]) => portOf(at!) === rig.port && portOf(peer!) === socket.localPort)!;
    // Timer 2 of the system is that of keep-alive.
    expect(timer).toMatch(/^02:/);
    socket.destroy();
  });
});

/** Of `0100007F:1F90`. */
const portOf = (address: string): number => parseInt(address.split(':')[1]!, 16);
