/**
 * Events of a discrete-event model, earliest first; equal instants keep the order in
 * which they were scheduled.
 */
export class EventQueue {
  readonly #heap: ScheduledEvent[] = [];
  #scheduled = 0;

  schedule(atMs: number, run: (nowMs: number) => void): void {
    this.#heap.push({ atMs, order: this.#scheduled++, run });
    this.#siftUp(this.#heap.length - 1);
  }

  /**
   * Runs events in order until none is left or the next one lies after `untilMs`, which
   * stays for the next run.
   */
  runUntil(untilMs: number): void {
    while ((this.#heap[0]?.atMs ?? Infinity) <= untilMs) {
      const event = this.#pop();
      if (event === undefined) return;
      event.run(event.atMs);
    }
  }

  #pop(): ScheduledEvent | undefined {
    const first = this.#heap[0];
    const last = this.#heap.pop();
    if (last !== undefined && last !== first) {
      this.#heap[0] = last;
      this.#siftDown();
    }
    return first;
  }

  #siftUp(start: number): void {
    const heap = this.#heap;
    for (let child = start; child > 0;) {
      const parent = (child - 1) >> 1;
      if (!earlier(heap[child], heap[parent])) return;
      swap(heap, child, parent);
      child = parent;
    }
  }

  #siftDown(): void {
    const heap = this.#heap;
    for (let parent = 0; ;) {
      const left = 2 * parent + 1;
      const child = earlier(heap[left + 1], heap[left]) ? left + 1 : left;
      if (!earlier(heap[child], heap[parent])) return;
      swap(heap, child, parent);
      parent = child;
    }
  }
}

interface ScheduledEvent {
  readonly atMs: number;
  readonly order: number;
  readonly run: (nowMs: number) => void;
}

function earlier(a: ScheduledEvent | undefined, b: ScheduledEvent | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

function swap(heap: ScheduledEvent[], i: number, j: number): void {
  const [a, b] = [heap[i], heap[j]];
  if (a === undefined || b === undefined) return;
  heap[i] = b;
  heap[j] = a;
}
