import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import {
  APPLICATION_OPTIONS,
  configureGateway,
  gatewayAdapter,
} from '../../../src/gateway/bootstrap.js';
import { GatewayModule } from '../../../src/gateway/gateway.module.js';
import { type WorkerLaunch } from '../../../src/gateway/worker-pool/worker-location.js';
import { WorkerPoolService } from '../../../src/gateway/worker-pool/worker-pool.service.js';
import { WORKER_LAUNCH } from '../../../src/gateway/worker-pool/worker-roster.js';
import { type WorkerView } from '../../../src/gateway/worker-pool/worker-view.js';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { type SettingValue } from '../../../src/platform/config/setting-definition.js';
import { type SettingPath, settingsFrom } from '../../../src/platform/config/settings.js';
import { OpenConnections } from '../../../src/platform/http/connections.js';
import { inProcessWorker } from '../../../src/worker/in-process-worker.js';
import { HostedWorkers } from '../../support/hosted-worker.js';
import { leftover } from '../../support/leftovers.js';
import { fixtureLaunch, workerThat } from '../../support/pool-harness.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/waiting.js';

export { until };

export interface RigOptions {
  readonly models: readonly ModelSpec[];
  readonly settings?: Partial<Record<SettingPath, SettingValue>>;
  /**
   * The program of local workers: a fixture unless told otherwise. `hosted`: the real
   * worker, in this process, for what does not end it; `start` waits until all are ready.
   */
  readonly launch?: WorkerLaunch | 'hosted';
}

/** Short waits between probes and restarts; nothing asserts how long they took. */
const QUICK = {
  'logging.level': 'silent',
  'workers.health_interval_ms': 100,
  'workers.restart_min_ms': 10,
  'workers.restart_max_ms': 50,
  'batch.embedded': false,
} as const;

/** The built worker; in this process where the gateway needs no process for it. */
export const builtLaunch: WorkerLaunch = {
  ...fixtureLaunch,
  inner: inProcessWorker,
  args: [fileURLToPath(new URL('../../../dist/main.worker.js', import.meta.url))],
};

/**
 * A whole gateway on a free port, with its own data folder. Local workers (`replicas`)
 * are fixture processes.
 */
export class GatewayRig {
  private constructor(
    readonly app: NestFastifyApplication,
    readonly url: string,
    private readonly dataDir: string,
    /** Of the HTTP server, upgraded ones included. */
    readonly connections: OpenConnections,
    private readonly hosted: HostedWorkers | undefined,
  ) {}

  static async start({
    models,
    settings = {},
    launch = fixtureLaunch,
  }: RigOptions): Promise<GatewayRig> {
    const dataDir = temporaryFolder();
    const effective = settingsFrom({ ...QUICK, 'data.dir': dataDir, ...settings });
    const hosted = launch === 'hosted' ? await HostedWorkers.start(models, effective) : undefined;
    const module = await Test.createTestingModule({
      imports: [GatewayModule.forRoot(effective, hosted?.models ?? models)],
    })
      .overrideProvider(WORKER_LAUNCH)
      .useValue(launch === 'hosted' ? builtLaunch : launch)
      .compile();
    const built = module.createNestApplication<NestFastifyApplication>(
      gatewayAdapter(effective),
      APPLICATION_OPTIONS,
    );
    const app = configureGateway(built, effective);
    const connections = new OpenConnections(app.getHttpServer());
    leftover(() => app.close());
    await app.listen(0, '127.0.0.1');
    const rig = new GatewayRig(app, await app.getUrl(), dataDir, connections, hosted);
    if (hosted) await rig.allReady();
    return rig;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  get pool(): WorkerPoolService {
    return this.app.get(WorkerPoolService, { strict: false });
  }

  async ready(model: string): Promise<WorkerView> {
    return workerThat(this.pool, worker => worker.model === model && worker.state === 'ready');
  }

  /** Resolves when every worker is ready. */
  allReady(): Promise<void> {
    return until(() => this.pool.workers().every(({ state }) => state === 'ready'));
  }

  post(path: string, body: FormData | object, init: RequestInit = {}): Promise<Response> {
    const isForm = body instanceof FormData;
    const headers = isForm ? init.headers : { 'content-type': 'application/json', ...init.headers };
    return fetch(this.url + path, {
      ...init,
      method: 'POST',
      headers,
      body: isForm ? body : JSON.stringify(body),
    });
  }

  async json(path: string): Promise<unknown> {
    return (await fetch(this.url + path)).json();
  }

  /**
   * Value of a sample of `/metrics`, such as `name{b="2",a="1"}`, in any order of labels;
   * NaN when there is none.
   */
  async metric(sample: string): Promise<number> {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    const wanted = sortedLabels(sample);
    const line = text
      .split('\n')
      .find(candidate => sortedLabels(candidate.replace(/ [^ ]*$/, '')) === wanted);
    return Number(line?.split(' ').at(-1) ?? NaN);
  }

  /** Files that uploads left in the spool. */
  async spooled(): Promise<string[]> {
    return readdir(join(this.dataDir, 'spool'));
  }

  /** Blobs that are being written. */
  async drafts(): Promise<string[]> {
    return readdir(join(this.dataDir, 'blobs', '.unfinished')).catch(() => []);
  }

  /** What a write leaves whose process is killed. */
  async leaveDraft(): Promise<void> {
    const folder = join(this.dataDir, 'blobs', '.unfinished');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'draft'), 'half');
  }

  /** Takes the spool's folder away while it is in use. */
  async loseSpool(): Promise<void> {
    await rm(join(this.dataDir, 'spool'), { recursive: true });
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.hosted?.[Symbol.asyncDispose]();
  }
}

export interface ErrorAnswer {
  readonly status: number;
  readonly code: string | null;
  readonly param: string | null;
  readonly message: string;
  readonly type: string;
  readonly headers: Headers;
}

/** Fails unless the answer is exactly OpenAI's envelope with a request id. */
export async function errorOf(response: Response | Promise<Response>): Promise<ErrorAnswer> {
  const answer = await response;
  const { status, headers } = answer;
  const body = (await answer.json()) as {
    error: Omit<ErrorAnswer, 'status' | 'headers'>;
  };
  const keys = Object.keys(body.error).sort().join();
  if (keys !== 'code,message,param,type' || Object.keys(body).length !== 1) {
    throw new Error(`not the envelope: ${JSON.stringify(body)}`);
  }
  if (!headers.get('x-request-id')) throw new Error('no x-request-id on the error');
  return { status, headers, ...body.error };
}

/** Expects an error of which this holds. */
export async function expectError(
  response: Response | Promise<Response>,
  error: object,
): Promise<void> {
  expect(await errorOf(response)).toMatchObject(error);
}

function sortedLabels(sample: string): string {
  const [name = '', labels = ''] = sample.replace(/}$/, '').split('{');
  return `${name}{${labels.split(',').sort().join()}}`;
}
