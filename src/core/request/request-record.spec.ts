import { beforeEach, describe, expect, it } from '@jest/globals';
import { aRequest } from '../../../test/support/requests.js';
import { DomainError } from '../errors/domain-error.js';
import { RequestRecord } from './request-record.js';
import { type ScheduledRequest } from './scheduled-request.js';
import { type Settlement } from './settlement.js';

const completed: Settlement<string> = { status: 'completed', reply: 'hello' };
const cancelled: Settlement<string> = {
  status: 'cancelled',
  error: new DomainError('request_cancelled', 'gone'),
};

function aRecord(): RequestRecord<ScheduledRequest, string> {
  return new RequestRecord<ScheduledRequest, string>(aRequest('r'));
}

describe('RequestRecord', () => {
  it('starts queued, with 0 attempts and no worker', () => {
    expect(aRecord()).toMatchObject({
      state: 'queued',
      attempts: 0,
      workerId: undefined,
      promoted: false,
    });
  });

  it('walks queued → leased → settled and names its worker', () => {
    const record = aRecord();
    record.leased('w1', 0);
    expect(record).toMatchObject({ state: 'leased', attempts: 1, workerId: 'w1' });
    expect(record.settle(completed, 0)).toBe(true);
    expect(record).toMatchObject({ state: 'settled', workerId: 'w1', settlement: completed });
  });

  it('counts 2 attempts over a re-queue and forgets the dead worker', () => {
    const record = aRecord();
    record.leased('w1', 0);
    record.requeued();
    expect(record).toMatchObject({ state: 'queued', attempts: 1, workerId: undefined });
    record.leased('w2', 0);
    expect(record).toMatchObject({ state: 'leased', attempts: 2, workerId: 'w2' });
  });

  it('settles exactly once: the first settlement stays, later ones return false', () => {
    const record = aRecord();
    expect([
      record.settle(cancelled, 0),
      record.settle(completed, 0),
      record.settle(cancelled, 0),
    ]).toEqual([true, false, false]);
    expect(record.settlement).toBe(cancelled);
  });

  it('promotes once, also across a re-queue', () => {
    const record = aRecord();
    expect(record.promote()).toBe(true);
    record.leased('w1', 0);
    record.requeued();
    expect(record.promote()).toBe(false);
    expect(record.promoted).toBe(true);
  });

  it('throws on moves the diagram does not have', () => {
    const leased = aRecord();
    leased.leased('w1', 0);
    expect(() => leased.leased('w2', 0)).toThrow('Request r cannot go from leased to leased.');
    expect(() => aRecord().requeued()).toThrow('Request r cannot go from queued to queued.');
    const settled = aRecord();
    settled.settle(completed, 0);
    expect(() => settled.leased('w1', 0)).toThrow('from settled to leased');
    expect(() => settled.requeued()).toThrow('from settled to queued');
  });
});

describe('RequestRecord phases', () => {
  let record: RequestRecord<ScheduledRequest, string>;

  beforeEach(() => {
    record = new RequestRecord<ScheduledRequest, string>(aRequest('r', { enqueuedAtMs: 1000 }));
  });

  /** Its phases, when it ends at `atMs`. */
  function settledAt(atMs: number, readyMs?: number) {
    record.settle(completed, atMs, readyMs);
    return record.phases;
  }

  it('measures all four phases of a completed request', () => {
    record.leased('w', 1100, 5);
    record.sent(1110);
    expect(settledAt(1320)).toEqual({
      queueWaitMs: 100,
      batchWaitMs: 5,
      grpcMs: 210,
      totalMs: 320,
    });
  });

  it('tells a running request what it has reached, and no more', () => {
    expect(record.phases).toEqual({});
    record.leased('w', 1100);
    expect(record.phases).toEqual({ queueWaitMs: 100, batchWaitMs: 0 });
    record.sent(1110);
    expect(record.phases).toEqual({ queueWaitMs: 100, batchWaitMs: 0 });
  });

  it('gives only the total to a request that was cancelled in the queue, and that of its first end', () => {
    expect(settledAt(1500)).toEqual({ totalMs: 500 });
    expect(record.settle(cancelled, 1600)).toBe(false);
    expect(record.phases).toEqual({ totalMs: 500 });
  });

  it('keeps the age across a re-queue and measures the attempt that counted', () => {
    record.leased('w1', 1100, 5);
    record.sent(1110);
    record.requeued();
    expect(record.phases).toEqual({});
    record.leased('w2', 1300, 2);
    record.sent(1310);
    expect(settledAt(1410)).toEqual({
      queueWaitMs: 300,
      batchWaitMs: 7,
      grpcMs: 100,
      totalMs: 410,
    });
  });

  it('never forgets a request that can still settle, after an hour either (D-11)', () => {
    record.leased('w', 1100);
    record.sent(1100);
    expect(settledAt(3_600_000)).toMatchObject({ totalMs: 3_599_000 });
  });

  it('names what the worker tells of the wait for its device', () => {
    record.leased('w', 1010);
    record.sent(1010);
    expect(settledAt(1060, 25)).toMatchObject({
      queueWaitMs: 10,
      grpcMs: 50,
      readyMs: 25,
      totalMs: 60,
    });
  });

  it('counts the wait for a group at a pulling worker as wait in the queue', () => {
    record.leased('w', 1010);
    record.sent(1010);
    record.grouped(1050, 40);
    expect(settledAt(1080)).toEqual({ queueWaitMs: 50, batchWaitMs: 40, grpcMs: 30, totalMs: 80 });
  });
});
