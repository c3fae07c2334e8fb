import { Injectable, Logger } from '@nestjs/common';
import { type Limits } from '../../core/limits/limit-rules.js';
import { snakeCase } from '../../platform/config/model-spec.js';
import { counterMetric } from '../../platform/metrics/metric-provider.js';

/**
 * Metrics of rejections and store failures. While the shared store is away, one log line
 * is written every ten seconds.
 */
@Injectable()
export class LimitEvents {
  readonly #refusals = counterMetric('switchyard_limit_refusals_total');
  readonly #failures = counterMetric('switchyard_limit_store_failures_total');

  readonly #logger = new Logger('Limits');
  #loggedAtMs = -Infinity;

  refused(limit: keyof Limits | 'intake'): void {
    this.#refusals.inc({ limit: snakeCase(limit) });
  }

  storeFailed({ message }: Error): void {
    this.#failures.inc();
    const nowMs = performance.now();
    if (nowMs - this.#loggedAtMs < QUIET_MS) return;
    this.#loggedAtMs = nowMs;
    this.#logger.warn(
      { reason: message },
      'limits are counted by this gateway alone: Redis does not answer',
    );
  }
}

/** At most one log line in this time, instead of one per request. */
const QUIET_MS = 10_000;
