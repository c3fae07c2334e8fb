import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GatewayRig, until } from '../api/gateway-rig.js';
import { chat, syntheticLlm } from './generation-rig.js';

const BACKLOG = 40;
const AGED = 'scheduler_aging_promotions_total{model="synthetic-llm"}';

let rig: GatewayRig;

beforeAll(async () => {
  const models = [syntheticLlm({ maxConcurrent: 1, perTokenMs: 5, tokens: 20 })];
  rig = await GatewayRig.start({
    models,
    launch: 'hosted',
    settings: { 'queue.aging_ms': 200 },
  });
}, 60_000);
afterAll(() => rig.close());

const ended: string[] = [];

async function ask(id: string, priority: 'batch' | 'realtime'): Promise<void> {
  const headers = { 'x-request-id': id, 'x-priority': priority };
  const response = await rig.post('/v1/chat/completions', chat('hello'), { headers });
  await response.text();
  ended.push(response.ok ? id : `${id} ${response.status}`);
}

describe('a BATCH backlog older than queue.aging_ms on one slot', () => {
  it('holds a REALTIME chat for at most two answers; a stream of them leaves the backlog a turn in four', async () => {
    const backlog = Array.from({ length: BACKLOG }, (_, index) => ask(`batch-${index}`, 'batch'));
    await until(async () => (await rig.metric(AGED)) >= BACKLOG - 6);
    const before = ended.length;
    await ask('live', 'realtime');
    expect(ended.indexOf('live') - before).toBeLessThanOrEqual(2);

    const from = ended.length;
    await Promise.all(Array.from({ length: 12 }, (_, index) => ask(`live-${index}`, 'realtime')));
    const between = ended.slice(from).filter(id => id.startsWith('batch')).length;
    // 12 REALTIME turns and 3 to 4 aged ones between them; one more ran when they came.
    expect([between >= 3, between <= 5]).toEqual([true, true]);
    await Promise.all(backlog);
    expect(ended.filter(id => /^batch-\d+$/.test(id))).toHaveLength(BACKLOG);
    expect(await rig.metric(AGED)).toBeLessThanOrEqual(BACKLOG);
  }, 60_000);
});
