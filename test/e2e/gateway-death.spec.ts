import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { heardIn } from '../integration/realtime/realtime-rig.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { RealtimeClient, TRANSCRIPTION } from '../support/realtime-client.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith, REDIS } from '../support/requires.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/**
 * Two gateways of the built product, one database, one blob store, one Redis, of which
 * one is killed.
 */
describeWith(REDIS)('when a gateway is killed', () => {
  const model = syntheticModel({ streams: 4 }, { capabilities: ['transcribe', 'stream'] });
  const urlOf = ({ port }: GatewayProcess): string => `http://127.0.0.1:${port}`;

  it('a live session goes on at the other one: completed segments are neither lost nor told twice', async () => {
    await using redis = await RedisServer.start();
    const folder = temporaryFolder();
    const start = async (name: string): Promise<GatewayProcess> => {
      const own = join(folder, name);
      await mkdir(own);
      const shared = { 'redis.url': redis.url, 'data.dir': join(folder, 'data') };
      return GatewayProcess.start([model], shared, { folder: own });
    };
    await using survivor = await start('survivor');
    await using victim = await start('victim');
    const client = await RealtimeClient.synthetic(urlOf(victim));
    client.say('the first part!!');
    client.commit();
    await client.next(`${TRANSCRIPTION}.completed`);
    client.say('the second ');
    // Whatever the client has seen is in the journal; what it has said may not be, and
    // is said again.
    victim.process.child.kill('SIGKILL');
    await client.closed;
    const { session } = client.events[0]!;
    const query = {
      session_id: String(session.id),
      session_secret: String(session.resume.secret),
      last_event_id: client.events.at(-1)!.event_id,
    };
    const second = await RealtimeClient.open(urlOf(survivor), query);
    const { audio_received_ms: receivedMs } = await second.next('session.resumed');
    const said = 'the first part!!the second part!';
    second.say(said.slice(Math.round((Number(receivedMs) / 1000) * 32_000)));
    second.commit();
    await second.next(`${TRANSCRIPTION}.completed`);
    expect([...client.transcripts(), ...second.transcripts()]).toEqual([
      heardIn('the first part!!'),
      heardIn('the second part!'),
    ]);
    const ids = [...client.events, ...second.events].map(({ event_id }) => event_id);
    expect(new Set(ids).size).toBe(ids.length);
    second.socket.close(1000);
  }, 240_000);
});
