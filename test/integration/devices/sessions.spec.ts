import { afterEach, describe, expect, it } from '@jest/globals';
import { PriorityQueue } from '../../../src/core/queue/priority-queue.js';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { formOf } from '../../support/form-of.js';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { builtLaunch, GatewayRig, until } from '../api/gateway-rig.js';

const GIB = 2 ** 30;

/** Of two that do not fit together. */
const onDevice = (id: string, options: object = {}): ModelSpec =>
  syntheticModel(
    { baseMs: 20, streams: 2, loadMs: 700, ...options },
    {
      ...{ id, capabilities: ['transcribe', 'stream'], memory: 8 * GIB },
      device: [{ id: 'gpu0', memory: 10 * GIB, reserve: 0 }],
    },
  );

describe('live sessions of a model that shares a device', () => {
  let rig: GatewayRig;
  afterEach(() => rig.close());

  const start = async (settings: Record<string, number> = {}, options: object = {}) =>
    (rig = await GatewayRig.start({
      models: [onDevice('synthetic', options), onDevice('other')],
      launch: builtLaunch,
      settings,
    }));
  const ask = (model: string): Promise<Response> =>
    rig.post('/v1/audio/transcriptions', formOf({ model }, 'a'), {
      headers: { 'x-priority': 'realtime' },
    });
  const warnings = (client: RealtimeClient): readonly unknown[] =>
    client.events
      .filter(({ type }) => type === 'session.warning')
      .map(({ warning }) => warning as unknown);

  it('wait for it, are told once that it is being loaded, pay for the load, and hold the model as long as they last', async () => {
    await start();
    const client = await RealtimeClient.synthetic(rig.url);
    client.say('first words ');
    client.commit();
    await client.next(`${TRANSCRIPTION}.completed`);
    expect(warnings(client)).toEqual([
      expect.objectContaining({
        code: 'model_loading',
        message: expect.stringMatching(/takes requests in about \d+ s/),
      }),
    ]);
    const { realtime } = rig.app.get(PriorityQueue, { strict: false }).lanesOf('synthetic');
    expect(realtime.startTagOf('default', 0)).toBeGreaterThanOrEqual(700);
    let isAnswered = false;
    const other = ask('other').then(response => {
      isAnswered = true;
      return response.status;
    });
    await until(() => rig.pool.of('synthetic')?.life === 'unloading');
    client.say('more words ');
    client.commit();
    await client.next(`${TRANSCRIPTION}.completed`);
    expect(isAnswered).toBe(false);
    client.socket.close(1000);
    expect(await other).toBe(200);
  });

  it('are refused when it does not come within realtime.recovery_ms', async () => {
    await start({ 'realtime.recovery_ms': 300 }, { loadMs: 60_000 });
    const client = await RealtimeClient.synthetic(rig.url);
    client.say('words ');
    const error = await client.next('error');
    expect(error.error).toMatchObject({
      code: 'no_worker',
      message: expect.stringMatching(
        /is being loaded on gpu0; .* takes requests in about \d+ s\.$/,
      ),
    });
    const { retry_after_ms: ms } = error.error as { retry_after_ms: number };
    expect(ms).toBeGreaterThan(1000);
    expect((await client.closed).code).toBe(1013);
    await until(() => rig.pool.of('synthetic')?.life === 'unloaded');
  });
});
