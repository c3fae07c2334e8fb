import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { heardIn } from '../integration/realtime/realtime-rig.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { RealtimeClient, TRANSCRIPTION } from '../support/realtime-client.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith, REDIS } from '../support/requires.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { pause } from '../support/waiting.js';

const suite = describeWith(REDIS);

/**
 * Two gateways of the built product, one database, one blob store, one Redis; in each
 * test one of them is killed.
 */
suite('when a gateway is killed', () => {
  let redis: RedisServer;
  let folder: string;
  let survivor: GatewayProcess;

  const model = syntheticModel(
    { streams: 4, faults: [{ marker: 'slowly', action: 'slow', ms: 3000 }] },
    { capabilities: ['transcribe', 'stream'] },
  );
  const start = async (name: string): Promise<GatewayProcess> => {
    const own = join(folder, name);
    await mkdir(own, { recursive: true });
    const shared = {
      'redis.url': redis.url,
      'data.dir': join(folder, 'data'),
      'requests.lease_ms': 1000,
    };
    return GatewayProcess.start([model], shared, { folder: own });
  };
  const urlOf = ({ port }: GatewayProcess): string => `http://127.0.0.1:${port}`;
  const kill = async ({ process: { child } }: GatewayProcess): Promise<void> => {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };

  beforeAll(async () => {
    redis = await RedisServer.start();
    folder = temporaryFolder();
    survivor = await start('survivor');
  }, 240_000);
  afterAll(async () => {
    await survivor[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  }, 60_000);

  it('a request that nobody waits for is brought to its end by the other one', async () => {
    await using victim = await start('victim-1');
    const form = new FormData();
    form.set('model', 'synthetic');
    form.set('file', new Blob(['slowly spoken']), 'a.wav');
    const headers = { prefer: 'respond-async', 'x-request-id': 'outlives' };
    const accepted = await fetch(`${urlOf(victim)}/v1/audio/transcriptions`, {
      method: 'POST',
      body: form,
      headers,
    });
    expect(accepted.status).toBe(202);
    await kill(victim);
    const look = async () =>
      (await (await fetch(`${urlOf(survivor)}/v1/requests/outlives`)).json()) as {
        status: string;
        attempts: number;
      };
    while ((await look()).status !== 'completed') await pause(50);
    const content = await fetch(`${urlOf(survivor)}/v1/requests/outlives/content`);
    expect(content.status).toBe(200);
    expect(await content.json()).toMatchObject({
      text: expect.stringContaining('synthetic transcript'),
    });
  }, 240_000);

  it('a live session goes on at the other one: completed segments are neither lost nor told twice', async () => {
    await using victim = await start('victim-2');
    const client = await RealtimeClient.synthetic(urlOf(victim));
    client.say('the first part!!');
    client.commit();
    await client.next(`${TRANSCRIPTION}.completed`);
    client.say('the second ');
    // Whatever the client has seen is in the journal; what it has said may not be, and
    // is said again.
    await kill(victim);
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
