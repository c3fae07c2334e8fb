import { ReadableStream } from 'node:stream/web';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { wav } from './audio-forms.js';
import { errorOf, expectError, GatewayRig } from './gateway-rig.js';
import { sttModel } from './models.js';

const BOUNDARY = 'b0undary';
const MIB = 1_048_576;

let rig: GatewayRig;
let upload: string;
beforeAll(async () => {
  rig = await GatewayRig.start({ models: [sttModel({ replicas: 1 })], launch: 'hosted' });
  const pending = { bytes: 1, filename: 'a', mime_type: 'text/plain', purpose: 'batch' };
  upload = ((await (await rig.post('/v1/uploads', pending)).json()) as { id: string }).id;
});
afterAll(() => rig.close());

const part = (name: string, value: string, ...head: readonly string[]): string =>
  [`--${BOUNDARY}`, `Content-Disposition: form-data; name="${name}"`, ...head, '', value, ''].join(
    '\r\n',
  );

const filePart = (name: string, bytes: Buffer, ...head: readonly string[]): Buffer => {
  const lines = [
    `--${BOUNDARY}`,
    `Content-Disposition: form-data; name="${name}"; filename="a.wav"`,
    ...head,
    '',
    '',
  ];
  return Buffer.concat([Buffer.from(lines.join('\r\n')), bytes, Buffer.from('\r\n')]);
};

/** Without a length, as a client sends what it makes on the way. */
function send(
  path: string,
  pieces: readonly (string | Buffer)[],
  boundary = BOUNDARY,
): Promise<Response> {
  const body = ReadableStream.from(
    [...pieces, `--${boundary}--\r\n`].map(piece => Buffer.from(piece)),
  );
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  return fetch(rig.url + path, { method: 'POST', headers, body, duplex: 'half' });
}

const transcribe = (...pieces: readonly (string | Buffer)[]) =>
  send('/v1/audio/transcriptions', pieces);

describe.each([
  ['/v1/audio/transcriptions', 'file'],
  ['/v1/audio/translations', 'file'],
  ['/v1/files', 'file'],
  ['/v1/uploads/ID/parts', 'data'],
])('a form for %s', (route, name) => {
  const post = (...pieces: readonly (string | Buffer)[]) =>
    send(route.replace('ID', upload), pieces);

  it('with names of 60,000 brackets is invalid_multipart and answers at once', async () => {
    const names = Array.from({ length: 20 }, () => part('['.repeat(60_000), 'x'));
    const error = await errorOf(await post(...names));
    expect(error).toMatchObject({
      status: 400,
      code: 'invalid_multipart',
      message: expect.stringMatching(/128/),
    });
    expect(error.message.length).toBeLessThan(300);
  });

  it('with 99 parts of JSON of 2.6 MB stops reading at the bound of a form', async () => {
    const json = `[${'{},'.repeat(866_000)}{}]`;
    let sent = 0;
    const lines = function* (): Generator<string> {
      for (let index = 0; index < 99; index += 1) {
        sent += json.length;
        yield part(`x${index}`, json, 'Content-Type: application/json');
      }
    };
    const body = ReadableStream.from(lines()).pipeThrough(new TextEncoderStream());
    const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
    const request = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
    const error = await errorOf(await fetch(rig.url + route.replace('ID', upload), request));
    expect(error).toMatchObject({
      status: 400,
      code: expect.stringMatching(/invalid_(value|multipart)/),
    });
    expect(sent).toBeLessThan(120 * MIB);
  });

  it('with megabytes in parts that the parser skips is invalid_multipart', async () => {
    const skipped = `--${BOUNDARY}\r\nX-Header: no name\r\n\r\n${'x'.repeat(MIB)}\r\n`;
    const error = await errorOf(
      await post(...Array.from({ length: 14 }, () => skipped), filePart(name, wav(0.1))),
    );
    expect(error).toMatchObject({
      status: 400,
      code: 'invalid_multipart',
      message: expect.stringMatching(/besides/),
    });
  });

  it('with a part without a name is invalid_multipart', async () => {
    const nameless = `--${BOUNDARY}\r\nContent-Disposition: form-data\r\n\r\nx\r\n`;
    await expectError(await post(nameless), {
      status: 400,
      code: 'invalid_multipart',
    });
  });

  it('with a boundary of 10,000 characters is invalid_multipart', async () => {
    const long = 'a'.repeat(10_000);
    const error = await errorOf(await send(route.replace('ID', upload), [], long));
    expect(error).toMatchObject({ status: 400, code: 'invalid_multipart' });
  });
});

describe('a text field whose part says application/json', () => {
  it('is the text that it holds, and is never parsed', async () => {
    const json = 'Content-Type: application/json';
    const nested = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const head = [part('model', 'stt', json), part('response_format', 'verbose_json', json)];
    const known = await transcribe(
      ...head,
      part('unknown', nested, json),
      filePart('file', wav(1)),
    );
    expect(known.status).toBe(200);
    expect(await known.json()).toMatchObject({ task: 'transcribe' });
  });

  it('counts with its bytes', async () => {
    const long = part('prompt', 'x'.repeat(2 * MIB), 'Content-Type: application/json');
    const error = await errorOf(
      await transcribe(part('model', 'stt'), long, filePart('file', wav(1))),
    );
    expect(error).toMatchObject({ status: 400, code: 'invalid_value', param: 'prompt' });
  });
});

it('a file of application/octet-stream without a filename is stored under the name of its part', async () => {
  const head =
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"\r\n` +
    `Content-Type: application/octet-stream\r\n\r\n`;
  const answer = await send('/v1/files', [part('purpose', 'user_data'), `${head}hello\r\n`]);
  expect([answer.status, await answer.json()]).toEqual([
    200,
    expect.objectContaining({ filename: 'file', bytes: 5 }),
  ]);
});
