import { Injectable } from '@nestjs/common';
import { ResponseRecordStore } from '../../../platform/database/response-store.js';
import { counterMetric } from '../../../platform/metrics/metric-provider.js';
import { StoredLeases } from '../../stored-work/stored-leases.js';

const PORTION = 200;

/** Removes expired responses, and events that are no longer stored. */
@Injectable()
export class ResponseExpiry {
  readonly #removed = counterMetric('switchyard_responses_expired_total');

  constructor(
    private readonly store: ResponseRecordStore,
    leases: StoredLeases,
  ) {
    leases.sweeps.push(() => this.sweep(Date.now()));
  }

  /** @returns the number of responses that were removed */
  async sweep(nowMs: number): Promise<number> {
    let removed = 0;
    for (let portion = PORTION; portion === PORTION; removed += portion)
      portion = await this.store.expire(nowMs, PORTION);
    this.#removed.inc(removed);
    return removed;
  }
}
