import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { RealtimeSessions } from '../../../src/gateway/realtime/realtime-sessions.js';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';
import { redisClient } from '../../support/redis-client.js';
import { RedisServer } from '../../support/redis-server.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { type GatewayRig, until } from '../api/gateway-rig.js';
import { heardIn, realtimeRig } from './realtime-rig.js';

const suite = describeWith(REDIS);

suite('a session of another gateway', () => {
  let redis: RedisServer;
  let one: GatewayRig;
  let other: GatewayRig;
  let client: RealtimeClient;

  beforeAll(async () => {
    redis = await RedisServer.start();
    const settings = { 'redis.url': redis.url };
    [one, other] = await Promise.all([realtimeRig({ settings }), realtimeRig({ settings })]);
  });
  afterAll(async () => {
    await one.close();
    await other.close();
    await redis[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    client = await RealtimeClient.synthetic(one.url);
  });
  afterEach(() => client.drop());

  const resume = (
    rig: GatewayRig,
    lastEventId: string,
    secret?: string,
  ): Promise<RealtimeClient> => {
    const { session } = client.events[0]!;
    const query = {
      session_id: session.id,
      session_secret: secret ?? session.resume.secret,
      last_event_id: lastEventId,
    };
    return RealtimeClient.open(rig.url, query);
  };
  const lastSeen = (): string => client.events.at(-1)!.event_id;
  const sessionsOf = (rig: GatewayRig) => rig.app.get(RealtimeSessions, { strict: false });

  it('goes on with what was missed, the audio that waits, and the numbers that follow', async () => {
    client.say('first words ');
    client.commit();
    const first = await client.next(`${TRANSCRIPTION}.completed`);
    const seen = client.events.at(-3)!.event_id;
    client.say('half a ');
    client.drop();
    const second = await resume(other, seen);
    const resumed = await second.next('session.resumed');
    expect(second.events.slice(0, 2).map(({ event_id }) => event_id)).toEqual(
      client.events.slice(-2).map(({ event_id }) => event_id),
    );
    expect(resumed.session.id).toBe(client.events[0]!.session.id);
    // What the first gateway had not written is said again by the client, from where
    // it is told.
    const said = Buffer.from('first words half a sentence!');
    const from = Math.round((resumed.audio_received_ms / 1000) * 32_000);
    second.say(said.subarray(from).toString());
    second.commit();
    const completed = await second.next(`${TRANSCRIPTION}.completed`);
    expect(completed.transcript).toBe(heardIn('half a sentence!'));
    expect(second.transcripts()).toEqual([heardIn('first words '), heardIn('half a sentence!')]);
    const segments = second.events.filter(({ type }) => type === `${TRANSCRIPTION}.segment`);
    expect(segments.at(-1)?.number).toBe(1);
    expect(first.item_id).not.toBe(completed.item_id);
    second.socket.close(1000);
  });

  it('is not said twice where the client has seen it', async () => {
    client.say('seen and done');
    client.commit();
    await client.next(`${TRANSCRIPTION}.completed`);
    const seen = lastSeen();
    client.drop();
    const second = await resume(other, seen);
    await second.next('session.resumed');
    second.say('more');
    second.commit();
    await second.next(`${TRANSCRIPTION}.completed`);
    expect(second.transcripts()).toEqual([heardIn('more')]);
    const ids = [...client.events, ...second.events].map(({ event_id }) => event_id);
    expect(new Set(ids).size).toBe(ids.length);
    second.socket.close(1000);
  });

  it('is taken away from a gateway that still has it: that one says nothing more', async () => {
    const { id } = client.events[0]!.session as { id: string };
    // A session before it ended elsewhere: for a second this gateway stores none.
    let second = await resume(other, lastSeen());
    await until(async () => {
      const resumed = await second.next('session.resumed').catch(() => undefined);
      if (!resumed) second = await resume(other, lastSeen());
      return resumed !== undefined;
    });
    client.say('to nobody');
    client.commit();
    expect((await client.closed).code).toBe(1008);
    expect(client.transcripts()).toEqual([]);
    expect(() => sessionsOf(one).find(id, '', { tenant: 'default', scopes: new Set() })).toThrow();
    second.say('to somebody');
    second.commit();
    await second.next(`${TRANSCRIPTION}.completed`);
    second.socket.close(1000);
  });

  it('is nobody else’s: not with another secret, not after its end', async () => {
    const stranger = await resume(other, '', 'guess');
    expect((await stranger.next('error')).error).toMatchObject({
      code: 'session_not_found',
    });
    const { id } = client.events[0]!.session as { id: string };
    client.socket.close(1000);
    await until(() => !hasSession(one, id));
    const late = await resume(other, '');
    expect((await late.next('error')).error).toMatchObject({
      code: 'session_not_found',
    });
  });

  const hasSession = (rig: GatewayRig, id: string): boolean => {
    try {
      const { secret } = client.events[0]!.session.resume as { secret: string };
      return (
        sessionsOf(rig).find(id, secret, { tenant: 'default', scopes: new Set() }) !== undefined
      );
    } catch {
      return false;
    }
  };
});

suite('sessions whose Redis hangs', () => {
  it('continue without it, also new ones, and can be resumed elsewhere once it answers', async () => {
    await using redis = await RedisServer.start();
    const settings = { 'redis.url': redis.url };
    const [one, other] = await Promise.all([realtimeRig({ settings }), realtimeRig({ settings })]);
    const heard = async (client: RealtimeClient, text: string): Promise<void> => {
      client.say(text);
      client.commit();
      expect((await client.next(`${TRANSCRIPTION}.completed`)).transcript).toBe(heardIn(text));
    };
    const before = await RealtimeClient.synthetic(one.url);
    await heard(before, 'before');
    const seen = before.events.at(-1)!.event_id;
    redis.pause();
    await heard(before, 'meanwhile ');
    const meanwhile = await RealtimeClient.synthetic(one.url);
    await heard(meanwhile, 'new one ');
    redis.resume();
    const state = redisClient(redis.url);
    const written = async ({ events }: RealtimeClient): Promise<boolean> => {
      const json = await state.hget(`switchyard:realtime:{${events[0]!.session.id}}`, 'state');
      return (JSON.parse(json ?? '{}') as { sent?: number }).sent === events.length;
    };
    for (const client of [before, meanwhile]) {
      await until(() => written(client));
      client.drop();
    }
    for (const [client, from] of [
      [before, seen] as const,
      [meanwhile, meanwhile.events[0]!.event_id] as const,
    ]) {
      const { session } = client.events[0]!;
      const query = {
        session_id: session.id,
        session_secret: session.resume.secret,
        last_event_id: from,
      };
      const resumed = await RealtimeClient.open(other.url, query);
      await resumed.next('session.resumed');
      const missed = client.events.slice(
        client.events.findIndex(({ event_id }) => event_id === from) + 1,
      );
      expect(resumed.events.slice(0, missed.length)).toEqual(missed);
      await heard(resumed, 'after it');
      resumed.socket.close(1000);
    }
    state.disconnect();
    await one.close();
    await other.close();
  });
});

suite('a session whose Redis dies', () => {
  it('goes on where it is', async () => {
    await using redis = await RedisServer.start();
    const rig = await realtimeRig({ settings: { 'redis.url': redis.url } });
    const client = await RealtimeClient.synthetic(rig.url);
    await redis.kill();
    client.say('all the same');
    client.commit();
    expect((await client.next(`${TRANSCRIPTION}.completed`)).transcript).toBe(
      heardIn('all the same'),
    );
    client.socket.close(1000);
    await rig.close();
  });
});
