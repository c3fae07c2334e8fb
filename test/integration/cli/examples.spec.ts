import { execFile } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Product } from '../../support/product.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { GatewayRig } from '../api/gateway-rig.js';

const VOICE = syntheticModel(
  {},
  {
    ...{ id: 'voice', kind: 'tts', aliases: ['tts-1'] },
    ...{ capabilities: ['speech'], voices: { alloy: 'synthetic' } },
  },
);
const EARS = syntheticModel({ baseMs: 3000 }, { aliases: ['whisper-1'] });

const run = (name: string, { url }: { readonly url: string }) =>
  new Promise<{ code: unknown; stdout: string; stderr: string }>(resolve => {
    const env = { ...process.env, NODE_OPTIONS: '', SWITCHYARD_URL: url };
    execFile(process.execPath, [`examples/${name}.mjs`], { env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });

/** Those whose words count run with published models: test/e2e/tutorials.spec.ts. */
describe('with models that serve it', () => {
  let product: Product;
  beforeAll(async () => {
    product = await Product.hosted([VOICE, EARS], { 'batch.embedded': 'true' });
  });
  afterAll(() => product[Symbol.asyncDispose]());

  it.each([
    ['priorities', /^ *[\d.]+ s {2}interactive .*total;/m],
    ['cancel', /"cancelled":true[^]*499[^]*says: cancelled/],
    ['retries', /second attempt: 200, .*true[^]*its audio: \d{4}/],
    ['night-batch', /^completed +40 of 40, 0 failed$/m],
  ])('examples/%s runs with one command', async (name, printed) => {
    const { code, stdout, stderr } = await run(name, product);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(printed);
  });
});

describe('an example at a gateway that has no model to transcribe', () => {
  let rig: GatewayRig;
  beforeAll(async () => {
    rig = await GatewayRig.start({ models: [VOICE], launch: 'hosted' });
  });
  afterAll(() => rig.close());

  it('priorities says so of each, in a line', async () => {
    const { code, stdout, stderr } = await run('priorities', rig);
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout.trim().split('\n');
    expect(lines).toHaveLength(13);
    for (const line of lines) expect(line).toMatch(/^ *[\d.]+ s {2}\w+.* failed: 404 /);
  });

  it('cancel announces the long recording, and says with what each request ended', async () => {
    const { code, stdout, stderr } = await run('cancel', rig);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Makes a recording of two minutes first …\ncancel by id: \{/);
    expect(stdout).toMatch(/\nits caller: 404, \d+ ms later\nconnection closed: 404\n/);
  });
});
