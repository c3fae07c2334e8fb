import { afterEach, describe, expect, it } from '@jest/globals';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';
import { type GatewayRig, until } from '../api/gateway-rig.js';
import { bearer, KeysFolder } from '../auth/keys-folder.js';
import { heardIn, realtimeRig, streamsInUse } from './realtime-rig.js';

let rig: GatewayRig;
afterEach(() => rig.close());

const warnings = (client: RealtimeClient): string[] =>
  client.events
    .filter(({ type }) => type === 'session.warning')
    .map(({ warning }) => String(warning.message));

describe('a peer that is dead', () => {
  it('is closed when it misses a ping, its place is freed, and one that answers stays', async () => {
    rig = await realtimeRig({
      settings: { 'realtime.ping_interval_ms': 100, 'realtime.resume_window_ms': 0 },
    });
    const alive = await RealtimeClient.synthetic(rig.url);
    const dead = await RealtimeClient.open(rig.url, { model: 'synthetic' }, { autoPong: false });
    dead.say('the last of me');
    await until(() => streamsInUse(rig) === 1);
    expect((await dead.closed).code).toBe(1006);
    await until(() => streamsInUse(rig) === 0);
    alive.say('still here');
    alive.commit();
    expect((await alive.next(`${TRANSCRIPTION}.completed`)).transcript).toBe(heardIn('still here'));
    alive.socket.close(1000);
  });
});

describe('a session ends by itself', () => {
  it('after 1 s without a message, as announced: told, its last words finished, 1000', async () => {
    rig = await realtimeRig({ settings: { 'realtime.idle_timeout_ms': 1000 } });
    const client = await RealtimeClient.synthetic(rig.url);
    expect(client.events[0]?.session.idle_timeout_seconds).toBe(1);
    client.say('I fall asleep ');
    expect(await client.closed).toMatchObject({
      code: 1000,
      reason: expect.stringContaining('session_expired'),
    });
    expect(warnings(client)).toEqual(['session_expired: no message from the client for 1 s']);
    expect(client.transcripts()).toEqual([heardIn('I fall asleep ')]);
  });

  it('2 s old, at its expires_at, however much is said', async () => {
    rig = await realtimeRig({ settings: { 'realtime.max_session_ms': 2000 } });
    const startedS = Date.now() / 1000;
    const client = await RealtimeClient.synthetic(rig.url);
    const { expires_at: expiresAt } = client.events[0]!.session as {
      expires_at: number;
    };
    expect(Math.abs(expiresAt - startedS - 2)).toBeLessThanOrEqual(1.5);
    const talk = setInterval(() => client.say('on and on '), 50);
    expect((await client.closed).code).toBe(1000);
    clearInterval(talk);
    expect(Date.now() / 1000).toBeGreaterThanOrEqual(expiresAt - 0.1);
    expect(warnings(client)).toEqual(['session_expired: the session is 2 s old']);
    expect(client.transcripts()).toHaveLength(1);
    await until(() => streamsInUse(rig) === 0);
  });
});

describe('realtime.max_sessions', () => {
  const open = (apiKey: string): Promise<RealtimeClient> =>
    RealtimeClient.open(rig.url, { model: 'synthetic' }, { headers: bearer(apiKey) });

  it('at the maximum a quiet session of the tenant with the most ends, so that another tenant is served', async () => {
    const folder = new KeysFolder();
    const [acme, other] = ['acme', 'other'].map(tenant => folder.add(tenant, 'inference'));
    rig = await realtimeRig({
      settings: {
        'auth.keys_file': folder.file,
        'realtime.max_sessions': 2,
        'realtime.quiet_ms': 0,
      },
    });
    const [first, second] = [await open(acme!), await open(acme!)];
    await expect(open(acme!)).rejects.toThrow('429');
    const third = await open(other!);
    expect(await first.closed).toMatchObject({ code: 1013 });
    await expect(open(other!)).rejects.toThrow('429');
    for (const client of [second, third]) client.socket.close(1000);
  });

  it('at the maximum a client that comes back has its session, which is not ended for it', async () => {
    rig = await realtimeRig({ settings: { 'realtime.max_sessions': 1 } });
    const first = await RealtimeClient.synthetic(rig.url);
    const { id, resume } = first.events[0]!.session as { id: string; resume: { secret: string } };
    first.drop();
    await until(async () => {
      const { data } = (await rig.json('/admin/v1/sessions')) as { data: { state: string }[] };
      return data[0]?.state === 'detached';
    });
    const again = await RealtimeClient.open(rig.url, {
      session_id: id,
      session_secret: resume.secret,
    });
    expect((await again.next('session.resumed')).session.id).toBe(id);
    again.socket.close(1000);
  });
});
