import { describe, expect, it } from '@jest/globals';
import { ShutdownGrace } from '../../../src/gateway/lifecycle/shutdown-drain.js';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';
import { builtLaunch } from '../api/gateway-rig.js';
import { heardIn, realtimeRig, signalWorker } from './realtime-rig.js';

describe('the end of the server', () => {
  it('tells sessions, finishes their last segment and closes with 1001', async () => {
    const rig = await realtimeRig();
    const client = await RealtimeClient.synthetic(rig.url);
    for (const frame of ['my ', 'last ', 'words']) client.say(frame);
    await client.next(`${TRANSCRIPTION}.delta`);
    const closing = rig.close();
    expect((await client.closed).code).toBe(1001);
    expect(client.transcripts()).toEqual([heardIn('my last words'.slice(0, 12))]);
    expect(client.types()).toContain('session.warning');
    await closing;
  });

  it('waits for a stuck recogniser at most its one deadline: warned at once, closed with 1001 within it', async () => {
    const rig = await realtimeRig({
      launch: builtLaunch,
      settings: { 'server.shutdown_grace_ms': 2000 },
    });
    const [stuck, idle] = [
      await RealtimeClient.synthetic(rig.url),
      await RealtimeClient.synthetic(rig.url),
    ];
    for (const frame of ['never ', 'heard ', 'of ']) stuck.say(frame);
    await stuck.next(`${TRANSCRIPTION}.delta`);
    signalWorker(rig, 'SIGSTOP');
    const grace = rig.app.get(ShutdownGrace, { strict: false });
    const closing = rig.close();
    expect((await stuck.next('session.warning')).warning.code).toBe('session_ending');
    expect((await idle.closed).code).toBe(1001);
    expect(grace.leftMs()).toBeGreaterThan(500);
    expect((await stuck.closed).code).toBe(1001);
    expect(grace.leftMs()).toBeGreaterThan(0);
    expect(stuck.transcripts()).toEqual([]);
    await closing;
  });

  it('does not wait for a client that does not answer its goodbye', async () => {
    const rig = await realtimeRig({ settings: { 'server.shutdown_grace_ms': 1000 } });
    const client = await RealtimeClient.synthetic(rig.url);
    client.socket.pause();
    await rig.close();
    client.socket.resume();
    expect([1001, 1006]).toContain((await client.closed).code);
  });
});
