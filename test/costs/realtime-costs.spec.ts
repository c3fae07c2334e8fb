import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { builtLaunch, type GatewayRig } from '../integration/api/gateway-rig.js';
import { realtimeRig } from '../integration/realtime/realtime-rig.js';
import { RealtimeClient } from '../support/realtime-client.js';
import { expectCheap, MOST_MS } from './request-cost.js';

/** A message that grows with a count; a refusal may cost no more. */
interface Case {
  readonly most: number;
  readonly message: (count: number) => object;
}

const numbered = <T>(count: number, value: (at: number) => T): Record<string, T> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value(at)]));
const update = (input: object) => ({
  type: 'session.update',
  session: { type: 'transcription', audio: { input } },
});
const said = (count: number) => ({
  type: 'message',
  role: 'user',
  content: Array.from({ length: count }, () => ({ type: 'input_text', text: 'x'.repeat(4000) })),
});

const CASES: Readonly<Record<string, Case>> = {
  'unknown fields of an event': {
    most: 9000,
    message: n => ({ type: 'session.update', ...numbered(n, () => 1) }),
  },
  'unknown fields of a session': {
    most: 9000,
    message: n => update(numbered(n, () => 1)),
  },
  'words of a prompt': {
    most: 700_000,
    message: n => update({ transcription: { model: 'synthetic', prompt: 'word '.repeat(n) } }),
  },
  'parts of an item': {
    most: 100,
    message: n => ({ type: 'conversation.item.create', item: said(n) }),
  },
  'metadata of a response': {
    most: 9000,
    message: n => ({ type: 'response.create', response: { metadata: numbered(n, String) } }),
  },
  audio: {
    most: 3 << 20,
    message: n => ({
      type: 'input_audio_buffer.append',
      audio: Buffer.alloc(0.75 * n, 1).toString('base64'),
    }),
  },
};

let rig: GatewayRig;
beforeAll(async () => {
  const settings = { 'realtime.max_ahead_ms': 600_000 };
  rig = await realtimeRig({ launch: builtLaunch, settings });
}, 60_000);
afterAll(() => rig.close());

describe('the largest message of a live session', () => {
  it.each(Object.entries(CASES))(
    `%s: costs at most ${MOST_MS} ms of CPU or comes in pieces, and grows with its size`,
    async (name, { most, message }) => {
      const client = await RealtimeClient.synthetic(rig.url);
      await expectCheap(name, most, count => {
        const text = JSON.stringify(message(count));
        expect(text.length).toBeLessThan(4 << 20);
        return async () => {
          client.send(text);
          client.send({ type: 'input_audio_buffer.clear' });
          expect(await client.next('input_audio_buffer.cleared')).toBeDefined();
        };
      });
      client.socket.close();
    },
  );
});
