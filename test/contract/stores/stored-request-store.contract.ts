import { beforeEach, expect, it } from '@jest/globals';
import { type NewStoredRequest } from '../../../src/core/request/stored-request.js';
import { type StoredRequestStore } from '../../../src/platform/database/stored-request-store.js';

const NOW = 1_800_000_000_000;
const LEASE = 10_000;

const by = (owner: string, leaseMs = LEASE) => ({ owner, leaseMs });
/** A lease that has lapsed when the statement is over. */
const lapsed = (owner: string) => by(owner, 0);
export const newRequest = (over: Partial<NewStoredRequest> = {}): NewStoredRequest => ({
  tenant: 'acme',
  name: 'id:r1',
  requestId: 'r1',
  mode: 'async',
  path: '/v1/audio/speech',
  fingerprint: 'f',
  headers: { 'content-type': 'application/json' },
  blob: 'kept/1',
  status: 'running',
  createdAtMs: NOW,
  expiresAtMs: NOW + 100_000,
  ...over,
});
const ending = (status: 'completed' | 'failed' | 'cancelled', keepMs = 100_000) => ({
  status,
  answer: { status: status === 'completed' ? 200 : 500, headers: { 'content-type': 'audio/wav' } },
  keepMs,
});

/**
 * What the table of stored requests promises, on either database. Two stores
 * are two gateways.
 */
export function keptRequestStoreContract(
  open: () => Promise<{ kept: StoredRequestStore; othersKept: StoredRequestStore }>,
): void {
  let kept: StoredRequestStore;
  let othersKept: StoredRequestStore;

  beforeEach(async () => {
    ({ kept, othersKept } = await open());
  });

  /** Gateway `a` has begun it. */
  const opened = async (change: Partial<NewStoredRequest> = {}, lease = by('a')) =>
    (await kept.open(newRequest(change), lease)).request;

  it('lets one of twenty attempts at once begin, and shows it to the others', async () => {
    const attempts = Array.from({ length: 20 }, (_, index) =>
      (index % 2 ? kept : othersKept).open(newRequest({ requestId: `r${index}` }), by(`g${index}`)),
    );
    const answers = await Promise.all(attempts);
    const winners = answers.filter(({ created }) => created);
    expect(winners).toHaveLength(1);
    const [{ request }] = winners as [(typeof winners)[0]];
    expect(answers.every(other => other.request.requestId === request.requestId)).toBe(true);
  });

  it('keeps tenants and names apart', async () => {
    const answers = [
      await kept.open(newRequest(), by('a')),
      await kept.open(newRequest({ tenant: 'other' }), by('a')),
      await kept.open(newRequest({ name: 'key:r1' }), by('a')),
    ];
    expect(answers.map(({ created }) => created)).toEqual([true, true, true]);
    expect(await kept.findById('r1', 'nobody')).toBeUndefined();
    expect(await kept.findById('r1', undefined)).toMatchObject({ requestId: 'r1' });
  });

  it('ends a request once; the same attempt may write its end again', async () => {
    const request = await opened();
    expect(await kept.end(request, ending('completed'))).toBe('ended');
    expect(await kept.end(request, ending('completed'))).toBe('ended');
    expect(await kept.end({ ...request, attempts: 2 }, ending('completed'))).toBe('lost');
    expect(await kept.end({ ...request, blob: 'kept/2' }, ending('completed'))).toBe('lost');
    const found = await othersKept.find(request);
    expect(found).toMatchObject({ status: 'completed', answer: ending('completed').answer });
    const keptMs = found!.expiresAtMs - found!.endedAtMs!;
    expect([keptMs, Math.abs(found!.endedAtMs! - Date.now()) < 60_000]).toEqual([100_000, true]);
  });

  it('gives a silent gateway’s request to one other, which counts it', async () => {
    const request = await opened();
    expect(await othersKept.takeOver(by('b'))).toBeUndefined();
    expect(await othersKept.find(request)).toMatchObject({ lapsed: false });
    await kept.renewLeases(lapsed('a'));
    expect(await othersKept.find(request)).toMatchObject({ lapsed: true });
    const taken = await Promise.all([othersKept.takeOver(by('b')), kept.takeOver(by('c'))]);
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(taken.find(Boolean)).toMatchObject({ requestId: 'r1', attempts: 2 });
  });

  it('leaves lapsed leases to their holders while the caller is patient, not what was given back', async () => {
    const patient = { ...by('b'), isPatient: true };
    const waiting = newRequest({ mode: 'waiting' });
    await kept.open(waiting, lapsed('a'));
    expect(await othersKept.open(waiting, patient)).toMatchObject({ created: false });
    await kept.release('a');
    expect(await othersKept.open(waiting, patient)).toMatchObject({ created: true });
  });

  it('renews a lease that lapsed while nobody took the request over', async () => {
    await opened({}, lapsed('a'));
    expect(await kept.renewLeases(by('a'))).toMatchObject([{ requestId: 'r1', attempts: 1 }]);
    expect(await othersKept.takeOver(by('b'))).toBeUndefined();
  });

  it('takes the first completed attempt, and names it; an attempt that was taken over cannot fail the request', async () => {
    const first = await opened({}, lapsed('a'));
    const second = (await othersKept.takeOver(by('b')))!;
    expect(await kept.end(first, ending('failed'))).toBe('lost');
    expect(await kept.find(first)).toMatchObject({ status: 'running', attempts: 2 });
    expect(await kept.end(first, ending('completed'))).toBe('ended');
    expect(await othersKept.end(second, ending('completed'))).toBe('lost');
    expect(await othersKept.end(second, ending('failed'))).toBe('lost');
    expect(await kept.find(first)).toMatchObject({ status: 'completed', attempts: 1 });
    expect(await othersKept.renewLeases(by('b'))).toEqual([]);
  });

  it('ignores an earlier attempt of the same gateway: taken over, or opened again under the same name', async () => {
    const request = await opened({}, lapsed('a'));
    const taken = await kept.takeOver(by('a'));
    expect(taken).toMatchObject({ attempts: 2 });
    await kept.drop(request);
    await kept.release('a', request);
    expect(await kept.end(request, ending('failed'))).toBe('lost');
    expect(await kept.markReceived(request, { fingerprint: 'other' })).toBe(false);
    expect(await kept.find(request)).toMatchObject({
      attempts: 2,
      status: 'running',
      lapsed: false,
    });
    const waiting = newRequest({ name: 'w', mode: 'waiting', blob: 'kept/w1' });
    const { request: first } = await kept.open(waiting, lapsed('a'));
    const { created } = await kept.open({ ...waiting, blob: 'kept/w2' }, by('a'));
    expect(created).toBe(true);
    await kept.drop(first);
    expect(await kept.end(first, ending('completed'))).toBe('lost');
    expect(await kept.find(first)).toMatchObject({ blob: 'kept/w2', status: 'running' });
  });

  it('gives a released one away at once, and never one whose caller waits', async () => {
    const request = await opened();
    await kept.release('a', request);
    const waiting = await opened({ name: 'w', mode: 'waiting' });
    await kept.release('a', waiting);
    expect(await othersKept.takeOver(by('b'))).toMatchObject({ name: 'id:r1' });
    expect(await othersKept.takeOver(by('b'))).toBeUndefined();
  });

  it('counts gateways that were lost or could not end it, not those that gave it back in order', async () => {
    await opened();
    await kept.release('a');
    expect(await othersKept.takeOver(by('b'))).toMatchObject({ attempts: 2, losses: 0 });
    await othersKept.renewLeases(lapsed('b'));
    const taken = (await kept.takeOver(by('a')))!;
    expect(taken).toMatchObject({ attempts: 3, losses: 1 });
    await kept.release('a', taken);
    expect(await othersKept.takeOver(by('b'))).toMatchObject({ attempts: 4, losses: 2 });
  });

  it('releases all that a gateway holds, and nothing of another one', async () => {
    await opened();
    const waiting = await opened({ name: 'w', mode: 'waiting', blob: 'kept/w' });
    const ended = await opened({ name: 'e', blob: 'kept/e' });
    await kept.end(ended, ending('completed'));
    await othersKept.open(newRequest({ name: 'o', blob: 'kept/o' }), by('b'));
    await kept.release('a');
    expect(await othersKept.takeOver(by('c'))).toMatchObject({ name: 'id:r1' });
    expect(await othersKept.takeOver(by('c'))).toBeUndefined();
    expect(await kept.find(waiting)).toMatchObject({ lapsed: true });
    expect(await kept.find(ended)).toMatchObject({ status: 'completed' });
  });

  it.each(['failed', 'lost', 'expired'] as const)(
    'makes room for a new attempt where the first one %s',
    async how => {
      const { request } = await kept.open(
        newRequest({ mode: 'waiting' }),
        how === 'lost' ? lapsed('a') : by('a'),
      );
      if (how === 'failed') await kept.end(request, ending('failed'));
      if (how === 'expired') await kept.end(request, ending('completed', 0));
      const again = await othersKept.open(newRequest({ mode: 'waiting', blob: 'kept/2' }), by('b'));
      expect(again).toMatchObject({ created: true, replaced: [{ blob: 'kept/1' }] });
      expect(await kept.end(request, ending('completed'))).toBe('lost');
    },
  );

  it('tells the holder of a cancel that came elsewhere; from then on the request cannot complete', async () => {
    const request = await opened();
    expect(await othersKept.requestCancel('other', 'r1')).toBe(false);
    expect(await kept.renewLeases(by('a'))).toMatchObject([{ cancelling: false }]);
    expect(await othersKept.requestCancel('acme', 'r1')).toBe(true);
    expect(await othersKept.renewLeases(by('b'))).toEqual([]);
    expect(await kept.renewLeases(by('a'))).toMatchObject([{ requestId: 'r1', cancelling: true }]);
    expect(await kept.end(request, ending('completed'))).toBe('cancelling');
    expect(await kept.find(request)).toMatchObject({ status: 'running' });
    expect(await kept.end(request, ending('cancelled'))).toBe('ended');
    expect(await othersKept.requestCancel('acme', 'r1')).toBe(false);
  });

  it('tells which blobs a row names', async () => {
    const request = await opened({ blob: 'kept/named' });
    expect(await othersKept.referenced(['kept/named', 'kept/nobodys'])).toEqual(
      new Set(['kept/named']),
    );
    expect(await othersKept.referenced([])).toEqual(new Set());
    await kept.drop(request);
    expect(await othersKept.referenced(['kept/named'])).toEqual(new Set());
  });

  it('drops what never was, and expires what is over, once', async () => {
    const request = await opened();
    await kept.drop(request);
    expect(await kept.find(request)).toBeUndefined();
    const old = await opened({ name: 'old' });
    await kept.end(old, ending('completed', 0));
    const recent = await opened({ name: 'recent' });
    await kept.end(recent, ending('completed'));
    await opened({ name: 'arriving', status: 'receiving' });
    await opened({ name: 'broken off', status: 'receiving' }, lapsed('a'));
    await opened({ name: 'running' }, lapsed('a'));
    const gone = await Promise.all([kept.expire(10), othersKept.expire(10)]);
    const names = gone.flat().map(({ name }) => name);
    expect(names.sort()).toEqual(['broken off', 'old']);
    for (const name of ['recent', 'arriving', 'running'])
      expect(await kept.find({ tenant: 'acme', name })).toBeDefined();
  });
}
