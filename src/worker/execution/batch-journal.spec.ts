import { describe, expect, it } from '@jest/globals';
import { BatchJournal } from './batch-journal.js';
import { engineCall } from './micro-batcher.js';

function lines(deviceMs: number) {
  const written: [string, string, Readonly<Record<string, unknown>>][] = [];
  const journal = new BatchJournal({
    info: (fields, message) => written.push(['info', message, fields]),
  });
  const members = [
    { id: 'a', prepMs: 1230 },
    { id: 'b', prepMs: 400 },
  ];
  const outcomes = [
    { ok: true as const, value: { transcript: { language: 'en' }, durationS: 45.2 } },
    { ok: false as const, error: new Error('x') },
  ];
  journal.collected(
    [
      { id: 'a', prepMs: 10 },
      { id: 'b', prepMs: 5 },
    ],
    6,
  );
  journal.done(members, { batchId: 'id', startedMs: 0, deviceMs, outcomes });
  return written;
}

describe('BatchJournal', () => {
  it('logs four lines before an engine call, one per item and one after it, as the source document has them', () => {
    expect(lines(17_270).map(([level, message]) => [level, message])).toEqual([
      ['info', 'Batch collected: 2/6 items'],
      ['info', 'Batch ready: size=2, taking the device'],
      ['info', 'Micro-batch CPU prep done: 0.01s for 2 items'],
      ['info', 'Micro-batch start: size=2'],
      ['info', 'Batch item transcribed: language=EN duration=45.20s gpu_time=8.63s'],
      ['info', 'Batch item failed: x gpu_time=8.63s'],
      ['info', 'Micro-batch done: 1/2 succeeded in 18.50s (prep=1.23s device=17.27s)'],
    ]);
  });

  it('gives the numbers and the request ids as fields', () => {
    expect(lines(17_270)[6]?.[2]).toMatchObject({
      batchId: 'id',
      size: 2,
      succeeded: 1,
      requestIds: ['a', 'b'],
    });
  });

  it('tells short engine calls at info, too', () => {
    expect(lines(20).map(([level]) => level)).toEqual(Array(7).fill('info'));
  });
});

const clock = { nowMs: () => 0 };

describe('engineCall', () => {
  it('names every engine call differently', async () => {
    const compute = (group: readonly number[]) => Promise.resolve(group.map(value => ok(value)));
    const [one, two] = await Promise.all([
      engineCall(compute, [1], clock),
      engineCall(compute, [2], clock),
    ]);
    expect(one.batchId).not.toBe(two.batchId);
  });

  it.each([
    ['throws', () => Promise.reject(new Error('device lost'))],
    ['answers for fewer items than it was given', () => Promise.resolve([ok(1)])],
  ])('fails every member when the engine %s', async (_what, compute) => {
    const { outcomes } = await engineCall(compute, [1, 2], clock);
    expect(outcomes.map(outcome => outcome.ok)).toEqual([false, false]);
  });
});

const ok = (value: number) => ({ ok: true as const, value });
