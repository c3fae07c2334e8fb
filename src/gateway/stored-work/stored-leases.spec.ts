import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type StoredRequest } from '../../core/request/stored-request.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { type StoredRequestStore } from '../../platform/database/stored-request-store.js';
import { type CancellationManager } from '../cancellation/cancellation-manager.js';
import { type StoredAnswers } from './stored-answers.js';
import { StoredLeases } from './stored-leases.js';

const LEASE_MS = 30_000;
const SWEEP_MS = 7000;

const work = (name: string, fields: object = {}): StoredRequest =>
  ({ tenant: 't', name, requestId: `r-${name}`, blob: `b-${name}`, ...fields }) as never;

describe('the leases of stored requests', () => {
  let log: string[];
  /** What the store has: leased to this gateway, abandoned, and expired portions. */
  let rows: { held: StoredRequest[]; abandoned: StoredRequest[]; expired: number[] };
  let fails: boolean;
  let leases: StoredLeases;

  beforeEach(() => {
    jest.useFakeTimers();
    [log, rows, fails] = [[], { held: [], abandoned: [], expired: [] }, false];
    const store = {
      renewLeases: () => {
        log.push('renew');
        return fails ? Promise.reject(new Error('away')) : Promise.resolve(rows.held);
      },
      release: (_: string, request?: StoredRequest) =>
        Promise.resolve(void log.push(`release ${request?.name ?? 'all'}`)),
      takeOver: () => Promise.resolve(rows.abandoned.shift()),
      expire: (limit: number) => {
        log.push('expire');
        return Promise.resolve(Array.from({ length: rows.expired.shift() ?? 0 }, () => limit));
      },
    };
    const answers = {
      remove: ({ length }: readonly unknown[]) =>
        Promise.resolve(void log.push(`remove ${length}`)),
    };
    const cancellations = {
      cancel: ({ id }: { id: string }, reason: string) =>
        Promise.resolve(void log.push(`cancel ${id} ${reason}`)),
    };
    leases = new StoredLeases(
      store as unknown as StoredRequestStore,
      answers as unknown as StoredAnswers,
      cancellations as unknown as CancellationManager,
      settingsFrom({ 'requests.lease_ms': LEASE_MS, 'files.gc_interval_ms': SWEEP_MS }),
    );
  });
  afterEach(() => {
    leases.onModuleDestroy();
    jest.useRealTimers();
  });

  const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

  it('are renewed three times before they end, one renewal after the other', async () => {
    leases.onApplicationBootstrap();
    await pass(LEASE_MS / 3 - 1);
    expect(log.filter(line => line === 'renew')).toEqual([]);
    await pass(1);
    await pass(LEASE_MS / 3);
    expect(log.filter(line => line === 'renew')).toHaveLength(2);
  });

  it('are renewed again after the database was away', async () => {
    leases.onApplicationBootstrap();
    fails = true;
    await pass(LEASE_MS / 3);
    fails = false;
    await pass(LEASE_MS / 3);
    expect(log.filter(line => line === 'renew')).toHaveLength(2);
  });

  it('are held of what runs here; what has ended here is given back', async () => {
    leases.hold(work('runs'));
    leases.hold(work('ended')).release();
    rows.held = [work('runs'), work('ended')];
    await leases.renew();
    expect(log).toEqual(['renew', 'release ended']);
  });

  it('that another gateway has end what runs here; those without a row yet do not', async () => {
    const lost = leases.hold(work('lost'));
    const [kept, opening] = [leases.hold(work('kept')), leases.hold({ tenant: 't', name: 'new' })];
    rows.held = [work('kept')];
    await leases.renew();
    expect([lost, kept, opening].map(({ gone }) => gone.aborted)).toEqual([true, false, false]);
  });

  it('carry the cancels that other gateways received', async () => {
    leases.hold(work('runs'));
    rows.held = [work('runs', { cancelling: true })];
    await leases.renew();
    expect(log).toEqual(['renew', 'cancel r-runs client']);
  });

  describe('that nobody renewed', () => {
    let taken: string[];
    beforeEach(() => {
      taken = [];
      leases.onAbandoned = ({ work: { name } }) => void taken.push(name);
      rows.abandoned = [work('a'), work('b')];
    });

    it('are taken over, and held', async () => {
      await leases.renew();
      expect(taken).toEqual(['a', 'b']);
      rows.held = [work('a'), work('b')];
      log.length = 0;
      await leases.renew();
      expect(log).toEqual(['renew']);
    });

    it('are taken over until the next renewal is due', async () => {
      leases.onAbandoned = ({ work: { name } }) => {
        taken.push(name);
        jest.advanceTimersByTime(LEASE_MS / 3);
      };
      await leases.renew();
      expect(taken).toEqual(['a']);
    });

    it('are left to others while this gateway ends', async () => {
      leases.onModuleDestroy();
      await leases.renew();
      expect([taken, rows.abandoned.length]).toEqual([[], 2]);
    });

    it('are left for the length of a lease after an outage', async () => {
      leases.onApplicationBootstrap();
      jest.advanceTimersByTime(LEASE_MS / 2);
      expect(leases.isPatient()).toBe(false);
      jest.advanceTimersByTime(1);
      expect([leases.isPatient(), leases.lease.isPatient]).toEqual([true, true]);
      await leases.renew();
      expect(taken).toEqual([]);
      for (let renewals = 0; renewals < 3; renewals++) {
        jest.advanceTimersByTime(LEASE_MS / 3 - 1);
        await leases.renew();
      }
      expect([taken, leases.isPatient()]).toEqual([[], true]);
      jest.advanceTimersByTime(3);
      expect(leases.isPatient()).toBe(false);
      await leases.renew();
      expect(taken).toEqual(['a', 'b']);
    });
  });

  it('that have expired are removed, with all else that a sweep removes', async () => {
    leases.onApplicationBootstrap();
    leases.sweeps.push(() => Promise.resolve(log.push('others')));
    rows.expired = [200, 200, 199, 200];
    await pass(SWEEP_MS);
    const swept = (count: number) => ['expire', `remove ${count}`];
    const removed = log.filter(line => line !== 'renew' && line !== 'others');
    expect(removed).toEqual([...swept(200), ...swept(200), ...swept(199)]);
    expect(log).toContain('others');
  });

  it('that have expired may only not have been renewed after an outage: none is removed', async () => {
    leases.onApplicationBootstrap();
    fails = true;
    await pass(LEASE_MS);
    log.length = 0;
    await pass(SWEEP_MS);
    expect(log).not.toContain('expire');
  });

  it('are given back after the drain, and what still runs stops', async () => {
    leases.onApplicationBootstrap();
    const { gone } = leases.hold(work('runs'));
    leases.onModuleDestroy();
    await pass(LEASE_MS);
    expect([gone.aborted, log]).toEqual([false, []]);
    await leases.close();
    expect([gone.aborted, log]).toEqual([true, ['release all']]);
  });
});
