import { execFile } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { syntheticModel } from '../../support/synthetic-model.js';
import { GatewayRig } from '../api/gateway-rig.js';

/** How they run with models that serve them: test/e2e/tutorials.spec.ts. */
describe('an example at a gateway that has no model to transcribe', () => {
  let rig: GatewayRig;
  beforeAll(async () => {
    const voice = { capabilities: ['speech'], voices: { alloy: 'synthetic' } } as const;
    rig = await GatewayRig.start({
      models: [syntheticModel({}, { id: 'voice', kind: 'tts', aliases: ['tts-1'], ...voice })],
      launch: 'hosted',
    });
  });
  afterAll(() => rig.close());

  const run = (name: string) =>
    new Promise<{ code: unknown; stdout: string; stderr: string }>(resolve => {
      const env = { ...process.env, NODE_OPTIONS: '', SWITCHYARD_URL: rig.url };
      execFile(process.execPath, [`examples/${name}.mjs`], { env }, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, stdout, stderr }),
      );
    });

  it('priorities says so of each, in a line', async () => {
    const { code, stdout, stderr } = await run('priorities');
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout.trim().split('\n');
    expect(lines).toHaveLength(13);
    for (const line of lines) expect(line).toMatch(/^ *[\d.]+ s {2}\w+.* failed: 404 /);
  });

  it('cancel announces the long recording, and says with what each request ended', async () => {
    const { code, stdout, stderr } = await run('cancel');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Makes a recording of two minutes first …\ncancel by id: \{/);
    expect(stdout).toMatch(/\nits caller: 404, \d+ ms later\nconnection closed: 404\n/);
  });
});
