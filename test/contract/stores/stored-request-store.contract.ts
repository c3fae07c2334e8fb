import { expect, it } from '@jest/globals';
import { type StoredRequestStore, type NewStoredRequest } from '../../../src/core/request/stored-request.port.js';

const NOW = 1_800_000_000_000;
const LEASE = 10_000;

const by = (owner: string, nowMs = NOW) => ({ owner, nowMs, leaseMs: LEASE });
const newRequest = (over: Partial<NewStoredRequest> = {}): NewStoredRequest => ({
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
const ending = (status: 'completed' | 'failed') => ({
  status,
  answer: { status: status === 'completed' ? 200 : 500, headers: { 'content-type': 'audio/wav' } },
  endedAtMs: NOW + 1,
  expiresAtMs: NOW + 100_000,
});

/** What the table of stored requests promises, on either database. Two stores are two gateways. */
export function keptRequestStoreContract(
  open: () => Promise<{ kept: StoredRequestStore; othersKept: StoredRequestStore }>,
): void {
  it('lets one of twenty attempts at once begin, and shows it to the others', async () => {
    const { kept, othersKept } = await open();
    const attempts = Array.from({ length: 20 }, (_, index) =>
      (index % 2 ? kept : othersKept).open(newRequest({ requestId: `r${index}` }), by(`g${index}`)),
    );
    const opened = await Promise.all(attempts);
    const winners = opened.filter(({ created }) => created);
    expect(winners).toHaveLength(1);
    const [{ request }] = winners as [(typeof winners)[0]];
    expect(opened.every(other => other.request.requestId === request.requestId)).toBe(true);
  });

  it('keeps tenants and names apart', async () => {
    const { kept } = await open();
    const opened = [
      await kept.open(newRequest(), by('a')),
      await kept.open(newRequest({ tenant: 'other' }), by('a')),
      await kept.open(newRequest({ name: 'key:r1' }), by('a')),
    ];
    expect(opened.map(({ created }) => created)).toEqual([true, true, true]);
    expect(await kept.findById('r1', 'nobody')).toBeUndefined();
    expect(await kept.findById('r1', undefined)).toMatchObject({ requestId: 'r1' });
  });

  it('ends a request once, by whoever holds it', async () => {
    const { kept, othersKept } = await open();
    const { request } = await kept.open(newRequest(), by('a'));
    expect(await othersKept.end(request, 'b', ending('failed'))).toBe(false);
    expect(await kept.end(request, 'a', ending('completed'))).toBe(true);
    expect(await kept.end(request, 'a', ending('failed'))).toBe(false);
    expect(await othersKept.find(request)).toMatchObject({ status: 'completed', answer: ending('completed').answer });
  });

  it('gives a silent gateway’s request to one other, which counts it; the zombie can write no more', async () => {
    const { kept, othersKept } = await open();
    const { request } = await kept.open(newRequest(), by('a'));
    expect(await othersKept.takeOver(by('b', NOW + LEASE - 1))).toBeUndefined();
    await kept.renewLeases(by('a', NOW + LEASE - 1));
    expect(await othersKept.takeOver(by('b', NOW + LEASE))).toBeUndefined();
    const late = NOW + 3 * LEASE;
    const taken = await Promise.all([othersKept.takeOver(by('b', late)), kept.takeOver(by('c', late))]);
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(taken.find(Boolean)).toMatchObject({ requestId: 'r1', attempts: 2 });
    expect(await kept.end(request, 'a', ending('completed'))).toBe(false);
  });

  it('ignores an earlier attempt of the same gateway: taken over, or opened again under the same name', async () => {
    const { kept } = await open();
    const { request } = await kept.open(newRequest(), by('a'));
    const taken = await kept.takeOver(by('a', NOW + 2 * LEASE));
    expect(taken).toMatchObject({ attempts: 2 });
    await kept.drop(request, 'a');
    await kept.release(request, 'a');
    expect(await kept.end(request, 'a', ending('completed'))).toBe(false);
    expect(await kept.find(request)).toMatchObject({ attempts: 2, status: 'running' });
    const late = by('a', NOW + 9 * LEASE);
    const waiting = newRequest({ name: 'w', mode: 'waiting', blob: 'kept/w1' });
    const { request: first } = await kept.open(waiting, by('a'));
    const { created } = await kept.open({ ...waiting, blob: 'kept/w2' }, late);
    expect(created).toBe(true);
    await kept.drop(first, 'a');
    expect(await kept.find(first)).toMatchObject({ blob: 'kept/w2' });
  });

  it('knows the time by the clock of the database', async () => {
    const { kept } = await open();
    expect(Math.abs((await kept.nowMs()) - Date.now())).toBeLessThan(60_000);
  });

  it('gives a released one away at once, and never one whose caller waits', async () => {
    const { kept, othersKept } = await open();
    const { request } = await kept.open(newRequest(), by('a'));
    await kept.release(request, 'a');
    const { request: waiting } = await kept.open(newRequest({ name: 'w', mode: 'waiting' }), by('a'));
    await kept.release(waiting, 'a');
    expect(await othersKept.takeOver(by('b'))).toMatchObject({ name: 'id:r1' });
    expect(await othersKept.takeOver(by('b'))).toBeUndefined();
  });

  it.each(['failed', 'lost', 'expired'] as const)('makes room for a new attempt where the first one %s', async how => {
    const { kept, othersKept } = await open();
    const { request } = await kept.open(newRequest({ mode: 'waiting' }), by('a'));
    if (how !== 'lost') await kept.end(request, 'a', ending(how === 'failed' ? 'failed' : 'completed'));
    const nowMs = how === 'failed' ? NOW + 2 : NOW + (how === 'lost' ? LEASE : 100_000);
    const again = await othersKept.open(newRequest({ mode: 'waiting', blob: 'kept/2' }), by('b', nowMs));
    expect(again).toMatchObject({ created: true, replaced: [{ blob: 'kept/1' }] });
    expect(await kept.end(request, 'a', ending('completed'))).toBe(false);
  });

  it('tells the holder of a cancel that came elsewhere', async () => {
    const { kept, othersKept } = await open();
    const { request } = await kept.open(newRequest(), by('a'));
    expect(await othersKept.requestCancel('other', 'r1')).toBe(false);
    expect(await kept.renewLeases(by('a'))).toMatchObject([{ cancelling: false }]);
    expect(await othersKept.requestCancel('acme', 'r1')).toBe(true);
    expect(await othersKept.renewLeases(by('b'))).toEqual([]);
    expect(await kept.renewLeases(by('a'))).toMatchObject([{ requestId: 'r1', cancelling: true }]);
    await kept.end(request, 'a', ending('failed'));
    expect(await othersKept.requestCancel('acme', 'r1')).toBe(false);
  });

  it('tells which blobs a row names', async () => {
    const { kept, othersKept } = await open();
    const { request } = await kept.open(newRequest({ blob: 'kept/named' }), by('a'));
    expect(await othersKept.referenced(['kept/named', 'kept/nobodys'])).toEqual(new Set(['kept/named']));
    expect(await othersKept.referenced([])).toEqual(new Set());
    await kept.drop(request, 'a');
    expect(await othersKept.referenced(['kept/named'])).toEqual(new Set());
  });

  it('drops what never was, and expires what is over, once', async () => {
    const { kept, othersKept } = await open();
    const { request } = await kept.open(newRequest(), by('a'));
    await othersKept.drop(request, 'b');
    expect(await kept.find(request)).toBeDefined();
    await kept.drop(request, 'a');
    expect(await kept.find(request)).toBeUndefined();
    const old = await kept.open(newRequest({ name: 'old' }), by('a'));
    await kept.end(old.request, 'a', ending('completed'));
    await kept.open(newRequest({ name: 'arriving', status: 'receiving' }), by('a'));
    await kept.open(newRequest({ name: 'running' }), by('a'));
    expect(await kept.expire(NOW + 10, 10)).toEqual([]);
    const gone = await Promise.all([kept.expire(NOW + 200_000, 10), othersKept.expire(NOW + 200_000, 10)]);
    expect(
      gone
        .flat()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['arriving', 'old']);
    expect(await kept.find({ tenant: 'acme', name: 'running' })).toBeDefined();
  });
}
