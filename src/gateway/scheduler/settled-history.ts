import { RecentMap } from '../../core/shared/recent-map.js';
import { type RequestView } from './request-view.js';

/** Requests that ended lately, for "why did my request wait?" when the answer is already out. Bounded by count. */
export class SettledHistory {
  readonly #views: RecentMap<RequestView>;

  constructor(limit = 1000) {
    this.#views = new RecentMap(limit);
  }

  add(view: RequestView): void {
    this.#views.add(view.id, view);
  }

  find(id: string): RequestView | undefined {
    return this.#views.get(id);
  }

  /** Latest first. */
  list(): RequestView[] {
    return [...this.#views.values()].reverse();
  }
}
