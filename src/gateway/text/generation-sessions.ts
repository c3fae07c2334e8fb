import { Injectable } from '@nestjs/common';
import { type Observable, Subject } from 'rxjs';
import { type CallTokenUsage } from '../../contracts/grpc/generation.codec.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { ProcessClock } from '../../platform/clock/monotonic-clock.js';
import { type SubmittedRequest } from '../scheduler/submitted-request.js';

export type GenerationEvent =
  | { readonly type: 'first_token'; readonly model: string; readonly afterMs: number }
  | { readonly type: 'next_token'; readonly model: string; readonly gapMs: number }
  | { readonly type: 'used'; readonly model: string; readonly usage: CallTokenUsage };

/** One generation, as its stream goes on. */
export interface GenerationSession {
  /** Milliseconds from acceptance to the first chunk; undefined before it. */
  readonly firstTokenMs: number | undefined;
  /** A chunk came. @param held the reader is behind, so the gap tells nothing about the worker */
  chunk(held: boolean): void;
}

/** Text requests between acceptance and settlement: the source of the `llm_*` metrics. */
@Injectable()
export class GenerationSessions {
  private readonly active = new Map<RequestKey, string>();
  private readonly events = new Subject<GenerationEvent>();
  readonly events$: Observable<GenerationEvent> = this.events.asObservable();

  constructor(private readonly clock: ProcessClock) {}

  /** To be asked before the request is submitted: the first chunk may come at once. */
  session(model: string): GenerationSession {
    const sinceMs = this.clock.nowMs();
    let firstTokenMs: number | undefined;
    let lastMs = sinceMs;
    const chunk = (held: boolean): void => {
      const nowMs = this.clock.nowMs();
      if (firstTokenMs === undefined) this.firstToken(model, (firstTokenMs = nowMs - sinceMs));
      else if (!held) this.events.next({ type: 'next_token', model, gapMs: nowMs - lastMs });
      lastMs = nowMs;
    };
    return {
      chunk,
      get firstTokenMs() {
        return firstTokenMs;
      },
    };
  }

  /** Follows an accepted request to its end. */
  opened({ key, settled }: SubmittedRequest, model: string): void {
    this.active.set(key, model);
    void settled.then(({ settlement }) => {
      this.active.delete(key);
      if (settlement.status !== 'completed') return;
      const { reply } = settlement;
      if ('usage' in reply && reply.usage) this.events.next({ type: 'used', model, usage: reply.usage });
    });
  }

  /** @param afterMs since acceptance, of an answer that was not streamed */
  firstToken(model: string, afterMs: number): void {
    this.events.next({ type: 'first_token', model, afterMs });
  }

  /** Open requests by model. */
  countByModel(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const model of this.active.values()) counts.set(model, (counts.get(model) ?? 0) + 1);
    return counts;
  }
}
