import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { PLAIN_TRANSCRIPTION } from '@switchyard/engine-api/speech-recognizer.js';
import { register } from 'prom-client';
import { type SchedulerLike, type TimestampProvider } from 'rxjs';
import { WindowTimers } from '../../src/core/batching/window-timers.js';
import { type DispatchEvent } from '../../src/core/dispatch/dispatch-event.js';
import { PriorityQueue } from '../../src/core/queue/priority-queue.js';
import { RequestPriority } from '../../src/core/request/request-priority.js';
import { type Settlement } from '../../src/core/request/settlement.js';
import { AdminModule } from '../../src/gateway/admin/admin.module.js';
import { CancellationManager } from '../../src/gateway/cancellation/cancellation-manager.js';
import { FieldsPipe } from '../../src/gateway/http/dto-validation.js';
import { OpenAiExceptionFilter } from '../../src/gateway/http/error-reply.js';
import { LifecycleModule } from '../../src/gateway/lifecycle/lifecycle.module.js';
import { ShutdownDrain } from '../../src/gateway/lifecycle/shutdown-drain.js';
import { RequestQueues } from '../../src/gateway/queue/request-queues.js';
import {
  type RequestSpec,
  type SettledRequest,
} from '../../src/gateway/registry/submitted-request.js';
import { DispatchLoop } from '../../src/gateway/scheduler/dispatch-loop.js';
import { RequestIntake } from '../../src/gateway/scheduler/request-intake.js';
import { SchedulerModule } from '../../src/gateway/scheduler/scheduler.module.js';
import { SchedulerService } from '../../src/gateway/scheduler/scheduler.service.js';
import { AllWorkers } from '../../src/gateway/shared-queue/all-workers.js';
import { SharedQueueLink } from '../../src/gateway/shared-queue/shared-queue-link.js';
import { WorkerPoolService } from '../../src/gateway/worker-pool/worker-pool.service.js';
import { admitAs } from '../../src/platform/auth/access-hooks.js';
import { ANYBODY } from '../../src/platform/auth/principal.js';
import { ClockModule } from '../../src/platform/clock/clock.module.js';
import { ProcessClock } from '../../src/platform/clock/process-clock.js';
import { ConfigModule } from '../../src/platform/config/config.module.js';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { type SettingValue } from '../../src/platform/config/setting-definition.js';
import { type SettingPath, settingsFrom } from '../../src/platform/config/settings.js';
import { DispatchEventBus, EventsModule } from '../../src/platform/events/events.module.js';
import { type WorkerReply, type WorkerTask } from '../../src/worker-client/worker-task.js';
import { audioSource } from './pool-harness.js';
import { ScriptedPool } from './scripted-pool.js';
import { syntheticModel } from './synthetic-model.js';

/** Real time, and jumps ahead: half a minute of waiting costs nothing. */
export class JumpingClock {
  #aheadMs = 0;

  constructor(private readonly time: TimestampProvider = performance) {}

  nowMs(): number {
    return this.time.now() + this.#aheadMs;
  }

  advance(ms: number): void {
    this.#aheadMs += ms;
  }
}

export const stt = (id: string): ModelSpec =>
  syntheticModel({}, { id, replicas: 0, addresses: ['127.0.0.1:1'] });

const MODELS = [stt('alpha'), stt('beta')];

type Json = Record<string, unknown>;

export interface HarnessOptions {
  readonly settings?: Partial<Record<SettingPath, SettingValue>>;
  /** Virtual time: the clock and the wakes of the dispatch loop run on it. */
  readonly scheduler?: SchedulerLike;
}

/** The real scheduler with everything below it except workers, which the test plays. */
export class SchedulerHarness {
  readonly events: DispatchEvent[] = [];

  private constructor(
    readonly app: NestFastifyApplication,
    readonly pool: ScriptedPool,
    readonly clock: JumpingClock,
  ) {}

  static async start({ settings = {}, scheduler }: HarnessOptions = {}): Promise<SchedulerHarness> {
    const pool = new ScriptedPool();
    const clock = new JumpingClock(scheduler);
    const testing = await Test.createTestingModule({
      imports: [
        ConfigModule.forRoot(settingsFrom(settings), MODELS),
        ClockModule,
        EventsModule,
        SchedulerModule,
        LifecycleModule,
        AdminModule,
      ],
    })
      .overrideProvider(ProcessClock)
      .useValue(clock)
      .overrideProvider(WindowTimers)
      .useValue(new WindowTimers(clock, scheduler))
      .overrideProvider(WorkerPoolService)
      .useValue(pool)
      .compile();
    const app = testing.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), {
      logger: false,
    });
    const harness = new SchedulerHarness(
      app.useGlobalFilters(new OpenAiExceptionFilter()).useGlobalPipes(new FieldsPipe()),
      pool,
      clock,
    );
    harness.bus.events$.subscribe(event => harness.events.push(event));
    // There is no entrance: who asks is an operator.
    const fastify = app.getHttpAdapter().getInstance();
    fastify.addHook('onRequest', (request, _reply, done) => {
      admitAs(request, ANYBODY);
      done();
    });
    await app.init();
    return harness;
  }

  get scheduler(): SchedulerService {
    return this.app.get(SchedulerService);
  }

  get cancellations(): CancellationManager {
    return this.app.get(CancellationManager);
  }

  get queues(): RequestQueues {
    return this.app.get(RequestQueues);
  }

  /** The same promise, however often. */
  drain(): Promise<void> {
    return this.app.get(ShutdownDrain).beforeApplicationShutdown();
  }

  get intake(): RequestIntake {
    return this.app.get(RequestIntake);
  }

  get loop(): DispatchLoop {
    return this.app.get(DispatchLoop, { strict: false });
  }

  get queue(): PriorityQueue {
    return this.app.get<PriorityQueue>(PriorityQueue, { strict: false });
  }

  /** With `queue.driver: redis`: Redis answers. */
  get redisUsable(): boolean {
    return this.app.get(SharedQueueLink, { strict: false }).usable;
  }

  /** With `queue.driver: redis`: a worker that pulls for that model is known. */
  knowsPuller(model: string): boolean {
    return this.app.get(AllWorkers, { strict: false }).hasPulling(model);
  }

  get bus(): DispatchEventBus {
    return this.app.get(DispatchEventBus);
  }

  submit(id: string, spec: Partial<RequestSpec> = {}): Promise<SettledRequest> {
    return this.intake.submit({ ...request(id), ...spec }).settled;
  }

  submitAll(ids: readonly string[], spec: Partial<RequestSpec> = {}): Promise<SettledRequest>[] {
    return ids.map(id => this.submit(id, spec));
  }

  types(requestId: string): DispatchEvent['type'][] {
    return this.events.filter(event => event.requestId === requestId).map(({ type }) => type);
  }

  of<T extends DispatchEvent['type']>(type: T): Extract<DispatchEvent, { type: T }>[] {
    return this.events.filter(
      (event): event is Extract<DispatchEvent, { type: T }> => event.type === type,
    );
  }

  /** An HTTP request to the admin routes: status and body. */
  async http(
    method: 'GET' | 'POST',
    url: string,
    payload?: object,
  ): Promise<{ status: number; body: Json }> {
    const { statusCode, body } = await this.app.inject({
      method,
      url,
      ...(payload && { payload }),
    });
    return { status: statusCode, body: JSON.parse(body) as Json };
  }

  /** The loop has acted on everything that happened until now. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 3; turn++) await new Promise(resolve => setImmediate(resolve));
  }

  /** Ends what still runs, so that the drain has nothing to wait for. */
  async stop(): Promise<void> {
    await this.cancellations.cancelMany({}, 'operator');
    for (const call of this.pool.calls) call.letGo();
    await this.app.close();
  }
}

export const request = (id: string): RequestSpec => ({
  id,
  model: 'alpha',
  priority: RequestPriority.BATCH,
  bytes: 100,
  audioDurationS: 1,
  payload: transcribe(),
});

export const transcribe = (): WorkerTask => ({
  ...PLAIN_TRANSCRIPTION,
  kind: 'transcribe',
  filename: 'a.wav',
  audio: audioSource(() => Promise.resolve(Buffer.alloc(100)), 100),
});

export const ids = (count: number, prefix = 'r'): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}${i + 1}`);

export const REALTIME = { priority: RequestPriority.REALTIME } as const;

/** Sum of a metric over the labels given, as a scrape would show it. */
export async function scraped(name: string, labels: Record<string, string> = {}): Promise<number> {
  const metric = (await register.getMetricsAsJSON()).find(
    candidate => candidate.name === name.replace(/_(count|sum)$/, ''),
  );
  const values = (metric?.values ?? []) as {
    value: number;
    labels: Record<string, string>;
    metricName?: string;
  }[];
  return values
    .filter(value => (value.metricName ?? name) === name)
    .filter(value =>
      Object.entries(labels).every(([label, wanted]) => value.labels[label] === wanted),
    )
    .reduce((sum, { value }) => sum + value, 0);
}

/** How its worker computed a request that was answered. */
export const executionOf = (settlement: Settlement<WorkerReply>) =>
  settlement.status === 'completed' ? settlement.reply.execution : undefined;
