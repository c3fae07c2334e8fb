import { type AgedPlace, type Contender, TenantOrder } from './tenant-order.js';
import { costOf, type TenantQueue, type WaitingRequest } from './tenant-queue.js';
import { type WeightOf } from './tenant-shares.js';

export interface PreviewRules<P> {
  readonly weightOf: WeightOf;
  isAged(node: WaitingRequest<P>): boolean;
}

/** A tenant's queue, read from its first request on and left as it is. */
class Cursor<P> implements Contender<Cursor<P>> {
  heapIndex = -1;
  readonly agedPlace: AgedPlace<Cursor<P>> = { heapIndex: -1, contender: this };
  readonly tenant: string;
  startTag: number;
  first: WaitingRequest<P> | undefined;

  constructor({ tenant, startTag, first }: TenantQueue<P>) {
    this.tenant = tenant;
    this.startTag = startTag;
    this.first = first;
  }
}

/** The order in which the requests of a lane leave if none arrives, ages or is corrected. */
export class LanePreview<P> {
  readonly #order = new TenantOrder<Cursor<P>>();
  readonly #cursors = new Map<string, Cursor<P>>();

  constructor(
    waiting: Iterable<TenantQueue<P>>,
    private readonly rules: PreviewRules<P>,
  ) {
    for (const queue of waiting) {
      const cursor = new Cursor<P>(queue);
      this.#cursors.set(cursor.tenant, cursor);
      this.#put(cursor);
    }
  }

  get hasAged(): boolean {
    return this.#order.hasAged;
  }

  next(agedOnly: boolean): WaitingRequest<P> | undefined {
    return this.#order.next(agedOnly)?.first;
  }

  take(node: WaitingRequest<P>): void {
    const cursor = this.#cursors.get(node.queue?.tenant ?? '');
    if (cursor === undefined) return;
    cursor.startTag += costOf(node.request) / this.rules.weightOf(cursor.tenant);
    cursor.first = node.after;
    this.#put(cursor);
  }

  #put(cursor: Cursor<P>): void {
    this.#order.put(cursor, cursor.first !== undefined && this.rules.isAged(cursor.first));
  }
}
