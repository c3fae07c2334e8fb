import { type RequestView } from './request-view.js';

/** Requests that ended lately, for "why did my request wait?" when the answer is already out. Bounded by count. */
export class SettledHistory {
  readonly #views = new Map<string, RequestView>();

  constructor(private readonly limit = 1000) {}

  add(view: RequestView): void {
    // A reused id moves to the young end: Map keeps the place of the first insertion otherwise.
    this.#views.delete(view.id);
    this.#views.set(view.id, view);
    if (this.#views.size <= this.limit) return;
    const oldest = this.#views.keys().next();
    if (!oldest.done) this.#views.delete(oldest.value);
  }

  find(id: string): RequestView | undefined {
    return this.#views.get(id);
  }

  /** Latest first. */
  list(): RequestView[] {
    return [...this.#views.values()].reverse();
  }
}
