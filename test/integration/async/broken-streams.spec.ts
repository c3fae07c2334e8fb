import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { syntheticModel } from '../../support/synthetic-model.js';
import { GatewayRig } from '../api/gateway-rig.js';

const faults = [{ marker: 'break', action: 'fail', afterTokens: 2 }];
const model = syntheticModel(
  { tokens: 8, perTokenMs: 1, faults },
  { kind: 'llm', capabilities: ['chat', 'completions'] },
);

let rig: GatewayRig;
beforeAll(async () => {
  rig = await GatewayRig.start({ models: [model], launch: 'hosted' });
  await rig.ready('synthetic');
});
afterAll(() => rig.close());

const said = { messages: [{ role: 'user', content: 'break' }] };

describe('a stream that breaks off after its first words, in each dialect', () => {
  it.each([
    ['/v1/chat/completions', said],
    ['/v1/completions', { prompt: 'break' }],
    ['/v1/messages', { ...said, max_tokens: 8 }],
    ['/v1/responses', { input: 'break' }],
    ['/api/chat', said],
    ['/api/generate', { prompt: 'break' }],
  ])('of %s is no answer that a retry with its key gets', async (path, fields) => {
    const headers = { 'idempotency-key': path };
    const ask = () => rig.post(path, { model: 'synthetic', stream: true, ...fields }, { headers });
    const first = await ask();
    expect(first.status).toBe(200);
    expect(await first.text()).toContain('Scripted fault');
    const again = await ask();
    expect(again.headers.get('idempotent-replayed')).toBeNull();
    await again.text();
  });
});
