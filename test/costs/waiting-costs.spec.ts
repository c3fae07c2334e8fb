import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CancellationManager } from '../../src/gateway/cancellation/cancellation-manager.js';
import { RequestQueues } from '../../src/gateway/queue/request-queues.js';
import { SchedulerService } from '../../src/gateway/scheduler/scheduler.service.js';
import { GatewayRig, builtLaunch, until } from '../integration/api/gateway-rig.js';
import { syntheticLlm } from '../integration/generation/generation-rig.js';
import { costOf, leastOf, MOST_MS, MOST_RUNS } from './request-cost.js';

const CALLERS = 1500;

let rig: GatewayRig;
beforeAll(async () => {
  rig = await GatewayRig.start({
    models: [syntheticLlm({ tokens: 1, baseMs: 300, maxBatch: 1 }, { id: 'm' })],
    launch: builtLaunch,
    settings: { 'server.max_receiving': 10_000 },
  });
  await until(() => rig.pool.workers().every(({ state }) => state === 'ready'));
}, 60_000);
afterAll(() => rig.close());

describe(`${CALLERS} callers that wait`, () => {
  it('are told their places and forecasts from one pass', async () => {
    const scheduler = rig.app.get(SchedulerService, { strict: false });
    const body = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'x' }] };
    const ask = (id: string) =>
      rig.app.inject({
        ...{ method: 'POST', url: '/v1/messages', payload: body },
        headers: { 'x-request-id': id },
      });
    // A forecast needs an answer to go by.
    expect((await ask('first')).statusCode).toBe(200);
    const ids = Array.from({ length: CALLERS }, (_, at) => `waiting-${at}`);
    const answers = ids.map(ask);
    const queues = rig.app.get(RequestQueues, { strict: false });
    const waiting = () => queues.waitingBytes().get('m') ?? 0;
    for (let before = -1; before < waiting(); await pause(200)) before = waiting();

    const cost = await leastOf(
      costOf,
      async () => {
        const told = await Promise.all(ids.map(id => scheduler.waitOf({ id, tenant: 'default' })));
        const places = told.flatMap(({ view }) => view?.position ?? []);
        expect(places.length).toBeGreaterThan(CALLERS * 0.9);
        expect(new Set(places).size).toBe(places.length);
      },
      { limit: MOST_MS, runs: MOST_RUNS },
    );
    if (process.env.SHOW_COSTS) console.log(cost);
    expect(cost).toBeLessThanOrEqual(MOST_MS);
    await rig.app.get(CancellationManager, { strict: false }).cancelMany({}, 'operator');
    await Promise.all(answers);
  });
});
