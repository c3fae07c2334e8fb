import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { addApiKey } from '../../../src/platform/auth/keys-file.js';
import { inProcessWorker } from '../../../src/worker/in-process-worker.js';
import { OpenAiUpstream } from '../../support/openai-upstream.js';
import { GatewayRig, builtLaunch } from '../api/gateway-rig.js';
import { bearer, KeysFolder } from '../auth/keys-folder.js';
import { chat, upstreamLlm } from './generation-rig.js';

let upstream: OpenAiUpstream;
let rig: GatewayRig;
let folder: KeysFolder;
let headers: { readonly authorization: string };
/** Of the calls that reached the worker. */
const weights: number[] = [];

/** The worker in this process, and what it is called with. */
const inner: typeof inProcessWorker = spec => {
  const open = inProcessWorker(spec);
  return (
    open &&
    (() => {
      const worker = open();
      const generate = worker.generate.bind(worker);
      worker.generate = (call, sink) => {
        weights.push(call.tenantWeight);
        return generate(call, sink);
      };
      return worker;
    })
  );
};

beforeAll(async () => {
  upstream = await OpenAiUpstream.start({ models: ['its/own-name'] });
  folder = new KeysFolder();
  headers = bearer(folder.add('acme', 'inference'));
  const settings = { 'auth.keys_file': folder.file };
  rig = await GatewayRig.start({
    models: [upstreamLlm(upstream)],
    launch: { ...builtLaunch, inner },
    settings,
  });
  await rig.ready('upstream-llm');
}, 60_000);
afterAll(async () => {
  await rig.close();
  await upstream[Symbol.asyncDispose]();
});

it('a worker is told the weight that the tenant of a generation has when it is sent', async () => {
  const ask = async (): Promise<void> => {
    const answer = await rig.post(
      '/v1/chat/completions',
      chat('hello', { model: 'upstream-llm' }),
      { headers },
    );
    expect(answer.status).toBe(200);
    await answer.text();
  };
  await ask();
  addApiKey(folder.file, {
    tenant: 'acme',
    scopes: ['inference'],
    limits: { weight: 3 },
  });
  process.emit('SIGHUP');
  await ask();
  expect(weights).toEqual([1, 3]);
});
