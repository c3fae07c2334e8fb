import { Injectable } from '@nestjs/common';
import { type Observable, Subject } from 'rxjs';
import { ProcessClock } from '../../platform/clock/monotonic-clock.js';
import { type SubmittedRequest } from '../scheduler/submitted-request.js';

export type SpeechEvent =
  | { readonly type: 'first_byte'; readonly model: string; readonly afterMs: number }
  | {
      readonly type: 'settled';
      readonly model: string;
      readonly afterMs: number;
      readonly status: 'completed' | 'failed' | 'cancelled';
    };

/** Speech requests between acceptance and settlement: the source of the four `tts_*` metrics. */
@Injectable()
export class SpeechSessions {
  private readonly active = new Map<string, string>();
  private readonly events = new Subject<SpeechEvent>();
  readonly events$: Observable<SpeechEvent> = this.events.asObservable();

  constructor(private readonly clock: ProcessClock) {}

  /** @param started resolves at the first byte of audio. */
  opened(submitted: SubmittedRequest, model: string, started: Promise<void>): void {
    const sinceMs = this.clock.nowMs();
    const afterMs = () => this.clock.nowMs() - sinceMs;
    this.active.set(submitted.id, model);
    void started.then(() => this.events.next({ type: 'first_byte', model, afterMs: afterMs() }));
    void submitted.settled.then(({ settlement: { status } }) => {
      this.active.delete(submitted.id);
      this.events.next({ type: 'settled', model, afterMs: afterMs(), status });
    });
  }

  /** Open sessions by model. */
  countByModel(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const model of this.active.values()) counts.set(model, (counts.get(model) ?? 0) + 1);
    return counts;
  }
}
