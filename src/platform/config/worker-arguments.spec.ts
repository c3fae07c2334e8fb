import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { WORKER_OPTIONS, WORKER_USAGE, workerSpecOf } from './worker-arguments.js';
import { WORKER_SPEC_VARIABLE } from './worker-spec.js';

describe('a worker started by hand', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'models.yaml');
  const environment = {
    SWITCHYARD_DATA_DIR: join(folder, 'data'),
    SWITCHYARD_WORKERS_MODELS_FILE: file,
    SWITCHYARD_SERVER_UPLOAD_LIMIT_BYTES: '1000',
  };

  beforeAll(() => {
    const models = ['a', 'b'].map(id => ({
      id,
      kind: 'stt',
      engine: 'synthetic',
      capabilities: ['transcribe'],
    }));
    writeFileSync(
      file,
      JSON.stringify({ models: [{ ...models[0], options: { baseMs: 5 } }, models[1]] }),
    );
  });

  const spec = (...args: string[]) => workerSpecOf(args, environment);

  it('is the model of the file, on loopback, with the limits of the settings', () => {
    expect(spec('--model', 'a')).toMatchObject({
      workerId: 'a@127.0.0.1:9000',
      model: { id: 'a', options: { baseMs: 5 } },
      host: '127.0.0.1',
      port: 9000,
      uploadLimitBytes: 1000,
      fetch: { maxBytes: 1000 },
    });
    expect(spec('--model', 'a')).not.toHaveProperty('tls');
  });

  it('listens at the given address, with device, TLS and token', () => {
    const tls = ['--tls-cert', 'c.pem', '--tls-key', 'k.pem', '--tls-client-ca', 'ca.pem'];
    expect(
      spec('--model', 'b', '--listen', '[::]:0', '--device', 'cuda:1', '--token-file', 't', ...tls),
    ).toMatchObject({
      model: { id: 'b', options: { device: 'cuda:1' } },
      host: '[::]',
      port: 0,
      tokenFile: 't',
      tls: { certFile: 'c.pem', keyFile: 'k.pem', clientCaFile: 'ca.pem' },
    });
  });

  it('is a model of the command line with --engine, whatever the file has', () => {
    const options = ['--option', 'modelDir=/m', '--option', 'threads=4', '--option', 'x=y'];
    expect(
      spec('--model', 'w', '--kind', 'stt', '--engine', 'sherpa-onnx', ...options),
    ).toMatchObject({
      workerId: 'w@127.0.0.1:9000',
      model: {
        id: 'w',
        kind: 'stt',
        engine: 'sherpa-onnx',
        options: { modelDir: '/m', threads: 4, x: 'y' },
      },
    });
    expect(spec('--model', 'v', '--engine', 'llama-cpp', '--kind', 'embedding')?.model.kind).toBe(
      'embedding',
    );
  });

  it.each([
    [['--engine', 'sherpa-onnx'], '--engine needs --model'],
    [['--model', 'w', '--engine', 'whisper'], '--engine must be one of sherpa-onnx, llama-cpp,'],
    [['--model', 'w', '--engine', 'llama-cpp'], '--kind must be one of llm, embedding'],
    [
      ['--model', 'w', '--engine', 'llama-cpp', '--kind', 'stt'],
      'engine llama-cpp does llm and embedding only',
    ],
    [
      ['--model', 'w', '--engine', 'openai-http', '--kind', 'llm', '--option', 'threads'],
      '--option threads: must be NAME=VALUE',
    ],
    [['--model', 'a', '--option', 'baseMs=1'], '--kind and --option go with --engine'],
    [['--model', 'c'], '--model must be one of a, b'],
    [[], '--model must be one of a, b'],
    [
      ['--model', 'w', '--engine', 'openai-http', '--kind', 'llm', '--option', '=1'],
      '--option =1: must be NAME=VALUE',
    ],
    [['--model', 'a', '--listen', '9000'], '--listen must be HOST:PORT'],
    [['--model', 'a', '--listen', '127.0.0.1:65536'], '--listen must be HOST:PORT'],
    [['--model', 'a', '--tls-cert', 'c.pem'], '--tls-cert and --tls-key go together'],
    [['--model', 'a', '--tls-client-ca', 'c.pem'], '--tls-client-ca needs --tls-cert'],
    [
      ['--model', 'a', '--listen', '0.0.0.0:9000'],
      'reaches beyond this machine: give --token-file',
    ],
    [['--model', 'a', '--listen', '127.evil.com:9000'], 'reaches beyond this machine'],
    [['--modle', 'a'], '--modle'],
    [['--model', 'a', '--source', 'both'], '--source must be pull or push'],
    [['--model', 'a', '--source', 'pull'], 'redis.url must name one'],
  ])('with %j is an error that says what is wrong', (args, message) => {
    expect(() => spec(...args)).toThrow(message);
  });

  it.each([
    ['0.0.0.0:9000', ['--insecure']],
    ['[::]:9000', ['--token-file', 't']],
    ['gpu.lan:9000', ['--tls-cert', 'c.pem', '--tls-key', 'k.pem']],
    ['[::1]:9000', []],
    ['127.0.0.1:65535', []],
  ])('listens on %s with %j', (listen, more) => {
    const port = Number(listen.split(':').at(-1));
    expect(spec('--model', 'a', '--listen', listen, ...more)).toMatchObject({ port });
  });

  it('pulls with --source pull, or when the queue is shared, and not with --source push', () => {
    const redis = { ...environment, SWITCHYARD_REDIS_URL: 'redis://r' };
    const shared = { ...redis, QUEUE_DRIVER: 'redis' };
    const model = ['--model', 'a'];
    const pulled = {
      sharedQueue: { server: { host: 'r' }, prefix: 'switchyard' },
      pull: { maxBatchSize: 6 },
    };
    expect(workerSpecOf([...model, '--source', 'pull'], redis)).toMatchObject(pulled);
    expect(workerSpecOf(model, redis)).not.toHaveProperty('pull');
    expect(workerSpecOf(model, shared)).toMatchObject(pulled);
    expect(workerSpecOf([...model, '--source', 'push'], shared)).not.toHaveProperty('pull');
  });

  it('is nothing when help is asked for, which names every option in rows of 118 characters', () => {
    expect(spec('--help')).toBeUndefined();
    const indent = ' '.repeat(24);
    const rows = WORKER_USAGE.split('\n').filter(row => /^( {2}--| {24})/.test(row));
    for (const [at, row] of rows.entries()) {
      expect(row.length).toBeLessThanOrEqual(118);
      const [first = ''] = rows[at + 1]?.slice(24).split(' ') ?? [];
      if (rows[at + 1]?.startsWith(indent))
        expect(row.length + 1 + first.length).toBeGreaterThan(118);
    }
    const texts = rows.join('\n').replaceAll(`\n${indent}`, ' ').split('\n');
    for (const [name, { value, multiple, help }] of WORKER_OPTIONS)
      expect(texts).toContain(
        `  --${name}${value === undefined ? '' : ` ${value}`}`.padEnd(24) +
          help +
          (multiple ? '; may be repeated' : ''),
      );
  });

  it.each([
    [{ command: ['serve', '{port}'] }, { care: expect.anything() }],
    [{ addresses: ['gpu:1'] }, { address: 'gpu:1', care: expect.anything() }],
    [
      { addresses: ['gpu:1'], remote: { token_file: file } },
      { address: 'gpu:1', care: expect.anything(), remote: { tokenFile: file } },
    ],
    [{ addresses: ['gpu:1', 'gpu:2'] }, 'has 2 addresses; this process stands before one worker'],
    [
      { kind: 'llm', capabilities: ['chat'], command: ['serve', '{port}'] },
      'is called by gateways',
    ],
  ])('in another language, written as %j, is bridged as %j', (fields, bridged) => {
    const models = join(folder, 'external.yaml');
    const entry = { id: 'e', kind: 'stt', engine: 'external', capabilities: [], ...fields };
    writeFileSync(models, JSON.stringify({ models: [entry] }));
    const run = () =>
      workerSpecOf(['--model', 'e'], { ...environment, SWITCHYARD_WORKERS_MODELS_FILE: models });
    if (typeof bridged === 'string') expect(run).toThrow(bridged);
    else expect(run()?.bridged).toEqual(bridged);
  });

  it('of text is never pulled', () => {
    const redis = { ...environment, SWITCHYARD_REDIS_URL: 'redis://r' };
    const text = ['--model', 'w', '--engine', 'llama-cpp', '--kind', 'llm', '--source', 'pull'];
    expect(() => workerSpecOf(text, redis)).toThrow('w generates text, which is always pushed');
  });

  it('is what its supervisor says when it has one', () => {
    expect(() =>
      workerSpecOf(['--model', 'a'], { ...environment, [WORKER_SPEC_VARIABLE]: '{' }),
    ).toThrow(WORKER_SPEC_VARIABLE);
  });
});
