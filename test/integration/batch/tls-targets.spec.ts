import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { type ServerOptions } from 'node:https';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { BatchHarness, chatLine } from '../../support/batch-harness.js';
import { expectWholeBatch } from '../../support/batch-invariants.js';
import { echoAnswer, TargetServer } from '../../support/target-server.js';
import { TestCertificates } from '../../support/test-certificates.js';

interface Certified {
  readonly certFile: string;
  readonly keyFile: string;
}

const tlsOf = async (
  { certFile, keyFile }: Certified,
  more: ServerOptions = {},
): Promise<ServerOptions> => ({
  cert: await readFile(certFile),
  key: await readFile(keyFile),
  ...more,
});

/** An entry of `model_gateways`, complete as each must be. */
const entry = (url: string, more: Readonly<Record<string, string | boolean>> = {}): object => ({
  url,
  request_timeout: '30s',
  max_retries: 0,
  initial_backoff: '10ms',
  max_backoff: '1s',
  ...more,
});

describe('targets over TLS', () => {
  it('are trusted by their CA, get the client certificate and the named key; others give error lines', async () => {
    await using harness = await BatchHarness.open();
    const certificates = await TestCertificates.make(harness.folder);
    const server = await certificates.sign('server', 'IP:127.0.0.1');
    const client = await certificates.sign('client', 'DNS:processor');
    await using plain = await TargetServer.start(echoAnswer, await tlsOf(server));
    const ca = await readFile(certificates.authority);
    const mutual = await tlsOf(server, {
      ca,
      requestCert: true,
      rejectUnauthorized: true,
    });
    await using strict = await TargetServer.start(echoAnswer, mutual);
    const secrets = join(harness.folder, 'secrets');
    await mkdir(secrets);
    await writeFile(join(secrets, 'gateway-b'), 'sk-named\n');
    const trust = { tls_ca_cert_file: certificates.authority };
    const own = {
      tls_client_cert_file: client.certFile,
      tls_client_key_file: client.keyFile,
    };
    const model_gateways = {
      trusted: entry(plain.url, { ...trust, api_key_name: 'gateway-b' }),
      unchecked: entry(plain.url, { tls_insecure_skip_verify: true }),
      distrusted: entry(plain.url),
      mutual: entry(strict.url, { ...trust, ...own }),
      anonymous: entry(strict.url, trust),
    };
    const file = join(harness.folder, 'targets.yaml');
    await writeFile(file, JSON.stringify({ model_gateways }));
    const models = Object.keys(model_gateways);
    const { id } = await harness.submit(models.map(model => chatLine(model, model)));
    await harness.host({ 'batch.targets_file': file, 'batch.secrets_dir': secrets });
    expect((await harness.untilEnd(id)).status).toBe('completed');
    const { output, errors } = await expectWholeBatch(harness, id, models);
    expect(output.map(({ custom_id }) => custom_id).sort()).toEqual([
      'mutual',
      'trusted',
      'unchecked',
    ]);
    expect(errors.map(({ custom_id, error }) => [custom_id, error?.code]).sort()).toEqual([
      ['anonymous', 'connection_lost'],
      ['distrusted', 'connection_lost'],
    ]);
    const keys = plain.calls.map(({ headers }) => headers.authorization);
    expect(keys.sort()).toEqual(['Bearer sk-named', undefined]);
  });

  it('as one for all models: its key is read from any path', async () => {
    await using harness = await BatchHarness.open();
    await using target = await TargetServer.start();
    const [file, key] = [join(harness.folder, 'targets.yaml'), join(harness.folder, 'key')];
    await writeFile(key, 'sk-file');
    await writeFile(
      file,
      JSON.stringify({
        global_inference_gateway: entry(target.url, { api_key_file: key }),
      }),
    );
    const { id } = await harness.submit([chatLine('a', 'one'), chatLine('b', 'other')]);
    await harness.host({ 'batch.targets_file': file });
    expect((await harness.untilEnd(id)).status).toBe('completed');
    expect(target.calls.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer sk-file',
      'Bearer sk-file',
    ]);
  });
});
