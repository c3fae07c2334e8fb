import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { GatewayRig, until } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';
import { runHere } from '../cli/command-run.js';
import { bearer } from './keys-folder.js';

/** A gateway that was started without any key: what is made there must have an effect. */
describe('the first key of a database', () => {
  let dataDir: string;
  let rig: GatewayRig;
  const start = (settings = {}) =>
    GatewayRig.start({
      models: [sttModel()],
      settings: { 'data.dir': dataDir, ...settings },
    });

  beforeEach(async () => {
    dataDir = temporaryFolder();
    rig = await start();
  });
  afterEach(() => rig.close());

  const status = async (key?: string, at = rig) =>
    (
      await fetch(`${at.url}/v1/models`, {
        headers: key === undefined ? {} : bearer(key),
      })
    ).status;
  const command = (...args: string[]) => runHere([...args, '--url', rig.url]);
  const create = (...args: string[]) => command('keys', 'create', '--tenant', 'ops', ...args);
  const shown = async (key: string) => (await command('status', '--api-key', key)).stdout;

  it('makes keys required at once, at the other gateways of the database, and after a restart', async () => {
    const other = await start();
    try {
      expect(await status()).toBe(200);
      expect((await command('status')).stdout).toMatch(/^keys +not required/m);
      const { code, stdout, stderr } = await create('--scope', 'admin', 'inference');
      expect([code, stderr]).toEqual([
        0,
        expect.stringContaining('From now on every request needs a key'),
      ]);
      const key = stdout.trim();
      expect([await status(), await status('sk-wrong'), await status(key)]).toEqual([
        401, 401, 200,
      ]);
      await until(async () => (await status(undefined, other)) === 401);
      expect(await shown(key)).toMatch(/^keys +required/m);
      await rig.close();
      rig = await start();
      expect([await status(), await status(key)]).toEqual([401, 200]);
    } finally {
      await other.close();
    }
  });

  it('needs the scope admin, so that its operator is not locked out; later ones do not', async () => {
    const { code, stderr } = await create();
    expect([code, stderr]).toEqual([1, expect.stringMatching(/scopes.*first key.*--scope admin/s)]);
    expect(await status()).toBe(200);
    const key = (await create('--scope', 'admin')).stdout.trim();
    const later = await create(
      '--limit',
      'requests_per_minute=1',
      '--scope',
      'inference',
      '--api-key',
      key,
    );
    expect(later.stderr).not.toContain('From now on');
    expect(await status(later.stdout.trim())).toBe(200);
  });

  it('leaves keys required when it is revoked: nobody is let in without one', async () => {
    const key = (await create('--scope', 'admin')).stdout.trim();
    const { data } = (await (
      await fetch(`${rig.url}/admin/v1/keys`, { headers: bearer(key) })
    ).json()) as {
      data: { id: string }[];
    };
    await command('keys', 'revoke', data[0]!.id, '--api-key', key);
    expect([await status(), await status(key)]).toEqual([401, 401]);
  });

  it('is printed alone on stdout; list, rotate, set and revoke find it and later ones by their ids', async () => {
    const admin = (await create('--scope', 'admin')).stdout.trim();
    const run = (...args: string[]) => command('keys', ...args, '--api-key', admin);
    const made = await run('create', '--tenant', 'acme', '--name', 'web shop', '--model', 'stt');
    expect(made).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^sk-switchyard-\S+\n$/),
    });
    const [id = ''] = made.stderr.split(' ');
    const rotated = await run('rotate', id);
    expect([rotated.code, rotated.stdout === made.stdout]).toEqual([0, false]);
    expect((await run('list')).stdout).toMatch(
      new RegExp(`^${id} +web shop +acme +inference +stt +- +data`, 'm'),
    );
    const fields = ['--name', 'shop', '--limit', 'requests_per_minute=5', '--no-models'];
    expect(await run('set', id, ...fields)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        new RegExp(`^${id} +shop +acme +inference +all +requests_per_minute=5 +data`, 'm'),
      ),
    });
    expect((await run('set', id, '--no-limits')).stdout).toMatch(
      new RegExp(`^${id} +shop +acme +inference +all +- +data`, 'm'),
    );
    expect(await run('revoke', id)).toMatchObject({
      code: 0,
      stdout: `${id} of acme revoked\n`,
    });
    expect(await run('revoke', 'key_none')).toMatchObject({ code: 5, stdout: '' });
  });

  it('is not made where auth.allow_anonymous is set; earlier keys are said to have no effect', async () => {
    await create('--scope', 'admin');
    await rig.close();
    rig = await start({ 'auth.allow_anonymous': true });
    expect(await status()).toBe(200);
    const { code, stderr } = await create('--scope', 'admin');
    expect([code, stderr]).toEqual([1, expect.stringContaining('auth.allow_anonymous')]);
    expect((await command('status')).stdout).toMatch(
      /^keys +not required, and without effect: auth.allow_anonymous/m,
    );
  });
});
