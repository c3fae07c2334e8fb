import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ResponseExpiry } from '../../../src/gateway/responses/stored/response-expiry.js';
import { type OpenResponsesTarget } from '../../support/open-responses-client.js';
import { OPEN_RESPONSES_CASES } from '../../support/open-responses.js';
import { ResponseClient, taken } from '../../support/response-client.js';
import { GatewayRig, until } from '../api/gateway-rig.js';
import { llamaLlm, syntheticLlm } from '../generation/generation-rig.js';

let rig: GatewayRig;
let target: OpenResponsesTarget;

beforeAll(async () => {
  const llama = await llamaLlm(['chat', 'completions', 'tools', 'logprobs']);
  rig = await GatewayRig.start({
    models: [syntheticLlm({ tokens: 6 }), llama],
    launch: 'hosted',
  });
  target = { url: rig.url, text: 'synthetic-llm', tools: 'llama' };
  await rig.allReady();
}, 150_000);
afterAll(() => rig.close());

describe('the public Open Responses specification', () => {
  it.each(OPEN_RESPONSES_CASES)('$rule', ({ run }) => run(target), 60_000);
});

describe('metrics of background responses', () => {
  it('count runs, what has not ended, and what expires', async () => {
    const runs = 'switchyard_background_response_runs_total{kind="first"}';
    const before = (await rig.metric(runs)) || 0;
    const client = new ResponseClient(rig.url);
    const { id } = await client.created('x', { background: true });
    await taken(client.follow(id));
    expect(await rig.metric('switchyard_background_response_runs_total{kind="first"}')).toBe(
      before + 1,
    );
    await until(
      async () => (await rig.metric('switchyard_background_responses{status="in_progress"}')) === 0,
    );
    expect(await rig.metric('switchyard_background_responses{status="queued"}')).toBe(0);
    const removed = await rig.app
      .get(ResponseExpiry, { strict: false })
      .sweep(Date.now() + 31 * 86_400_000);
    expect(removed).toBeGreaterThan(0);
    expect(await rig.metric('switchyard_responses_expired_total')).toBeGreaterThanOrEqual(removed);
  });
});
