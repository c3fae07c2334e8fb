import { describe, expect, it } from '@jest/globals';
import { aRequest } from '../../../test/support/requests.js';
import { DeadlineQueue } from './deadline-queue.js';
import { type WaitingRequest } from './tenant-queue.js';

function waiting(id: string, enqueuedAtMs: number, queueDeadlineMs: number): WaitingRequest<undefined> {
  const request = aRequest(id, { enqueuedAtMs, queueDeadlineMs });
  const links = { ahead: undefined, behind: undefined, before: undefined, after: undefined, queue: undefined };
  return { request, orderMs: 0, ...links, sooner: undefined, later: undefined, aged: false };
}

function drain(book: DeadlineQueue<undefined>): string {
  let ids = '';
  for (let node = book.first; node !== undefined; node = book.first) {
    ids += node.request.id;
    book.remove(node);
  }
  return ids;
}

describe('DeadlineBook', () => {
  it('knows nobody at first', () => {
    expect(new DeadlineQueue().first).toBeUndefined();
  });

  it('lists equal patience in order of enqueue', () => {
    const book = new DeadlineQueue<undefined>();
    ['a', 'b', 'c'].forEach((id, index) => book.add(waiting(id, index, index + 120_000)));
    expect(drain(book)).toBe('abc');
  });

  it('puts the impatient first, whenever they came', () => {
    const book = new DeadlineQueue<undefined>();
    book.add(waiting('c', 0, 120_000));
    book.add(waiting('a', 10, 1_010));
    book.add(waiting('b', 5, 60_005));
    book.add(waiting('d', 10, 120_010));
    expect(drain(book)).toBe('abcd');
  });

  it('gives a re-queued request its old place', () => {
    const book = new DeadlineQueue<undefined>();
    const [a, b] = [waiting('a', 1, 101), waiting('b', 2, 102)];
    book.add(a);
    book.add(b);
    book.remove(a);
    book.add(a);
    expect(drain(book)).toBe('ab');
  });

  it('orders patience that differs by a fraction of a millisecond exactly', () => {
    const book = new DeadlineQueue<undefined>();
    book.add(waiting('b', 0, 100.4));
    book.add(waiting('a', 0, 100.2));
    book.add(waiting('c', 0.1, 100.45));
    expect(drain(book)).toBe('abc');
  });

  it('removes from the middle of a line', () => {
    const book = new DeadlineQueue<undefined>();
    const nodes = ['a', 'b', 'c'].map((id, index) => waiting(id, index, index + 100));
    nodes.forEach(node => book.add(node));
    book.remove(nodes[1]!);
    expect(drain(book)).toBe('ac');
  });
});
