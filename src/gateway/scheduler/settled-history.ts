import { type RequestKey } from '../../core/request/request-key.js';
import { RecentMap } from '../../core/shared/recent-map.js';
import { type RequestView } from './request-view.js';

/** Requests that ended lately, for "why did my request wait?" when the answer is already out. Bounded by count. */
export class SettledHistory {
  readonly #views: RecentMap<RequestView, RequestKey>;

  constructor(limit = 1000) {
    this.#views = new RecentMap(limit);
  }

  add(key: RequestKey, view: RequestView): void {
    this.#views.add(key, view);
  }

  find(key: RequestKey): RequestView | undefined {
    return this.#views.get(key);
  }

  /** Latest first. */
  list(): RequestView[] {
    return [...this.#views.values()].reverse();
  }
}
