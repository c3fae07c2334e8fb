import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DomainError } from '../../../src/core/errors/domain-error.js';
import { workerEnvironment, type WorkerSpec } from '../../../src/platform/config/worker-spec.js';
import { encoded, modelSpec, transcribeItem } from '../../contract/engines/engine-items.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { SttCaller } from '../worker/stt-caller.js';
import { errorOf, UpstreamRig } from './upstream-rig.js';

const KEY = 'sk-never-to-be-seen-4711';
const MAIN = fileURLToPath(new URL('../../../src/main.worker.ts', import.meta.url));
const LOADER = fileURLToPath(new URL('../../support/typescript-loader.mjs', import.meta.url));

describe('the key of an openai-http upstream', () => {
  let folder: string;
  let rig: UpstreamRig;
  let apiKeyFile: string;

  beforeEach(async () => {
    folder = temporaryFolder();
    apiKeyFile = join(folder, 'key');
    await writeFile(apiKeyFile, `${KEY}\n`, { mode: 0o600 });
    rig = await UpstreamRig.start({ key: KEY, models: ['m'] });
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  it('comes from its file and goes along as a bearer token', async () => {
    const engine = await rig.recognizer({ apiKeyFile });
    expect(await engine.transcribe([transcribeItem(encoded('one'))])).toMatchObject([{ ok: true }]);
    expect(rig.upstream.calls.map(({ headers }) => headers.authorization)).toEqual([
      `Bearer ${KEY}`,
      `Bearer ${KEY}`,
    ]);
    expect(inspect(engine, { depth: 10, showHidden: true })).not.toContain(KEY);
  });

  it.each([401, 403, 400, 500])('is in no error, even when a %i quotes it', async status => {
    const body = JSON.stringify({
      error: { message: `Incorrect key ${KEY}; Bearer ${KEY}` },
    });
    rig.upstream.script({ kind: 'status', status, body });
    const engine = await rig.recognizer({ apiKeyFile, retries: 0 });
    expect(
      inspect(errorOf(await engine.transcribe([transcribeItem(encoded('one'))])), {
        depth: 10,
      }),
    ).not.toContain(KEY);
  });

  it('when it is wrong, is told to the operator without being told', async () => {
    await writeFile(apiKeyFile, 'another');
    const engine = await rig.recognizer({ apiKeyFile });
    const error = errorOf(await engine.transcribe([transcribeItem(encoded('one'))]));
    expect(error).toMatchObject({ code: 'engine_failed' });
    expect(error.message).toBe(
      "The upstream of model 'openai-http-under-test' answered 401: " +
        'the key in the file of options.apiKeyFile is missing or wrong.',
    );
  });

  it('is not read before load, and a file without one stops the load', async () => {
    await writeFile(apiKeyFile, ' \n');
    await expect(rig.recognizer({ apiKeyFile })).rejects.toThrow(`${apiKeyFile} is empty`);
    await writeFile(apiKeyFile, 'two\nlines');
    await expect(rig.recognizer({ apiKeyFile })).rejects.toThrow(
      'one line with the key and nothing else',
    );
    await expect(rig.recognizer({ apiKeyFile: join(folder, 'none') })).rejects.toThrow(
      'options.apiKeyFile: cannot read',
    );
  });

  it('is in no line that a real worker writes, at the lowest level; that everyone may read it is', async () => {
    await chmod(apiKeyFile, 0o644);
    await using worker = await RealWorker.start({
      baseUrl: rig.upstream.baseUrl,
      model: 'm',
      apiKeyFile,
      retries: 0,
    });
    const quoting = JSON.stringify({ error: { message: `Incorrect key ${KEY}` } });
    rig.upstream.script(
      { kind: 'status', status: 401, body: quoting },
      { kind: 'status', status: 500, body: quoting },
    );
    const caller = new SttCaller(worker.address);
    for (const id of ['first', 'second'])
      expect(await caller.send(id).outcome).toBeInstanceOf(DomainError);
    expect(await caller.send('third').outcome).toMatchObject({
      transcript: { text: 'I heard third', durationS: 1.5 },
    });
    expect(await caller.report()).toMatchObject({
      engine: 'openai-http',
      device: 'remote',
      streams: 0,
    });
    caller.close();
    const log = await worker.stop();
    expect(log).toContain('everyone may read it; chmod 600');
    expect(log).toContain('Ready: ');
    expect(log).not.toContain(KEY);
  });
});

/** The worker's own main, run from the sources. */
class RealWorker implements AsyncDisposable {
  private constructor(
    private readonly child: ReturnType<typeof fork>,
    private readonly output: string[],
    readonly address: string,
  ) {}

  static async start(options: Record<string, unknown>): Promise<RealWorker> {
    const spec: WorkerSpec = {
      ...{
        workerId: 'w',
        model: modelSpec('openai-http', 'stt', options),
        host: '127.0.0.1',
        port: 0,
      },
      ...{
        maxMessageBytes: 1_048_576,
        uploadLimitBytes: 1_048_576,
        prepParallel: 2,
        keepaliveTimeMs: 10_000,
        keepaliveTimeoutMs: 5000,
      },
      ...{ shutdownGraceMs: 1000, logLevel: 'trace' },
    };
    const execArgv = ['--import', LOADER];
    const child = fork(MAIN, {
      execArgv,
      env: workerEnvironment(spec),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const output: string[] = [];
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (bytes: Buffer) => output.push(String(bytes)));
    const messages: { type: string; port?: number }[] = [];
    child.on('message', message => messages.push(message as { type: string }));
    while (!messages.some(({ type }) => type === 'ready')) await once(child, 'message');
    return new RealWorker(
      child,
      output,
      `127.0.0.1:${messages.find(({ port }) => port !== undefined)!.port}`,
    );
  }

  /** @returns all it wrote. */
  async stop(): Promise<string> {
    const closed = Promise.all([
      once(this.child, 'exit'),
      once(this.child.stdout!, 'close'),
      once(this.child.stderr!, 'close'),
    ]);
    this.child.kill('SIGTERM');
    await closed;
    return this.output.join('');
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL');
    return Promise.resolve();
  }
}
