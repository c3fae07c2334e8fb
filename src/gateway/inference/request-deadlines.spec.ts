import { describe, expect, it } from '@jest/globals';
import { type FastifyReply } from 'fastify';
import { ARRIVED_HEADER, requestDeadlines, wantedDeadlines } from './request-deadlines.js';

const terms = { key: 'k', maxDeadlineMs: 5000 };

describe('requestDeadlines', () => {
  it('reads both headers, and takes 0 for none', () => {
    const headers = { 'x-deadline-ms': '9000', 'x-slo-ttft-ms': '200' };
    expect(requestDeadlines(headers, undefined)).toEqual([
      { until: 'answer', withinMs: 9000 },
      { until: 'first_output', withinMs: 200 },
    ]);
    expect(requestDeadlines({ 'x-deadline-ms': '0' }, undefined)).toEqual([]);
  });

  it('is at most what the key allows; a completion window is not bounded', () => {
    const headers = {
      'x-deadline-ms': '9000',
      'x-slo-ttft-ms': '200',
      'x-switchyard-window-ms': '86400000',
    };
    expect(requestDeadlines(headers, terms).map(({ withinMs }) => withinMs)).toEqual([
      5000, 200, 86_400_000,
    ]);
  });

  it.each(['soon', '1.5', '-1', '', '604800001', '1'.repeat(400)])('rejects %j', value => {
    expect(() => requestDeadlines({ 'x-deadline-ms': value }, undefined)).toThrow(
      'whole milliseconds from 1 to',
    );
  });
});

describe('wantedDeadlines', () => {
  const reply = (elapsedTime: number, headers = {}) =>
    ({ elapsedTime, request: { headers } }) as FastifyReply;
  const both = [
    { until: 'answer', withinMs: 1000 },
    { until: 'first_output', withinMs: 100 },
  ] as const;

  it('counts from the arrival of the request', () => {
    expect(wantedDeadlines(both, reply(30), true)).toEqual([
      { until: 'answer', withinMs: 1000, leftMs: 970 },
      { until: 'first_output', withinMs: 100, leftMs: 70 },
    ]);
  });

  it('the first output of an answer that is not streamed is the answer', () => {
    expect(wantedDeadlines(both, reply(0), false).map(({ until }) => until)).toEqual([
      'answer',
      'answer',
    ]);
  });

  it('a stored request came when it was stored; a header from outside gains no time', () => {
    const [stored] = wantedDeadlines(
      both,
      reply(5, { [ARRIVED_HEADER]: String(Date.now() - 60_000) }),
      true,
    );
    expect(stored!.leftMs).toBeLessThanOrEqual(-59_000);
    const [forged] = wantedDeadlines(
      both,
      reply(5, { [ARRIVED_HEADER]: String(Date.now() + 60_000) }),
      true,
    );
    expect(forged!.leftMs).toBe(995);
  });
});
