import { EventEmitter, once } from 'node:events';
import { type CallExecution } from '@switchyard/worker-protocol/call.codec.js';
import { type CallGroup } from '@switchyard/worker-protocol/call.codec.js';
import { NEVER, Subject } from 'rxjs';
import { type Lease } from '../../src/core/dispatch/lease.js';
import { SlotLedger } from '../../src/core/dispatch/slot-ledger.js';
import { type SlotCredit, type SlotOffer } from '../../src/core/dispatch/worker.port.js';
import { DomainError, type ErrorCode } from '../../src/core/errors/domain-error.js';
import { type DeviceProgress } from '../../src/core/request/device-progress.js';
import { type Placement } from '../../src/core/request/scheduled-request.js';
import { type CancelReason } from '../../src/core/request/settlement.js';
import { WorkerLostError } from '../../src/core/request/worker-lost.js';
import { type ModelWorkers } from '../../src/gateway/worker-pool/model-workers.js';
import { type SharedSlots } from '../../src/gateway/worker-pool/shared-slots.js';
import { type WorkerPoolService } from '../../src/gateway/worker-pool/worker-pool.service.js';
import { type ModelView, type WorkerView } from '../../src/gateway/worker-pool/worker-view.js';
import { type WorkerCall } from '../../src/worker-client/worker-call.js';
import { type WorkerReply, type TaskRequest } from '../../src/worker-client/worker-task.js';

interface ScriptedWorker {
  readonly model: string;
  readonly maxBatch: number;
  readonly slots: SlotLedger;
}

export interface WorkerSlots {
  readonly slots?: number;
  readonly maxBatch?: number;
  readonly overdraft?: number;
}

/** One call as the worker got it; the test plays the worker. */
export class ScriptedCall implements WorkerCall {
  readonly reply: Promise<WorkerReply>;
  readonly finished: Promise<void>;
  /** Calls of its worker when that died. */
  together = 1;
  ended = false;
  /** What its worker says of it; undefined: that it does not know it. */
  device: DeviceProgress | undefined;
  #answer!: (reply: WorkerReply) => void;
  #refuse!: (error: Error) => void;
  #finish!: () => void;

  constructor(
    readonly workerId: string,
    readonly request: TaskRequest,
    readonly group: CallGroup,
  ) {
    this.reply = new Promise(
      (resolve, reject) => ([this.#answer, this.#refuse] = [resolve, reject]),
    );
    this.finished = new Promise(resolve => (this.#finish = resolve));
  }

  progress(): Promise<DeviceProgress | undefined> {
    return Promise.resolve(this.device);
  }

  get id(): string {
    return this.request.id;
  }

  /** Answers and lets go. */
  answer(execution: Partial<CallExecution> = {}): void {
    this.answerOnly(execution);
    this.letGo();
  }

  answerOnly(execution: Partial<CallExecution> = {}): void {
    const done = {
      prepMs: 1,
      readyWaitMs: 0,
      deviceMs: 2,
      batchSize: 1,
      batchId: `call-${this.id}`,
      ...execution,
    };
    const { kind } = this.request.payload;
    if (kind === 'synthesize')
      this.#answer({ kind: 'speech', durationS: 1, lateS: 0, execution: done });
    else if (kind === 'generate')
      this.#answer({
        kind: 'generation',
        answer: ANSWER,
        finishReasons: ['stop'],
        execution: done,
      });
    else this.#answer({ kind: 'transcript', transcript: transcriptOf(this.id), execution: done });
  }

  fail(error: ErrorCode | Error): void {
    const lost =
      error === 'worker_lost' &&
      new WorkerLostError('died', 'scripted death', undefined, this.together);
    this.#refuse(
      lost || (error instanceof Error ? error : new DomainError(error, `scripted ${error}`)),
    );
    this.letGo();
  }

  /** The slot is free again. */
  letGo(): void {
    this.ended = true;
    this.#finish();
  }
}

const ANSWER = Buffer.from('{}');

const transcriptOf = (id: string) => ({
  text: `text of ${id}`,
  language: 'en',
  durationS: 1,
  segments: [],
  words: [],
});

/**
 * A worker pool without processes: capacity and calls as real as the scheduler can see,
 * answers by the test.
 */
export class ScriptedPool implements Pick<WorkerPoolService, keyof WorkerPoolService> {
  readonly calls: ScriptedCall[] = [];
  readonly cancels: { workerId: string; requestId: string; reason: CancelReason }[] = [];
  readonly #capacity = new Subject<string>();
  readonly #workers = new Map<string, ScriptedWorker>();
  readonly #events = new EventEmitter();
  readonly capacity$ = this.#capacity.asObservable();
  readonly activity$ = NEVER;
  readonly executed$ = NEVER;
  /** What a Cancel RPC does; the test may hold it back. */
  onCancel: (requestId: string) => Promise<boolean> = () => Promise.resolve(true);
  onClose: () => void = () => undefined;
  /** Makes `execute` throw. */
  executeError: Error | undefined;
  closed = false;
  /** Other gateways send to its workers, too. */
  sharesSlots = false;
  /** Models that an operator has unloaded. */
  readonly held = new Set<string>();

  /** @param options.overdraft slots beyond those, for REALTIME only */
  addWorker(
    id: string,
    model: string,
    { slots = 16, maxBatch = 8, overdraft = maxBatch }: WorkerSlots = {},
  ): void {
    const worker = {
      model,
      maxBatch,
      slots: new SlotLedger(() => this.#capacity.next(model)),
    };
    this.#workers.set(id, worker);
    worker.slots.resize(slots, overdraft, maxBatch);
  }

  /** Away: no offers, every call of it ends as lost. */
  kill(id: string): void {
    this.#workers.delete(id);
    const lost = this.calls.filter(call => call.workerId === id && !call.ended);
    for (const call of lost) call.together = lost.length;
    for (const call of lost) call.fail('worker_lost');
  }

  poke(model: string): void {
    this.#capacity.next(model);
  }

  slotsInUse(id: string): number {
    return this.#workers.get(id)?.slots.inUse ?? 0;
  }

  /** The first `count` calls, once there are so many. */
  async received(count: number): Promise<ScriptedCall[]> {
    while (this.calls.length < count) await once(this.#events, 'call');
    return this.calls.slice(0, count);
  }

  offer(model: string, { mostTogether }: Placement = {}): SlotOffer | undefined {
    const [best] = [...this.#workers]
      .filter(
        ([, worker]) => worker.model === model && worker.slots.creditsFor(mostTogether).urgent > 0,
      )
      .sort(([, a], [, b]) => b.slots.free - a.slots.free || b.slots.urgent - a.slots.urgent);
    if (!best) return undefined;
    const [workerId, { slots, maxBatch }] = best;
    return {
      workerId,
      ...slots.creditsFor(mostTogether),
      idle: slots.inUse === 0,
      maxBatch,
    };
  }

  lease(
    workerId: string,
    count: number,
    credit: SlotCredit = 'free',
    mostTogether?: number,
  ): readonly Lease[] {
    const worker = this.#workers.get(workerId);
    if (!worker) throw new Error(`no worker ${workerId}`);
    return worker.slots.lease(count, credit, mostTogether);
  }

  execute(given: { workerId: string; request: TaskRequest; group: CallGroup }): WorkerCall {
    if (this.executeError) throw this.executeError;
    const call = new ScriptedCall(given.workerId, given.request, given.group);
    this.calls.push(call);
    this.#events.emit('call');
    return call;
  }

  cancel(workerId: string, requestId: string, reason: CancelReason): Promise<boolean> {
    this.cancels.push({ workerId, requestId, reason });
    return this.onCancel(requestId);
  }

  /** Its workers are up, or the test says otherwise. */
  of(model: string): ModelWorkers {
    const workers = {
      isHeld: this.held.has(model),
      sharedSlots: this.#sharedSlots(model),
      hasReady: [...this.#workers.values()].some(worker => worker.model === model),
      demand: () => undefined,
      reported: () => undefined,
      unload: () => Promise.resolve(),
      view: () => ({ workers: [] }),
    };
    return workers as unknown as ModelWorkers;
  }

  #sharedSlots(model: string): readonly SharedSlots[] | undefined {
    if (!this.sharesSlots) return undefined;
    return [...this.#workers].flatMap(([workerId, { model: own, slots }]) => {
      const { total: credits, overdraft, inUse } = slots;
      return own === model
        ? { workerId, account: workerId, credits, overdraft, inUse, measuresAll: true }
        : [];
    });
  }

  models(): ModelView[] {
    return [];
  }

  log(): undefined {
    return undefined;
  }

  order(): never {
    throw new Error('scripted workers take no orders');
  }

  streamHost(): never {
    throw new Error('no live streams here');
  }

  openStream(): never {
    throw new Error('scripted workers have no streams');
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  onApplicationBootstrap(): Promise<void> {
    return this.start();
  }

  workers(): WorkerView[] {
    return [...this.#workers].map(([id, { model, slots }]) => ({
      ...{
        id,
        model,
        state: slots.inUse > 0 ? 'busy' : 'ready',
        streams: 0,
        restarts: 0,
      },
      slots: { total: slots.total, free: slots.free, inUse: slots.inUse },
    }));
  }

  handOver(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.closed = true;
    this.onClose();
    return Promise.resolve();
  }
}
