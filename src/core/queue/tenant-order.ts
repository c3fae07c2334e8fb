import { type HeapItem, KeyedHeap } from './keyed-heap.js';

/** A tenant that competes for the next turn of a lane with its first request. */
export interface Contender<C> extends HeapItem {
  readonly agedPlace: AgedPlace<C>;
  /** Virtual time at which its first request starts: device milliseconds per unit of weight. */
  readonly startTag: number;
  readonly first: { readonly request: { readonly enqueuedAtMs: number } } | undefined;
}

/** A contender's place among those whose first request is aged. */
export interface AgedPlace<C> extends HeapItem {
  readonly contender: C;
}

/** Tenants by start tag; of equal ones the tenant whose first request is older. O(log tenants) per change. */
export class TenantOrder<C extends Contender<C>> {
  readonly #all = new KeyedHeap<C>();
  readonly #aged = new KeyedHeap<AgedPlace<C>>();

  /** Tenants with waiting requests. */
  get size(): number {
    return this.#all.size;
  }

  /** Updates the place of a tenant whose tag or first request changed. @param aged its first request is */
  put(contender: C, aged: boolean): void {
    const { first, startTag, agedPlace } = contender;
    if (first === undefined) {
      this.#all.remove(contender);
      this.#aged.remove(agedPlace);
      return;
    }
    const sinceMs = first.request.enqueuedAtMs;
    this.#all.put(contender, startTag, sinceMs);
    if (aged) this.#aged.put(agedPlace, startTag, sinceMs);
    else this.#aged.remove(agedPlace);
  }

  /** @param agedOnly the turn is one for aged requests; if there is none, any tenant is next */
  next(agedOnly: boolean): C | undefined {
    return (agedOnly ? this.#aged.top?.contender : undefined) ?? this.#all.top;
  }

  /** True while the first request of some tenant is aged. */
  get hasAged(): boolean {
    return this.#aged.size > 0;
  }
}
