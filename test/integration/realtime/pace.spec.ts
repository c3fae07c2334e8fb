import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type WebSocket } from 'ws';
import { ClientSocket } from '../../../src/gateway/websockets/client-socket.js';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';
import { builtLaunch, type GatewayRig, until } from '../api/gateway-rig.js';
import { realtimeRig, signalWorker, streamsInUse } from './realtime-rig.js';

/** 100 ms at 16 kHz. */
const FRAME = Buffer.alloc(3200, 1);

describe('1 s ahead or behind at most', () => {
  let rig: GatewayRig;
  beforeAll(async () => {
    // The supervisor must not take a worker that stands still for dead: a replacement
    // would hear everything again.
    const patient = {
      'workers.health_failures': 1000,
      'workers.keepalive_timeout_ms': 60_000,
    };
    rig = await realtimeRig({
      launch: builtLaunch,
      settings: { 'realtime.max_ahead_ms': 1000, ...patient },
    });
  });
  afterAll(() => rig.close());

  describe('a client that sends faster than real time', () => {
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
      const [fast, neighbour] = [
        await RealtimeClient.synthetic(rig.url),
        await RealtimeClient.synthetic(rig.url),
      ];
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

  describe('a recogniser that stands still', () => {
    it('costs the session, not our memory: slowed and warned 1 s behind, closed with 1013 a second later', async () => {
      const client = await RealtimeClient.synthetic(rig.url);
      for (let frame = 0; frame < 3; frame += 1) client.say(FRAME);
      await client.next(`${TRANSCRIPTION}.delta`);
      signalWorker(rig, 'SIGSTOP');
      // Real time: 100 ms of audio every 100 ms.
      const talk = setInterval(() => client.say(FRAME), 100);
      expect((await client.next('session.warning')).warning.code).toBe('input_too_fast');
      expect((await client.next('error')).error).toMatchObject({
        code: 'queue_full',
        retry_after_ms: 1000,
      });
      expect((await client.closed).code).toBe(1013);
      clearInterval(talk);
      signalWorker(rig, 'SIGCONT');
      await until(() => streamsInUse(rig) === 0);
      // In real time: what lies between us and the recogniser has to fill up first.
    }, 120_000);
  });
});

describe('a client that does not read', () => {
  it('is closed with 1013 as soon as 4 MiB wait for it, and nothing more is kept for it', async () => {
    const rig = await realtimeRig();
    const client = await RealtimeClient.synthetic(rig.url);
    const waiting: number[] = [];
    const close = jest.spyOn(ClientSocket.prototype, 'close').mockImplementation(function (
      this: ClientSocket,
    ) {
      const { socket } = this as unknown as { socket: WebSocket };
      waiting.push(socket.bufferedAmount);
      socket.close(...(close.mock.calls.at(-1) as unknown as [number, string]));
    });
    client.socket.pause();
    const flood = setInterval(() => {
      for (let sent = 0; sent < 300; sent += 1)
        client.update({ transcription: { language: 'en' } });
    }, 5);
    await until(() => waiting.length > 0);
    clearInterval(flood);
    client.socket.resume();
    expect((await client.closed).code).toBe(1013);
    const LARGEST_EVENT = 2000;
    expect(Math.max(...waiting)).toBeLessThan(4 * 1024 * 1024 + LARGEST_EVENT);
    close.mockRestore();
    await rig.close();
  });
});
