import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { seededRandom } from '../../bench/support/seeded-random.js';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';
import { type GatewayRig } from '../api/gateway-rig.js';
import { heardIn, realtimeRig } from './realtime-rig.js';

/** Mutated messages; `SWITCHYARD_FUZZ=100000` for a long run. */
const MESSAGES = Number(process.env.SWITCHYARD_FUZZ ?? 5000);
const random = seededRandom(Number(process.env.SWITCHYARD_FUZZ_SEED ?? 1));
const below = (limit: number): number => Math.floor(random() * limit);
const oneOf = <T>(values: readonly T[]): T => values[below(values.length)]!;

const ODD = [
  null,
  true,
  -1,
  1e308,
  '',
  '\u0000',
  'x'.repeat(300),
  [],
  [[]],
  {},
  { type: {} },
  '__proto__',
  'audio/pcm',
];
const SEEDS: readonly object[] = [
  {
    type: 'session.update',
    session: {
      type: 'transcription',
      audio: {
        input: {
          format: { type: 'audio/pcm', rate: 24_000 },
          turn_detection: null,
          transcription: { model: 'synthetic', language: 'en' },
        },
      },
    },
  },
  {
    type: 'transcription_session.update',
    session: { input_audio_format: 'pcm16', turn_detection: null },
  },
  { type: 'input_audio_buffer.append', audio: 'AAAAAAAA' },
  { type: 'input_audio_buffer.commit' },
  { type: 'input_audio_buffer.clear' },
  {
    type: 'conversation.item.create',
    item: {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'hi' }],
    },
  },
  {
    type: 'response.create',
    response: { input: [], metadata: {}, audio: { output: { voice: 'alloy' } } },
  },
  { type: 'response.cancel', response_id: 'resp_1' },
];

/** A client event with some of its parts replaced, removed, added or cut. */
function mutated(): Buffer | string {
  if (random() < 0.2) return Buffer.from(Array.from({ length: below(400) }, () => below(256)));
  const event = JSON.parse(JSON.stringify(oneOf(SEEDS))) as Record<string, unknown>;
  for (let changes = below(3); changes > 0; changes -= 1) change(event);
  const text = JSON.stringify(event);
  return random() < 0.1 ? text.slice(0, below(text.length)) : text;
}

function change(value: Record<string, unknown>): void {
  const keys = Object.keys(value);
  const key =
    keys.length === 0 || random() < 0.2
      ? oneOf(['event_id', 'type', 'session', 'extra', '0'])
      : oneOf(keys);
  const inner = value[key];
  if (typeof inner === 'object' && inner !== null && random() < 0.7)
    change(inner as Record<string, unknown>);
  else if (random() < 0.2) delete value[key];
  else value[key] = structuredClone(oneOf(ODD));
}

describe(`${MESSAGES} mutated messages`, () => {
  let rig: GatewayRig;
  beforeAll(async () => {
    rig = await realtimeRig({ streams: 8 });
  });
  afterAll(() => rig.close());

  it(
    'crash nothing, leave nothing behind and disturb no other session',
    async () => {
      const neighbour = await RealtimeClient.synthetic(rig.url);
      let attacker = await RealtimeClient.open(rig.url);
      for (let sent = 0; sent < MESSAGES; sent += 1) {
        const message = mutated();
        if (typeof message === 'string') attacker.send(message);
        else attacker.say(message);
        if (sent % 100 !== 99) continue;
        // Every hundred messages the neighbour must be understood, and the
        // attacker comes again.
        expect(rig.pool.workers()[0]?.lastExit).toBeUndefined();
        await saidAndHeard(neighbour, `round ${sent}`.padEnd(12));
        attacker.socket.close(1000);
        await attacker.closed;
        attacker = await RealtimeClient.open(rig.url);
      }
      const codes = (await rig.json('/health')) as { status: string };
      expect(codes.status).toBe('ok');
      expect(rig.pool.workers()[0]?.restarts).toBe(0);
      expect(neighbour.types().filter(type => type === 'error')).toEqual([]);
      for (const client of [attacker, neighbour]) client.socket.close(1000);
      await Promise.all([attacker.closed, neighbour.closed]);
      while (rig.pool.workers().some(({ streamsInUse }) => streamsInUse !== 0))
        await new Promise(next => setTimeout(next, 5));
    },
    60_000 + MESSAGES * 10,
  );
});

async function saidAndHeard(client: RealtimeClient, text: string): Promise<void> {
  client.say(text);
  client.commit();
  expect((await client.next(`${TRANSCRIPTION}.completed`)).transcript).toBe(heardIn(text));
}
