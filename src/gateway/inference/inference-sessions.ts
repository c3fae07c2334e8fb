import { Injectable } from '@nestjs/common';
import { type Observable, Subject } from 'rxjs';
import { type TokenUsage } from '../../contracts/formats/usage.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { type SettledRequest, type SubmittedRequest } from '../scheduler/submitted-request.js';
import { type WorkerTask } from '../worker-pool/worker-task.js';

interface EventFields {
  readonly model: string;
  readonly kind: WorkerTask['kind'];
}

export type InferenceEvent = EventFields &
  (
    | { readonly type: 'first_output'; readonly afterMs: number }
    | { readonly type: 'next_output'; readonly gapMs: number }
    | {
        readonly type: 'settled';
        readonly afterMs: number;
        readonly status: 'completed' | 'failed' | 'cancelled';
        /** Of completed text requests whose engine counts tokens. */
        readonly usage?: TokenUsage;
      }
  );

/** Requests between acceptance and settlement: the source of the `tts_*` and `llm_*` metrics. */
@Injectable()
export class InferenceSessions {
  readonly #active = new Map<RequestKey, string>();
  readonly #events = new Subject<InferenceEvent>();
  readonly events$: Observable<InferenceEvent> = this.#events.asObservable();

  constructor(private readonly clock: ProcessClock) {}

  /** Call this before the request is submitted: the first output may come at once. */
  open(model: string, kind: WorkerTask['kind']): InferenceSession {
    return new InferenceSession(this.clock, event => this.#events.next({ model, kind, ...event }));
  }

  /** Follows an accepted request to its settlement. */
  follow(session: InferenceSession, { key, settled }: SubmittedRequest, model: string): void {
    this.#active.set(key, model);
    void settled.then(end => {
      this.#active.delete(key);
      session.settle(end);
    });
  }

  /** Open requests by model. */
  countByModel(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const model of this.#active.values()) counts.set(model, (counts.get(model) ?? 0) + 1);
    return counts;
  }
}

type WithoutFields<T> = T extends unknown ? Omit<T, keyof EventFields> : never;

/** The output of one request over time. */
export class InferenceSession {
  readonly #sinceMs: number;
  #lastMs: number;
  #firstOutputMs: number | undefined;

  constructor(
    private readonly clock: ProcessClock,
    private readonly emit: (event: WithoutFields<InferenceEvent>) => void,
  ) {
    this.#sinceMs = this.#lastMs = clock.nowMs();
  }

  /** Milliseconds from acceptance to the first output; undefined before it. */
  get firstOutputMs(): number | undefined {
    return this.#firstOutputMs;
  }

  /** @param held the caller reads slowly, so the gap says nothing about the worker */
  output(held: boolean): void {
    const nowMs = this.clock.nowMs();
    if (this.#firstOutputMs === undefined) this.#first(nowMs - this.#sinceMs);
    else if (!held) this.emit({ type: 'next_output', gapMs: nowMs - this.#lastMs });
    this.#lastMs = nowMs;
  }

  settle(settled: SettledRequest): void {
    const { settlement } = settled;
    const afterMs = this.clock.nowMs() - this.#sinceMs;
    const ttftMs = firstTokenMs(settled);
    if (this.#firstOutputMs === undefined && ttftMs !== undefined) this.#first(ttftMs);
    const usage = settlement.status === 'completed' && 'usage' in settlement.reply ? settlement.reply.usage : undefined;
    this.emit({ type: 'settled', afterMs, status: settlement.status, ...(usage && { usage }) });
  }

  #first(afterMs: number): void {
    this.#firstOutputMs = afterMs;
    this.emit({ type: 'first_output', afterMs });
  }
}

/** Milliseconds from acceptance to the first token of a whole answer; undefined where the engine does not report it. */
export function firstTokenMs({ settlement, phases }: SettledRequest): number | undefined {
  if (settlement.status !== 'completed' || settlement.reply.kind !== 'generation') return undefined;
  const { firstTokenMs: computedMs, execution } = settlement.reply;
  return computedMs === undefined ? undefined : (phases.queueWaitMs ?? 0) + execution.readyWaitMs + computedMs;
}
