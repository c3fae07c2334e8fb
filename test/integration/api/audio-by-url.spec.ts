import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { FixtureWorker } from '../../support/fixture-worker.js';
import { audioForm, type FormOptions, wav } from './audio-forms.js';
import { errorOf, expectError, GatewayRig, until } from './gateway-rig.js';
import { sttModel } from './models.js';

const TRANSCRIPTIONS = '/v1/audio/transcriptions';
const TRANSLATIONS = '/v1/audio/translations';
const LIMIT = 200_000;
/** As many downloads as a worker decodes at the same time. */
const PREP_PARALLEL = 2;

const routes = new Map<string, RequestListener>();
const files = createServer((request, response) =>
  routes.get(request.url ?? '')?.(request, response),
);
let origin: string;

let echo: FixtureWorker;
let rig: GatewayRig;
beforeAll(async () => {
  files.listen(0, '127.0.0.1');
  await once(files, 'listening');
  origin = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
  routes.set('/a%20b.wav?signature=1', (_, response) => response.end(wav(2)));
  routes.set('/moved', (_, response) =>
    response.writeHead(302, { location: '/a%20b.wav?signature=1' }).end(),
  );
  routes.set('/trap', (_, response) =>
    response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
  );
  routes.set('/text.wav', (_, response) => response.end('This is not audio at all. '.repeat(100)));
  routes.set('/page', (_, response) => response.setHeader('content-type', 'text/html').end('<p>'));
  routes.set('/gone', (_, response) => response.writeHead(410).end());
  routes.set('/large', (_, response) => response.end(Buffer.alloc(LIMIT + 1)));

  echo = new FixtureWorker({ model: 'echo' });
  const settings = {
    'server.upload_limit_bytes': LIMIT,
    'workers.prep_parallel': PREP_PARALLEL,
    'fetch.allow_hosts': new URL(origin).host,
  };
  const models = [
    sttModel({ replicas: 1, options: { maxBatch: 4 } }),
    sttModel({
      ...{ id: 'ear', aliases: [], engine: 'sherpa-onnx', replicas: 1 },
      options: { modelDir: 'test/fixtures/sherpa/nemo-ctc' },
    }),
    sttModel({
      id: 'echo',
      aliases: [],
      addresses: [`127.0.0.1:${await echo.start()}`],
    }),
  ];
  rig = await GatewayRig.start({ models, settings, launch: 'hosted' });
});
afterAll(async () => {
  await rig.close();
  echo.stop();
  files.closeAllConnections();
  files.close();
});
afterEach(async () => {
  expect(await rig.spooled()).toEqual([]);
});

type Fields = NonNullable<FormOptions['fields']>;
const byUrl = (file_url: string | readonly string[], fields: Fields = {}) =>
  audioForm({ file: undefined, fields: { file_url, ...fields } });
const post = (url: string, fields?: Fields, init?: RequestInit) =>
  rig.post(TRANSCRIPTIONS, byUrl(origin + url, fields), init);
const durationOf = async (response: Response) =>
  ((await response.json()) as { usage: { seconds: number } }).usage.seconds;

describe('file_url', () => {
  it.each(['/a%20b.wav?signature=1', '/moved'])(
    '%s is fetched and decoded by the worker',
    async path => {
      const response = await post(path, { model: 'ear' });
      expect(response.status).toBe(200);
      expect(await durationOf(response)).toBe(2);
    },
  );

  it.each([TRANSCRIPTIONS, TRANSLATIONS])(
    'reaches the worker of %s as it is, named after its path',
    async path => {
      const form = byUrl('HTTPS://Example.com:443/x/a%20b.mp3?sig=%2F#t=1', {
        model: 'echo',
      });
      expect(await (await rig.post(path, form)).json()).toMatchObject({
        text: 'https://example.com/x/a%20b.mp3?sig=%2F of a b.mp3',
      });
    },
  );

  it.each([
    ['/trap', 400, 'file_url_refused', 'public Internet'],
    ['/page', 400, 'file_url_refused', 'web page'],
    ['/gone', 400, 'file_url_unreachable', '410'],
    ['/large', 413, 'file_too_large', `${LIMIT} bytes`],
    ['/text.wav', 400, 'invalid_audio', 'cannot be decoded'],
  ])('%s is answered %i %s, and not tried again', async (path, status, code, reason) => {
    const error = await errorOf(post(path, { model: 'ear' }));
    expect(error).toMatchObject({ status, code, param: 'file_url' });
    expect(error.message).toContain(reason);
    expect(error.headers.get('x-should-retry')).toBe('false');
  });

  it.each([
    'http://127.0.0.1/',
    'http://localhost:80/',
    'http://0x7f.1/',
    'http://[::1]/',
    'http://1.1.1.1:22/',
  ])('to %s is refused', async url => {
    await expectError(rig.post(TRANSCRIPTIONS, byUrl(url)), {
      ...{ status: 400, code: 'file_url_refused', param: 'file_url' },
    });
  });

  it('that is slow delays only itself: every preparation place stays free', async () => {
    const slow: (() => void)[] = [];
    routes.set('/slow', (_, response) => slow.push(() => response.end(wav(1))));
    const waiting = Array.from({ length: PREP_PARALLEL + 1 }, () => post('/slow'));
    await until(() => slow.length === waiting.length);
    expect((await rig.post(TRANSCRIPTIONS, audioForm())).status).toBe(200);
    for (const release of slow) release();
    for (const { status } of await Promise.all(waiting)) expect(status).toBe(200);
  });

  it('is let go when its caller hangs up', async () => {
    const caller = new AbortController();
    const closed = new Promise(resolve => {
      routes.set('/stuck', (_, response) => {
        response.on('close', resolve);
        response.write('RIFF', () => caller.abort());
      });
    });
    await expect(post('/stuck', {}, { signal: caller.signal })).rejects.toThrow();
    await closed;
    await until(
      async () => (await rig.ready('stt')).slots.free === (await rig.ready('stt')).slots.total,
    );
  });
});

describe('a form', () => {
  const invalid = { status: 400, code: 'invalid_value', param: 'file_url' };

  it('with neither file nor file_url says what to send', async () => {
    for (const form of [audioForm({ file: undefined }), byUrl('')]) {
      const error = await errorOf(rig.post(TRANSCRIPTIONS, form));
      expect(error).toMatchObject({
        status: 400,
        code: 'missing_required_parameter',
        param: 'file',
      });
      expect(error.message).toContain('or send `file_url`');
    }
  });

  it('with both is refused, whichever comes first', async () => {
    const fileFirst = audioForm({ fields: { file_url: 'https://example.com/' } });
    const urlFirst = byUrl('https://example.com/');
    urlFirst.append('file', new Blob([new Uint8Array(wav(1))]), 'a.wav');
    for (const form of [fileFirst, urlFirst]) {
      const error = await errorOf(rig.post(TRANSCRIPTIONS, form));
      expect(error).toMatchObject({
        ...invalid,
        message: 'Send `file` or `file_url`, not both.',
      });
    }
  });

  it.each([
    ['two URLs', ['https://a.test/', 'https://b.test/'], 'must be sent once, as text'],
    ['no URL', 'speech.mp3', 'must be a URL'],
    ['another scheme', 'ftp://a.test/b', 'must be http or https; got ftp'],
    ['a file', 'file:///etc/passwd', 'must be http or https; got file'],
    ['credentials', 'https://me:secret@a.test/', 'must not hold a user name or password'],
    ['a user', 'https://me@a.test/', 'must not hold a user name or password'],
    [
      'too long a URL',
      `https://a.test/${'x'.repeat(4096)}`,
      'at most 4096 characters long; got 4111',
    ],
  ])('with %s is refused without repeating it', async (_, url, rule) => {
    const error = await errorOf(rig.post(TRANSCRIPTIONS, byUrl(url)));
    expect(error).toMatchObject(invalid);
    expect(error.message).toContain(rule);
    expect(error.message).not.toContain('secret');
  });
});
