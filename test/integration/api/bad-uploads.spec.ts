import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { RequestIntake } from '../../../src/gateway/scheduler/request-intake.js';
import { audioForm, wav } from './audio-forms.js';
import { errorOf, expectError, GatewayRig, until } from './gateway-rig.js';
import { sttModel } from './models.js';
import { BOUNDARY, chunk, filePartHead, multipartHead, RawHttp } from './raw-http.js';

const PATH = '/v1/audio/transcriptions';
const LIMIT = 1_000_000;
const MEMORY = 10_000;

let rig: GatewayRig;
beforeAll(async () => {
  const settings = { 'server.upload_limit_bytes': LIMIT, 'spool.memory_bytes': MEMORY };
  rig = await GatewayRig.start({ models: [sttModel()], settings });
});
afterAll(() => rig.close());
afterEach(async () => {
  expect(await rig.spooled()).toEqual([]);
});

describe('an upload that is not one audio file', () => {
  it('without a file is missing_required_parameter', async () => {
    const error = await errorOf(await rig.post(PATH, audioForm({ file: undefined })));
    expect(error).toMatchObject({
      status: 400,
      code: 'missing_required_parameter',
      param: 'file',
    });
  });

  it('with the file under another name says under which', async () => {
    const form = audioForm({ file: undefined });
    form.append('audio', new Blob(['x']), 'a.wav');
    const error = await errorOf(await rig.post(PATH, form));
    expect(error).toMatchObject({
      status: 400,
      code: 'missing_required_parameter',
      param: 'file',
    });
    expect(error.message).toContain('`audio`');
  });

  it('with text in the field `file` is missing_required_parameter', async () => {
    const form = audioForm({ file: undefined, fields: { file: '@speech.wav' } });
    await expectError(await rig.post(PATH, form), {
      code: 'missing_required_parameter',
      param: 'file',
    });
  });

  it('with two files is too_many_files, whether the first was small or spilled to disk', async () => {
    for (const seconds of [0.1, 2]) {
      const form = audioForm({ file: wav(seconds) });
      form.append('file', new Blob([new Uint8Array(wav(0.1))]), 'second.wav');
      await expectError(await rig.post(PATH, form), {
        status: 400,
        code: 'too_many_files',
        param: 'file',
      });
    }
  });

  it('of 0 bytes is empty_file', async () => {
    const error = await errorOf(await rig.post(PATH, audioForm({ file: Buffer.alloc(0) })));
    expect(error).toMatchObject({ status: 400, code: 'empty_file', param: 'file' });
  });

  it('of 0 seconds of WAV is audio_too_short, without asking a worker', async () => {
    const error = await errorOf(await rig.post(PATH, audioForm({ file: wav(0) })));
    expect(error).toMatchObject({ status: 400, code: 'audio_too_short', param: 'file' });
  });

  it('sent as JSON or as a form of another kind is unsupported_media_type', async () => {
    const json = await rig.post(PATH, { model: 'stt' });
    await expectError(json, {
      status: 415,
      code: 'unsupported_media_type',
    });
    const urlencoded = await fetch(rig.url + PATH, {
      method: 'POST',
      body: new URLSearchParams({ model: 'stt' }),
    });
    await expectError(urlencoded, {
      status: 415,
      code: 'unsupported_media_type',
    });
  });

  it('with an unknown model before the file is refused before the file is taken in', async () => {
    const raw = await RawHttp.open(rig.port);
    raw.send(...multipartHead('Transfer-Encoding: chunked'));
    raw.send(
      chunk(
        `--${BOUNDARY}\r\nContent-Disposition: form-data; name="model"\r\n\r\nnobody\r\n` +
          `${filePartHead()}${'x'.repeat(99)}`,
      ),
    );
    const { status, body } = await raw.answer();
    expect([status, body]).toEqual([404, expect.stringContaining('model_not_found')]);
    raw.socket.destroy();
  });
});

describe('an upload over the limit is file_too_large with Connection: close', () => {
  async function expect413(raw: RawHttp): Promise<void> {
    const { status, head, body } = await raw.answer();
    expect([status, body]).toEqual([413, expect.stringContaining('"code":"file_too_large"')]);
    expect(head).toContain('connection: close');
    expect(head).toContain('x-should-retry: false');
    raw.socket.destroy();
  }

  it('when Content-Length says so, before a byte of it came', async () => {
    const raw = await RawHttp.open(rig.port);
    raw.send(...multipartHead(`Content-Length: ${LIMIT * 30}`));
    await expect413(raw);
  });

  it('when it comes chunked, at the first byte over', async () => {
    const raw = await RawHttp.open(rig.port);
    raw.send(...multipartHead('Transfer-Encoding: chunked'));
    raw.send(chunk(filePartHead()));
    for (let sent = 0; sent <= LIMIT; sent += 50_000) raw.send(chunk('x'.repeat(50_000)));
    await expect413(raw);
  });

  it('when Content-Length promised room for the envelope only, and the file is over', async () => {
    const raw = await RawHttp.open(rig.port);
    raw.send(...multipartHead(`Content-Length: ${LIMIT + 5000}`));
    raw.send(filePartHead(), 'x'.repeat(LIMIT + 1));
    await expect413(raw);
  });

  it('and the client that only reads when all is sent still sees it', async () => {
    const response = await rig.post(PATH, audioForm({ file: Buffer.alloc(LIMIT * 8) }));
    await expectError(response, {
      status: 413,
      code: 'file_too_large',
      param: 'file',
    });
  });

  it('and exactly the limit is not over', async () => {
    const response = await rig.post(
      PATH,
      audioForm({ file: Buffer.alloc(LIMIT), fields: { language: '!!' } }),
    );
    await expectError(response, { status: 400, param: 'language' });
  });
});

describe('a Content-Length that lies', () => {
  it('by promising less ends the form early: invalid_multipart', async () => {
    const raw = await RawHttp.open(rig.port);
    raw.send(...multipartHead('Content-Length: 5000'));
    raw.send(filePartHead() + 'x'.repeat(5000 - filePartHead().length));
    const { status, body } = await raw.answer();
    expect([status, body]).toEqual([400, expect.stringContaining('"code":"invalid_multipart"')]);
    raw.socket.destroy();
  });

  it('by promising less, with the rest behind it, is 400 and the end of the connection', async () => {
    const raw = await RawHttp.open(rig.port);
    raw.send(...multipartHead('Content-Length: 5000'));
    raw.send(filePartHead(), 'x'.repeat(20_000), `\r\n--${BOUNDARY}--\r\n`);
    const { status, body } = await raw.answer(true);
    expect([status, body]).toEqual([
      400,
      expect.stringContaining('"type":"invalid_request_error"'),
    ]);
  });

  it('by promising more, with the client gone then, leaves nothing behind', async () => {
    const raw = await RawHttp.open(rig.port);
    raw.send(...multipartHead('Content-Length: 900000'), filePartHead(), 'x'.repeat(50_000));
    await untilSpooled(1);
    raw.socket.destroy();
    await untilSpooled(0);
  });
});

describe('a client that leaves in the middle of its upload', () => {
  it('leaves nothing in the spool, and nothing is enqueued', async () => {
    const raw = await RawHttp.open(rig.port);
    raw.send(...multipartHead('Transfer-Encoding: chunked', 'X-Request-Id: gone-mid-upload'));
    raw.send(chunk(`${filePartHead()}${'x'.repeat(MEMORY * 2)}`));
    await untilSpooled(1);
    raw.socket.destroy();
    await untilSpooled(0);
    const found = await fetch(`${rig.url}/v1/requests/gone-mid-upload`);
    await expectError(found, {
      status: 404,
      code: 'request_not_found',
    });
  });
});

describe('multipart that is malformed', () => {
  it.each([
    ['without a boundary in its Content-Type', 'multipart/form-data', 'x'],
    ['that never begins', `multipart/form-data; boundary=${BOUNDARY}`, 'nothing of the kind'],
    [
      'that breaks off in a part',
      `multipart/form-data; boundary=${BOUNDARY}`,
      `${filePartHead()}abc`,
    ],
    [
      'with a part without headers',
      `multipart/form-data; boundary=${BOUNDARY}`,
      `--${BOUNDARY}\r\n\r\nabc`,
    ],
    // prettier-ignore
    ['with a field named __proto__', `multipart/form-data; boundary=${BOUNDARY}`,
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="__proto__"\r\n\r\nx\r\n--${BOUNDARY}--\r\n`],
  ])('%s is invalid_multipart', async (_name, type, body) => {
    const response = await fetch(rig.url + PATH, {
      method: 'POST',
      headers: { 'content-type': type },
      body,
    });
    await expectError(response, {
      status: 400,
      code: 'invalid_multipart',
    });
  });

  it('with 150 fields is invalid_multipart', async () => {
    const fields = Object.fromEntries(
      Array.from({ length: 150 }, (_, index) => [`field${index}`, 'x']),
    );
    const error = await errorOf(await rig.post(PATH, audioForm({ fields })));
    expect(error).toMatchObject({ status: 400, code: 'invalid_multipart' });
  });

  it('with a field over 1 MiB names the field', async () => {
    const form = audioForm({ fields: { prompt: 'x'.repeat(1_100_000) } });
    await expectError(await rig.post(PATH, form), {
      status: 400,
      code: 'invalid_value',
      param: 'prompt',
    });
  });
});

describe('a folder for uploads that is gone', () => {
  it('is 503 storage_unavailable, to be tried again', async () => {
    const lost = await GatewayRig.start({
      models: [sttModel()],
      settings: { 'spool.memory_bytes': 0 },
    });
    await lost.loseSpool();
    const { status, code, headers } = await errorOf(lost.post(PATH, audioForm()));
    expect([status, code, headers.get('x-should-retry')]).toEqual([
      503,
      'storage_unavailable',
      'true',
    ]);
    await lost.close();
  });
});

describe('a defect of our own', () => {
  it('is internal_error that tells nothing of the inside, and is not to be retried', async () => {
    const broken = await GatewayRig.start({ models: [sttModel()] });
    Object.assign(broken.app.get(RequestIntake), {
      submit: () => {
        throw new TypeError('a defect inside');
      },
    });
    const error = await errorOf(broken.post(PATH, audioForm()));
    expect(error).toMatchObject({
      status: 500,
      code: 'internal_error',
      type: 'server_error',
      param: null,
    });
    expect(error.message).toBe('Something went wrong on our side; the log has the details.');
    expect(error.headers.get('x-should-retry')).toBe('false');
    await broken.close();
  });
});

/** Waits on the spool folder itself: it is what must change. */
const untilSpooled = (count: number) => until(async () => (await rig.spooled()).length === count);
