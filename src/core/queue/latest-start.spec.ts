import { describe, expect, it } from '@jest/globals';
import { aRequest } from '../../../test/support/requests.js';
import { errorDefinition } from '../../contracts/errors/error-registry.js';
import { missed, type WantedDeadline, withLatestStart } from './latest-start.js';

const estimate = (startMs: number, answerMs = 300, firstOutputMs = 50) => ({
  startMs: () => startMs,
  answerMs,
  firstOutputMs,
});
const within = (
  leftMs: number,
  until: WantedDeadline['until'] = 'answer',
  withinMs = leftMs,
): WantedDeadline => ({ until, withinMs, leftMs });
const request = aRequest('r', { enqueuedAtMs: 1000 });

describe('withLatestStart', () => {
  it('changes nothing without a deadline', () => {
    expect(withLatestStart(request, [], estimate(5)).request).toBe(request);
  });

  it('is the deadline less the service, and the end of the wait', () => {
    const { request: timed, refusal } = withLatestStart(request, [within(1000)], estimate(600));
    expect(timed).toMatchObject({
      latestStartMs: 1700,
      queueDeadlineMs: 1700,
      deadline: { atMs: 2000 },
    });
    expect(refusal).toBeUndefined();
  });

  it('never makes a request wait longer than the queue allows', () => {
    const { request: timed } = withLatestStart(request, [within(500_000)], estimate(0));
    expect([timed.latestStartMs, timed.queueDeadlineMs]).toEqual([500_700, 121_000]);
  });

  it('refuses with the estimate what would start too late', () => {
    const { refusal } = withLatestStart(request, [within(800, 'answer', 1000)], estimate(500.2));
    expect(refusal?.code).toBe('deadline_unreachable');
    expect(errorDefinition(refusal!)).toMatchObject({ status: 503, retry: 'never' });
    expect(refusal?.message).toBe(
      'The answer, wanted within 1000 ms, would take about 801 ms (501 ms until it starts).',
    );
  });

  it('refuses what is due already, though nothing is known', () => {
    expect(withLatestStart(request, [within(0)], estimate(0, 0)).refusal).toBeDefined();
    expect(withLatestStart(request, [within(1)], estimate(0, 0)).refusal).toBeUndefined();
  });

  it('of two deadlines the one that binds first counts', () => {
    const both = [within(400), within(100, 'first_output')];
    const { request: timed } = withLatestStart(request, both, estimate(0));
    expect(timed).toMatchObject({
      latestStartMs: 1050,
      deadline: { until: 'first_output', withinMs: 100 },
    });
  });

  it('a completion window orders, and neither refuses nor ends the wait', () => {
    const { request: timed, refusal } = withLatestStart(
      request,
      [within(100, 'window')],
      estimate(9999),
    );
    expect(timed).toEqual({ ...request, latestStartMs: 800 });
    expect(refusal).toBeUndefined();
  });

  it('says what was missed', () => {
    const error = missed({ until: 'first_output', withinMs: 250, atMs: 0 });
    expect([error.code, errorDefinition(error).status]).toEqual(['deadline_missed', 504]);
    expect(error.message).toContain('first output, wanted within 250 ms');
  });
});
