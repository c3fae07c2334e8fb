import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach } from '@jest/globals';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { workerEnvironment, type WorkerSpec } from '../../../src/platform/config/worker-spec.js';
import { type reportToSupervisor } from '../../../src/worker/lifecycle/supervisor-link.js';
import { HostedWorker } from '../../support/hosted-worker.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { SttCaller } from './stt-caller.js';

type WorkerMessage = Parameters<typeof reportToSupervisor>[0];

const MAIN = fileURLToPath(new URL('../../../dist/main.worker.js', import.meta.url));
const MIB = 1024 * 1024;

export const sttModel = syntheticModel({}, { id: 'synthetic-stt' });

export const ttsModel: ModelSpec = {
  ...sttModel,
  id: 'synthetic-tts',
  kind: 'tts',
  capabilities: ['speech'],
};

export type WorkerChange = Partial<WorkerSpec>;

const specOf = (change: WorkerChange): WorkerSpec => ({
  workerId: 'worker-1',
  model: sttModel,
  host: '127.0.0.1',
  port: 0,
  maxMessageBytes: 26 * MIB,
  uploadLimitBytes: 25 * MIB,
  prepParallel: 4,
  keepaliveTimeMs: 10_000,
  keepaliveTimeoutMs: 5000,
  shutdownGraceMs: 10_000,
  logLevel: 'debug',
  ...change,
});

/** The real worker in this process, for what does not end it. */
export const hostedWorker = (change: WorkerChange = {}): Promise<HostedWorker> =>
  HostedWorker.start(specOf(change));

/**
 * Starts a hosted recogniser with these options of its engine: resolves with a caller.
 * Both end after each test.
 */
export function hostedRecognizers(): (
  options?: Readonly<Record<string, unknown>>,
) => Promise<SttCaller> {
  const started: { worker: HostedWorker; caller: SttCaller }[] = [];
  afterEach(async () => {
    for (const { worker, caller } of started.splice(0)) {
      caller.close();
      await worker[Symbol.asyncDispose]();
    }
  });
  return async (options = {}) => {
    const worker = await hostedWorker({ model: { ...sttModel, options } });
    const caller = new SttCaller(worker.address);
    started.push({ worker, caller });
    return caller;
  };
}

/** The real worker, started as the gateway's supervisor does. */
export class WorkerProcess {
  readonly child: ChildProcess;
  readonly messages: WorkerMessage[] = [];
  readonly exited: Promise<number | null>;
  #log = '';

  /** @param added to its environment */
  constructor(change: WorkerChange = {}, added: NodeJS.ProcessEnv = {}) {
    if (!existsSync(MAIN)) throw new Error('dist/main.worker.js is missing: npm run build');
    this.child = fork(MAIN, {
      env: workerEnvironment(specOf(change), process.env, added),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.child.stdout?.on('data', (bytes: Buffer) => (this.#log += bytes.toString()));
    this.child.stderr?.on('data', (bytes: Buffer) => (this.#log += bytes.toString()));
    this.child.on('message', message => this.messages.push(message as WorkerMessage));
    this.exited = exitOf(this.child);
  }

  /** Everything written to stdout and stderr so far. */
  get log(): string {
    return this.#log;
  }

  /** Resolves with the message of that type. @throws when the process ends first. */
  async told<T extends WorkerMessage['type']>(
    type: T,
  ): Promise<Extract<WorkerMessage, { type: T }>> {
    const ended = this.exited.then(code => {
      throw new Error(`the worker ended (${code}) before it said ${type}: ${this.#log}`);
    });
    const known = () => this.messages.find(message => message.type === type);
    while (!known()) await Promise.race([once(this.child, 'message'), ended]);
    ended.catch(() => undefined);
    return known() as Extract<WorkerMessage, { type: T }>;
  }

  /** Ready to take calls; resolves with its address. */
  async ready(): Promise<string> {
    const { port } = await this.told('listening');
    await this.told('ready');
    return `127.0.0.1:${port}`;
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }
}

/**
 * The exit code once all output has been read. Node gives no 'close' event after a
 * disconnect by the parent.
 */
async function exitOf(child: ChildProcess): Promise<number | null> {
  const outputs = [child.stdout, child.stderr].map(output => once(output!, 'close'));
  const [[code]] = await Promise.all([once(child, 'exit'), ...outputs]);
  return code as number | null;
}
