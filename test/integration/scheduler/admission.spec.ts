import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type DomainError } from '../../../src/core/errors/domain-error.js';
import { aRef } from '../../support/requests.js';
import { ids, REALTIME, scraped, SchedulerHarness } from '../../support/scheduler-harness.js';

const thrown = (act: () => unknown): DomainError => {
  try {
    act();
  } catch (error) {
    return error as DomainError;
  }
  throw new Error('nothing was thrown');
};

describe('admission', () => {
  let harness: SchedulerHarness;

  beforeEach(async () => {
    const settings = {
      ...{
        'queue.max_requests': 5,
        'queue.max_requests_per_model': 3,
        'queue.max_bytes': 1000,
      },
      'queue.realtime_reserve': 0,
    } as const;
    harness = await SchedulerHarness.start({ settings });
  });
  afterEach(() => harness.stop());

  it('leaves no trace of a refused request but its count', async () => {
    void harness.submitAll(ids(3));
    thrown(() => harness.submit('r4'));
    expect(harness.scheduler.find(aRef('r4'))).toBeUndefined();
    expect(harness.queue.depth).toBe(3);
    expect(await scraped('switchyard_requests_accepted_total')).toBe(3);
    expect(await scraped('switchyard_requests_rejected_total', { code: 'queue_full' })).toBe(1);
    expect(harness.types('r4')).toEqual(['rejected']);
  });

  it('refuses a model that is not configured, so that no label and no lane is made of it', () => {
    expect(thrown(() => harness.submit('r1', { model: 'whatever-a-client-typed' })).code).toBe(
      'model_not_found',
    );
    expect(harness.queue.lanes).toEqual([]);
  });
});

describe('admission beside a full queue of BATCH', () => {
  let harness: SchedulerHarness;

  beforeEach(async () => {
    harness = await SchedulerHarness.start({
      settings: { 'queue.max_requests_per_model': 100 },
    });
  });
  afterEach(() => harness.stop());

  const refusals = (count: number, spec = {}): DomainError[] =>
    ids(count, 'x').flatMap(id => {
      try {
        void harness.submit(`${id}-${harness.queue.depth}`, spec);
        return [];
      } catch (error) {
        return [error as DomainError];
      }
    });

  it('rejects BATCH at 80 of 100, accepts 20 more REALTIME; 20 rejected ones retry in different seconds', () => {
    const refused = refusals(100);
    expect(refused).toHaveLength(20);
    expect(refused[0]?.message).toBe(
      'The queue of model alpha is at its bound of 80 requests for batch; 20 more are reserved for realtime.',
    );
    const seconds = refused.map(({ retryAfterMs = 0 }) => Math.ceil(retryAfterMs / 1000));
    expect(new Set(seconds).size).toBeGreaterThanOrEqual(3);
    expect(refusals(60, REALTIME)).toHaveLength(40);
    expect(harness.queue.depthByPriority()).toEqual({ realtime: 20, batch: 80 });
  });
});
