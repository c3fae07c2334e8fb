/** The place of a member in a list. */
export interface Link<T> {
  readonly of: T;
  readonly key: number;
  /** Neighbours; only the list writes them. */
  before: Link<T> | undefined;
  after: Link<T> | undefined;
}

/**
 * A doubly linked list, smallest key first. O(1) where members come and leave in about
 * the order of their keys.
 */
export class SortedList<T> {
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;

  get first(): Link<T> | undefined {
    return this.#first;
  }

  get last(): Link<T> | undefined {
    return this.#last;
  }

  /**
   * Behind its equals, searched for from the end; or ahead of them, searched for from
   * the front.
   */
  insert(link: Link<T>, isAhead: boolean): void {
    let before = isAhead ? undefined : this.#last;
    while (before !== undefined && before.key > link.key) before = before.before;
    let after = before === undefined ? this.#first : before.after;
    while (isAhead && after !== undefined && after.key < link.key) {
      before = after;
      after = after.after;
    }
    link.before = before;
    link.after = after;
    if (before === undefined) this.#first = link;
    else before.after = link;
    if (after === undefined) this.#last = link;
    else after.before = link;
  }

  remove(link: Link<T>): void {
    const { before, after } = link;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    link.before = undefined;
    link.after = undefined;
  }
}
