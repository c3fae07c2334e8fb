import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { OpenAiUpstream } from '../../support/openai-upstream.js';
import { workerThat } from '../../support/pool-harness.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { GatewayRig, builtLaunch } from '../api/gateway-rig.js';
import { upstreamLlm } from '../generation/generation-rig.js';

const MODEL = 'upstream-llm';
const BODY = { model: MODEL, messages: [{ role: 'user', content: 'one two' }] };

let folder: string;
let upstream: OpenAiUpstream;
let rig: GatewayRig | undefined;

beforeEach(async () => {
  folder = temporaryFolder();
  upstream = await OpenAiUpstream.start({ models: ['its/own-name'] });
});
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  await upstream[Symbol.asyncDispose]();
});

const started = async (model: ModelSpec): Promise<GatewayRig> =>
  (rig = await GatewayRig.start({ models: [model], launch: builtLaunch }));

describe('a worker without a process (D-37)', () => {
  it('serves, and serves again after a restart', async () => {
    const { pool } = await started(upstreamLlm(upstream));
    const { id, pid, address, health } = await rig!.ready(MODEL);
    expect({ pid, address, engine: health?.engine }).toEqual({ engine: 'openai-http' });
    expect((await rig!.post('/v1/chat/completions', BODY)).status).toBe(200);
    pool.order(id, 'restart');
    await workerThat(pool, ({ restarts, state }) => restarts === 1 && state === 'ready');
    expect((await rig!.post('/v1/chat/completions', BODY)).status).toBe(200);
  });

  it('says why it cannot start, is tried again, and tells its warnings in its log', async () => {
    const apiKeyFile = join(folder, 'key');
    const { pool } = await started(upstreamLlm(upstream, { apiKeyFile, model: 'another' }));
    const failed = await workerThat(pool, ({ problem }) => problem !== undefined);
    expect(failed.problem).toContain(`cannot read ${apiKeyFile}`);
    const refused = await rig!.post('/v1/chat/completions', BODY);
    expect([refused.status, await refused.text()]).toEqual([
      503,
      expect.stringContaining('model_load_failed'),
    ]);
    await writeFile(apiKeyFile, 'secret', { mode: 0o600 });
    const { id, problem } = await rig!.ready(MODEL);
    expect(problem).toBeUndefined();
    expect(JSON.stringify(pool.log(id)?.last(50))).toContain(
      "does not list options.model 'another'",
    );
  });

  it('ends a cancelled request at the upstream, and its slot is free', async () => {
    const { pool } = await started(upstreamLlm(upstream, { maxConcurrent: 1 }));
    const { id } = await rig!.ready(MODEL);
    const leaving = new AbortController();
    const body = { ...BODY, messages: [{ role: 'user', content: 'ENDLESS' }] };
    const answer = rig!.post('/v1/chat/completions', body, { signal: leaving.signal });
    const call = await upstream.post(0);
    leaving.abort();
    await expect(answer).rejects.toThrow();
    expect(await call.closed.passed).toEqual({ early: true });
    await workerThat(pool, worker => worker.id === id && worker.slots.free === 1);
  });

  it('has a process where its replica has an environment of its own', async () => {
    await started({ ...upstreamLlm(upstream), replicas: [{ env: { OWN: '1' } }] });
    expect((await rig!.ready(MODEL)).pid).toBeGreaterThan(0);
  });
});
