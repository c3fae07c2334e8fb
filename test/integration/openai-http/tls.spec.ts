import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encoded, transcribeItem } from '../../contract/engines/engine-items.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { errorOf, UpstreamRig } from './upstream-rig.js';

const run = promisify(execFile);
const ITEM = transcribeItem(encoded('one'));

describe('openai-http over TLS, against a server with a certificate of its own making', () => {
  let folder: string;
  let rig: UpstreamRig;

  const path = (name: string) => join(folder, name);

  async function selfSigned(name: string, names: string): Promise<void> {
    await run('openssl', [
      ...[
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
      ],
      ...['-subj', `/CN=${name}`, '-addext', `subjectAltName=${names}`],
      ...['-keyout', path(`${name}.key`), '-out', path(`${name}.pem`)],
    ]);
  }

  beforeAll(async () => {
    folder = temporaryFolder();
    await selfSigned('upstream', 'IP:127.0.0.1');
    await selfSigned('stranger', 'IP:127.0.0.1');
    const [key, cert] = await Promise.all(
      ['upstream.key', 'upstream.pem'].map(name => readFile(path(name), 'utf8')),
    );
    rig = await UpstreamRig.start({ tls: { key: key!, cert: cert! }, models: ['m'] });
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  it('works with caFile', async () => {
    const engine = await rig.recognizer({ caFile: path('upstream.pem') });
    expect(await engine.transcribe([ITEM])).toMatchObject([
      { ok: true, value: { text: 'I heard one' } },
    ]);
  });

  it.each([
    ['without caFile', () => ({})],
    ['with the certificate of somebody else', () => ({ caFile: path('stranger.pem') })],
  ])('is refused %s, at once and with what to set', async (_title, options) => {
    const before = rig.upstream.calls.length;
    const error = errorOf(await (await rig.recognizer(options())).transcribe([ITEM]));
    expect(error).toMatchObject({ code: 'engine_failed' });
    expect(error.message).toMatch(
      /is not trusted \(.+\): options.caFile names who signs its certificate.$/,
    );
    expect(rig.upstream.calls).toHaveLength(before);
  });

  it('takes any certificate only when insecureSkipVerify says so', async () => {
    const engine = await rig.recognizer({ insecureSkipVerify: true });
    expect(await engine.transcribe([ITEM])).toMatchObject([{ ok: true }]);
  });

  it.each([
    ['is missing', () => path('none.pem'), 'options.caFile: cannot read'],
    ['holds no certificate', () => path('upstream.key'), 'holds no certificate in PEM form'],
  ])('does not load when caFile %s', async (_title, caFile, words) => {
    await expect(rig.recognizer({ caFile: caFile() })).rejects.toThrow(words);
  });
});
