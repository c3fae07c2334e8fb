import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { GatewayProcess } from '../support/gateway-process.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/**
 * As the images start it: beyond loopback, with an empty data folder and
 * no key configured.
 */
describe('the first start beyond loopback', () => {
  let folder: string;
  beforeEach(() => void (folder = temporaryFolder()));

  const start = (): Promise<GatewayProcess> =>
    GatewayProcess.start([syntheticModel({})], { 'server.host': '0.0.0.0' }, { folder });
  const status = async ({ port }: GatewayProcess, path: string, key?: string): Promise<number> => {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    return (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).status;
  };
  const printed = async ({ process }: GatewayProcess): Promise<readonly string[]> =>
    [...(await process.logTail()).matchAll(/^ {2}(sk-switchyard-\S+)$/gm)].map(
      ([, key = '']) => key,
    );

  it('prints one key that may do everything, keeps its hash only, and is silent at the next start', async () => {
    let key: string;
    {
      await using gateway = await start();
      const keys = await printed(gateway);
      expect(keys).toHaveLength(1);
      key = keys[0]!;
      expect(await status(gateway, '/v1/models')).toBe(401);
      for (const path of ['/v1/models', '/admin/v1/queue', '/metrics'])
        expect(await status(gateway, path, key)).toBe(200);
      expect(await readFile(join(folder, 'data/keys.yaml'), 'utf8')).not.toContain(key);
    }
    await using again = await start();
    expect(await printed(again)).toEqual([]);
    expect(await status(again, '/v1/models', key)).toBe(200);
    expect(await status(again, '/v1/models')).toBe(401);
  });
});
