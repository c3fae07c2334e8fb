import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CommandRun } from '../integration/cli/command-run.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const KEY = 'only-for-those-who-know-it';

/**
 * Variable SWITCHYARD_AUTH_KEY, on loopback, where nobody would be asked for
 * a key otherwise.
 */
describe('a gateway with one key in its environment', () => {
  let folder: string;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    folder = temporaryFolder();
    gateway = await GatewayProcess.start(
      [],
      { 'auth.key': KEY, 'logging.level': 'trace' },
      { folder, until: 'live' },
    );
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  const call = (path: string, key?: string, method = 'GET') =>
    fetch(`http://127.0.0.1:${gateway.port}${path}`, {
      ...{
        method,
        headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      },
    });

  it.each(['/v1/models', '/admin/v1/settings', '/metrics'])('%s asks for it', async path => {
    expect((await call(path)).status).toBe(401);
    expect((await call(path, `${KEY}x`)).status).toBe(401);
    expect((await call(path, KEY)).status).toBe(200);
  });

  it('lists it without its secret, and does not change it', async () => {
    const keys = await (await call('/admin/v1/keys', KEY)).text();
    expect(JSON.parse(keys)).toMatchObject({
      data: [{ id: 'auth.key', source: 'setting', tenant: 'default' }],
    });
    expect(keys).not.toContain(KEY);
    const revoked = await call('/admin/v1/keys/auth.key', KEY, 'DELETE');
    expect([revoked.status, await revoked.json()]).toMatchObject([
      409,
      { error: { code: 'key_is_from_file' } },
    ]);
  });

  it('says in its settings only that there is one', async () => {
    const text = await (await call('/admin/v1/settings', KEY)).text();
    const { data } = JSON.parse(text) as { data: { name: string }[] };
    const shown = {
      value: null,
      secret: true,
      set: true,
      origin: 'SWITCHYARD_AUTH_KEY',
    };
    expect(data.find(({ name }) => name === 'auth.key')).toMatchObject(shown);
    expect(text).not.toContain(KEY);
  });

  it.each(['config print', 'config print --json'])('is hidden by `%s`', async words => {
    const environment = { SWITCHYARD_AUTH_KEY: KEY };
    const { stdout, stderr, code } = await new CommandRun(words.split(' '), environment).ended;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/auth\.key.*\(hidden\)/s)]);
    expect(stdout + stderr).not.toContain(KEY);
  });

  it('writes it into no log', async () => {
    await call('/v1/models', KEY);
    const log = await readFile(join(folder, 'gateway.log'), 'utf8');
    expect(log).toContain('listening on');
    expect(log).not.toContain(KEY);
  });
});
