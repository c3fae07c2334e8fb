import { Injectable, Logger } from '@nestjs/common';
import { Subject } from 'rxjs';
import { type LimitName } from '../../core/limits/limit-rules.js';

export type LimitEvent = { readonly type: 'refused'; readonly limit: LimitName } | { readonly type: 'store_failed' };

/** What happens at the desk, for metrics. While the shared accounts are away there is a line in the log every ten seconds. */
@Injectable()
export class LimitEvents {
  readonly #logger = new Logger('Limits');
  readonly #events = new Subject<LimitEvent>();
  readonly events$ = this.#events.asObservable();
  #loggedAtMs = -Infinity;

  refused(limit: LimitName): void {
    this.#events.next({ type: 'refused', limit });
  }

  storeFailed({ message }: Error): void {
    this.#events.next({ type: 'store_failed' });
    const nowMs = performance.now();
    if (nowMs - this.#loggedAtMs < QUIET_MS) return;
    this.#loggedAtMs = nowMs;
    this.#logger.warn({ reason: message }, 'limits are counted by this gateway alone: Redis does not answer');
  }
}

/** Every request would have a line of its own. */
const QUIET_MS = 10_000;
