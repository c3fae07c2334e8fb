/** The place of a member in a list. */
export class Link<T> {
  /** Neighbours; only the list writes them. */
  before: Link<T> | undefined;
  after: Link<T> | undefined;

  constructor(
    readonly of: T,
    readonly key: number,
  ) {}
}

/**
 * A doubly linked list, smallest key first. O(1) where members come and leave in about
 * the order of their keys.
 */
export class SortedList<T> {
  /** Only the list writes them. */
  first: Link<T> | undefined;
  last: Link<T> | undefined;

  /** Behind its equals; searches from the end. */
  append(link: Link<T>): void {
    let before = this.last;
    while (before !== undefined && before.key > link.key) before = before.before;
    this.#insert(link, before);
  }

  /** Ahead of its equals; searches from the front. */
  restore(link: Link<T>): void {
    let after = this.first;
    while (after !== undefined && after.key < link.key) after = after.after;
    this.#insert(link, after === undefined ? this.last : after.before);
  }

  remove(link: Link<T>): void {
    const { before, after } = link;
    if (before === undefined) this.first = after;
    else before.after = after;
    if (after === undefined) this.last = before;
    else after.before = before;
    link.before = undefined;
    link.after = undefined;
  }

  #insert(link: Link<T>, before: Link<T> | undefined): void {
    const after = before === undefined ? this.first : before.after;
    link.before = before;
    link.after = after;
    if (before === undefined) this.first = link;
    else before.after = link;
    if (after === undefined) this.last = link;
    else after.before = link;
  }
}
