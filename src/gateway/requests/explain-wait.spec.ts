import { describe, expect, it } from '@jest/globals';
import { type RequestView } from '../../core/dispatch/request-view.js';
import { explainWait } from './explain-wait.js';

const view = (fields: Partial<RequestView>): RequestView => ({
  id: 'r',
  model: 'm',
  priority: 'batch',
  aged: false,
  attempts: 0,
  phases: {},
  state: 'queued',
  createdAtMs: 0,
  waitedMs: 1500,
  ...fields,
});

describe('why a request waits', () => {
  it.each([
    ['worker', 'no worker of m is up'],
    ['slot', 'every slot of the workers of m that it may use is taken'],
    ['turn', 'a slot is free and it goes next'],
    [undefined, 'the scheduler has not reached it yet'],
  ] as const)('for its %s is one sentence', (waitsFor, reason) => {
    expect(explainWait(view({ waitsFor, position: 3 }))).toBe(
      `It is number 3 in the queue of m and has waited 1.500 s: ${reason}.`,
    );
  });

  it('says that it aged, that a worker was lost, and when it will start', () => {
    const forecast = { startInMs: { p50: 250, p90: 1000 } } as Parameters<typeof explainWait>[1];
    const text = explainWait(view({ waitsFor: 'turn', aged: true, attempts: 1 }), forecast);
    expect(text).toMatch(
      /aged .* Its first worker was lost; .* start in 0\.250 s, and with 90 % probability within 1\.000 s\.$/,
    );
  });

  it('is where it runs, once it runs', () => {
    expect(explainWait(view({ state: 'running', workerId: 'w' }))).toMatch(
      /^It is at w: .*1\.500 s/,
    );
  });

  it('is how it ended: the code of a failure, and what it waited for the device', () => {
    const waited = 'It waited 1.500 s in the queue';
    expect(explainWait(view({ state: 'completed' }))).toBe(`It ended as completed. ${waited}.`);
    expect(
      explainWait(
        view({ state: 'failed', code: 'no_worker', workerId: 'w', phases: { readyMs: 20 } }),
      ),
    ).toBe(`It ended as failed (no_worker). ${waited} and 0.020 s for the device of w.`);
  });
});
