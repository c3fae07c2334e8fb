import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { GatewayProcess, type SettingOverrides } from '../../support/gateway-process.js';
import { PostgresServer } from '../../support/postgres-server.js';
import { itWith, POSTGRES } from '../../support/requires.js';
import { sttModel } from '../api/models.js';
import { KeysFolder } from './keys-folder.js';

describe('a gateway that reaches beyond its machine', () => {
  let folder: KeysFolder;
  beforeEach(() => void (folder = new KeysFolder()));

  const start = (settings: SettingOverrides) =>
    GatewayProcess.start([sttModel()], settings, {
      folder: folder.folder,
      until: 'live',
    });

  it('makes a key at its first start, prints it once and stores its hash only', async () => {
    const keysFile = join(folder.folder, 'data', 'keys.yaml');
    const printed: string[] = [];
    for (const _start of ['first', 'second']) {
      await using gateway = await start({
        'server.host': '0.0.0.0',
        'batch.embedded': 'true',
      });
      printed.push(/sk-switchyard-\S+/.exec(await gateway.process.logTail())?.[0] ?? '');
      const authorization = `Bearer ${printed[0]}`;
      const ask = (path: string, headers = {}) =>
        fetch(`http://127.0.0.1:${gateway.port}${path}`, { headers });
      expect((await ask('/v1/models')).status).toBe(401);
      expect((await ask('/v1/models', { authorization })).status).toBe(200);
      expect((await ask('/admin/v1/queue', { authorization })).status).toBe(200);
    }
    expect(printed).toEqual([expect.stringMatching(/^sk-switchyard-/), '']);
    expect((await stat(keysFile)).mode & 0o777).toBe(0o600);
    expect(await readFile(keysFile, 'utf8')).not.toContain(printed[0]);
  });

  itWith(POSTGRES)(
    'makes its first key in the database that gateways share, where one is configured',
    async () => {
      await using postgres = await PostgresServer.start();
      const settings = {
        'server.host': '0.0.0.0',
        'database.url': postgres.url(),
        'batch.embedded': 'false',
      } as const;
      const printed: string[] = [];
      for (const _start of ['first', 'second']) {
        await using gateway = await start(settings);
        printed.push(/sk-switchyard-\S+/.exec(await gateway.process.logTail())?.[0] ?? '');
        const ask = (headers = {}) =>
          fetch(`http://127.0.0.1:${gateway.port}/admin/v1/keys`, { headers });
        expect((await ask()).status).toBe(401);
        const { data } = (await (await ask({ authorization: `Bearer ${printed[0]}` })).json()) as {
          data: object[];
        };
        expect(data).toEqual([
          expect.objectContaining({
            name: 'first key',
            source: 'database',
            tenant: 'default',
          }),
        ]);
      }
      expect(printed).toEqual([expect.stringMatching(/^sk-switchyard-/), '']);
      expect(existsSync(join(folder.folder, 'data', 'keys.yaml'))).toBe(false);
    },
    120_000,
  );

  it('does not start when its key cannot be stored, and says what to do', async () => {
    await writeFile(join(folder.folder, 'file'), '');
    const dir = join(folder.folder, 'file', 'data');
    await expect(start({ 'server.host': '0.0.0.0', 'data.dir': dir })).rejects.toThrow(
      /keys\.yaml|data\.dir/,
    );
  });

  it('does not start with a keys file that cannot be used', async () => {
    await expect(
      start({ 'server.host': '0.0.0.0', 'auth.keys_file': folder.file }),
    ).rejects.toThrow(/keys.yaml {2}cannot be read \(ENOENT\)/);
  });

  it('serves localhost at one address, whatever else that name resolves to', async () => {
    await using gateway = await start({ 'server.host': 'localhost' });
    expect((await gateway.call('GET', '/health/live')).status).toBe(200);
    await expect(fetch(`http://[::1]:${gateway.port}/health/live`)).rejects.toThrow('fetch failed');
  });

  it('starts with keys, and SIGHUP does not end it', async () => {
    folder.add('acme', 'inference');
    await using gateway = await start({
      'server.host': '0.0.0.0',
      'auth.keys_file': folder.file,
    });
    expect((await gateway.call('GET', '/v1/models')).status).toBe(401);
    gateway.process.child.kill('SIGHUP');
    expect((await gateway.call('GET', '/health/live')).status).toBe(200);
  });
});
