import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sttModel } from '../api/models.js';
import { GatewayProcess, type SettingOverrides } from '../../support/gateway-process.js';
import { KeysFolder } from './keys-folder.js';

describe('a gateway that reaches beyond its machine', () => {
  let folder: KeysFolder;
  beforeEach(async () => (folder = await KeysFolder.create()));
  afterEach(() => folder.remove());

  const start = (settings: SettingOverrides) =>
    GatewayProcess.start([sttModel()], settings, { folder: folder.folder, until: 'live' });

  it('does not start without keys, and says what to do', async () => {
    await expect(start({ 'server.host': '0.0.0.0' })).rejects.toThrow(
      /SWITCHYARD_SERVER_HOST {2}server.host = "0.0.0.0": reaches beyond this machine[^]*auth.keys_file[^]*allow_anonymous/,
    );
  });

  it('does not start with a keys file that cannot be used', async () => {
    await expect(start({ 'server.host': '0.0.0.0', 'auth.keys_file': folder.file })).rejects.toThrow(
      /keys.yaml {2}cannot be read \(ENOENT\)/,
    );
  });

  it('starts with keys, and SIGHUP does not end it', async () => {
    folder.add('acme', 'inference');
    await using gateway = await start({ 'server.host': '0.0.0.0', 'auth.keys_file': folder.file });
    expect((await gateway.call('GET', '/v1/models')).status).toBe(401);
    gateway.process.child.kill('SIGHUP');
    expect((await gateway.call('GET', '/health/live')).status).toBe(200);
  });
});
