import { queryObjects } from 'node:v8';
import { describe, expect, it } from '@jest/globals';
import { Playback } from '../../core/order/playback.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type PlacedWork, WorkQueue } from './work-queue.js';

const { REALTIME, BATCH } = RequestPriority;
const entry = (sequence: number, priority: RequestPriority) => ({ sequence, priority });
/** The sequence numbers of the next entries. */
const taken = <Item extends PlacedWork>(line: WorkQueue<Item>, count: number) =>
  line.take(count, 0).map(({ sequence }) => sequence);

describe('PriorityLine', () => {
  it('gives REALTIME first, then arrival, whatever the order of entering', () => {
    const line = new WorkQueue();
    for (const [sequence, priority] of [
      [3, BATCH],
      [1, BATCH],
      [4, REALTIME],
      [2, REALTIME],
      [0, BATCH],
    ] as const)
      line.add(entry(sequence, priority));
    expect(taken(line, 5)).toEqual([2, 4, 0, 1, 3]);
  });

  it('keeps nothing of what has left it', () => {
    class Held {
      readonly priority = BATCH;
      constructor(readonly sequence: number) {}
    }
    const line = new WorkQueue<Held>();
    for (let sequence = 0; sequence < 100; sequence += 2) {
      line.add(new Held(sequence));
      const cancelled = new Held(sequence + 1);
      line.add(cancelled);
      line.take(1, 0);
      line.remove(cancelled);
    }
    expect(line.size).toBe(0);
    expect(queryObjects(Held, { format: 'count' })).toBeLessThan(5);
  });

  it('lets 64 REALTIME requests overtake BATCH and no more, however many come', () => {
    const line = new WorkQueue();
    line.add(entry(0, BATCH));
    const order: number[] = [];
    for (let sequence = 1; order.at(-1) !== 0; sequence += 1) {
      line.add(entry(sequence, REALTIME));
      order.push(...taken(line, 1));
    }
    expect(order).toHaveLength(64);
  });

  const aged = (sequence: number, agingShare = 0.25) => ({ sequence, priority: BATCH, agingShare });

  it('gives aged entries one place in four while REALTIME waits, over many takes, and all of them otherwise', () => {
    const line = new WorkQueue();
    for (let sequence = 0; sequence < 5; sequence += 1) line.add(aged(sequence));
    for (let sequence = 10; sequence < 20; sequence += 1) line.add(entry(sequence, REALTIME));
    line.add(entry(30, BATCH));
    const order: number[] = [];
    while (line.size > 0) {
      const head = line.head(0)?.sequence;
      const group = taken(line, 3);
      expect(group[0]).toBe(head);
      order.push(...group);
    }
    expect(order).toEqual([10, 11, 12, 0, 13, 14, 15, 1, 16, 17, 18, 2, 19, 3, 4, 30]);
  });

  it('takes no more than asked for and no more than there is', () => {
    const line = new WorkQueue();
    for (const sequence of [0, 1, 2]) line.add(entry(sequence, BATCH));
    expect(line.take(2, 0)).toHaveLength(2);
    expect(line.take(2, 0)).toHaveLength(1);
    expect(line.head(0)).toBeUndefined();
  });

  it('removes an entry once', () => {
    const line = new WorkQueue();
    const one = entry(0, BATCH);
    line.add(one);
    expect([line.remove(one), line.remove(one), line.size]).toEqual([true, false, 0]);
  });
});

describe('PriorityLine with parts of long requests', () => {
  const part = (sequence: number, flow?: string, priority: RequestPriority = BATCH) => ({
    sequence,
    priority,
    flow,
  });

  it('gives every request its first part before anybody its second, by arrival', () => {
    const line = new WorkQueue<ReturnType<typeof part>>();
    for (const sequence of [0, 1, 2, 3]) line.add(part(sequence, 'long'));
    line.add(part(4, 'other'));
    line.add(part(5, 'other'));
    line.add(part(6));
    line.add(part(7));
    expect(taken(line, 4)).toEqual([0, 4, 6, 7]);
    expect(taken(line, 4)).toEqual([1, 5, 2, 3]);
  });

  it('serves a long request in every group, however many short ones arrive', () => {
    const line = new WorkQueue<ReturnType<typeof part>>();
    for (const sequence of [0, 1, 2]) line.add(part(sequence, 'long'));
    for (let group = 0; group < 3; group += 1) {
      for (let n = 0; n < 2; n += 1) line.add(part(10 + group * 2 + n));
      expect(line.take(2, 0).filter(({ flow }) => flow === 'long')).toHaveLength(1);
    }
  });

  it('keeps REALTIME before all parts', () => {
    const line = new WorkQueue<ReturnType<typeof part>>();
    line.add(part(0, 'long'));
    for (const sequence of [1, 2]) line.add(part(sequence, 'urgent', RequestPriority.REALTIME));
    expect(taken(line, 3)).toEqual([1, 2, 0]);
  });
});

describe('PriorityLine with sentences of speech', () => {
  const answer = (from: number, priority: RequestPriority, playback?: Playback) =>
    [0, 1, 2].map(at => ({
      ...{ sequence: from + at, flow: `answer ${from}`, priority },
      sentence: { playback, deviceMs: 10, audioMs: 1000, isFirst: at === 0 },
    }));
  const queueOf = (...answers: ReturnType<typeof answer>[]) => {
    const line = new WorkQueue<ReturnType<typeof answer>[number]>();
    for (const item of answers.flat()) line.add(item);
    return line;
  };

  it('gives the first audio of everybody, then what is played first, then what nobody hears, then BATCH', () => {
    const [one, two] = [new Playback(), new Playback()];
    const line = queueOf(
      answer(0, BATCH),
      answer(10, REALTIME),
      answer(20, REALTIME, one),
      answer(30, REALTIME, two),
    );
    const order: number[] = [];
    for (let nowMs = 10; line.size > 0; nowMs += 10) {
      const [next] = line.take(1, nowMs);
      order.push(next!.sequence);
      next!.sentence.playback?.made(next!.sentence.playback === one ? 1000 : 400, nowMs);
    }
    expect(order).toEqual([20, 30, 31, 32, 21, 22, 10, 11, 12, 0, 1, 2]);
  });

  it.each([BATCH, REALTIME])('lets 64 answers overtake one of %s that nobody hears', priority => {
    const line = queueOf(answer(0, priority));
    let heard = 0;
    for (let from = 10; line.size > 1; from += 10) {
      for (const item of answer(from, REALTIME, new Playback())) line.add(item);
      heard += 1;
      const taken = line.take(3, 0).map(({ sequence }) => sequence);
      if (taken.includes(0)) break;
    }
    expect(heard).toBe(64);
  });
});
