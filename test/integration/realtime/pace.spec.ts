import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';
import { type GatewayRig } from '../api/gateway-rig.js';
import { realtimeRig } from './realtime-rig.js';

/** 100 ms at 16 kHz. */
const FRAME = Buffer.alloc(3200, 1);

describe('a client that sends faster than real time, 1 s ahead at most', () => {
  let rig: GatewayRig;
  beforeAll(async () => {
    rig = await realtimeRig({ settings: { 'realtime.max_ahead_ms': 1000 } });
  });
  afterAll(() => rig.close());

  it('is slowed and told once, and everything it said is heard', async () => {
    const client = await RealtimeClient.synthetic(rig.url);
    for (let frame = 0; frame < 16; frame += 1) client.say(FRAME);
    client.commit();
    const { usage } = await client.next(`${TRANSCRIPTION}.completed`);
    expect(usage.seconds).toBeCloseTo(1.6, 2);
    const warnings = client.events.filter(({ type }) => type === 'session.warning');
    expect(warnings.map(({ warning }) => warning.code as unknown)).toEqual(['input_too_fast']);
    client.socket.close(1000);
  });

  it('does not slow its neighbour', async () => {
    const [fast, neighbour] = [await RealtimeClient.synthetic(rig.url), await RealtimeClient.synthetic(rig.url)];
    for (let frame = 0; frame < 18; frame += 1) fast.say(FRAME);
    neighbour.say('meanwhile ');
    neighbour.commit();
    await neighbour.next(`${TRANSCRIPTION}.completed`);
    expect(neighbour.types()).not.toContain('session.warning');
    for (const client of [fast, neighbour]) client.socket.close(1000);
  });

  it('is closed with 1008 when it gets twice as far ahead', async () => {
    const client = await RealtimeClient.synthetic(rig.url);
    client.say(Buffer.alloc(32 * 2100, 1));
    expect((await client.closed).code).toBe(1008);
  });
});

describe('a client that does not read', () => {
  it('is closed instead of being buffered for', async () => {
    const rig = await realtimeRig({ settings: { 'realtime.max_buffered_bytes': 65_536 } });
    const client = await RealtimeClient.synthetic(rig.url);
    client.socket.pause();
    const flood = setInterval(() => {
      for (let sent = 0; sent < 500; sent += 1)
        client.send({ type: 'input_audio_buffer.clear', event_id: 'x'.repeat(400) });
    }, 5);
    // A peer that does not answer the close frame is cut: its own writes then fail.
    await new Promise(next => client.socket.once('error', next).once('close', next));
    clearInterval(flood);
    expect([1006, 1013]).toContain((await client.closed).code);
    await rig.close();
  });
});
