import { beforeEach, expect, it } from '@jest/globals';
import {
  type ResponseEnding,
  type ResponseRecord,
  type ResponseRun,
} from '../../../src/core/request/response-record.js';
import { type ResponseRecordStore } from '../../../src/platform/database/response-store.js';

const NOW = 1_800_000_000_000;
const ACME = 'acme';

export const responseRecord = (id: string, over: Partial<ResponseRecord> = {}): ResponseRecord => ({
  tenant: ACME,
  id,
  status: 'queued',
  chainLength: 1,
  chainBytes: 10,
  request: '{}',
  input: '[]',
  response: '{"output":[]}',
  createdAtMs: NOW,
  expiresAtMs: NOW + 1000,
  epoch: 0,
  nextSequence: 0,
  ...over,
});
const record = responseRecord;
const ending = (status: ResponseEnding['status'] = 'completed'): ResponseEnding => ({
  status,
  response: `{"status":"${status}"}`,
  outputBytes: 5,
  eventsUntilMs: NOW + 500,
});
const event = (sequence: number) =>
  JSON.stringify({ type: 'response.x', sequence_number: sequence });
const numbered = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => event(from + at));

interface Stores {
  readonly responses: ResponseRecordStore;
  readonly othersResponses: ResponseRecordStore;
}

/**
 * @param fresh stores without rows: `responses` and `othersResponses` are those
 *   of two gateways
 */
export function responseStoreContract(fresh: () => Promise<Stores>): void {
  let responses: ResponseRecordStore;
  let othersResponses: ResponseRecordStore;

  beforeEach(async () => {
    ({ responses, othersResponses } = await fresh());
  });

  const begun = async (id: string, by = responses) => (await by.begin({ tenant: ACME, id }))!;
  /** Whether the event was written. */
  const appended = async (run: ResponseRun, at: number, end?: ResponseEnding) =>
    (await responses.append([{ run, first: at, events: [event(at)], ending: end }])).has(run);

  it('stores a response for its tenant until it expires', async () => {
    const made = record('resp_1', { previousId: 'resp_0', chainLength: 2 });
    await responses.create(made, []);
    expect(await othersResponses.find(made, NOW)).toEqual(made);
    expect(await responses.find({ ...made, tenant: 'other' }, NOW)).toBeUndefined();
    expect(await responses.find(made, NOW + 1000)).toBeUndefined();
    const { status, chainLength, chainBytes, nextSequence } = made;
    const head = { status, chainLength, chainBytes, nextSequence, hasEvents: false };
    expect(await othersResponses.head(made, NOW)).toEqual(head);
    expect(await responses.head({ ...made, tenant: 'other' }, NOW)).toBeUndefined();
    expect(await responses.head(made, NOW + 1000)).toBeUndefined();
    await responses.create(record('resp_3', { nextSequence: 2 }), numbered(0, 2));
    expect(await responses.head(record('resp_3'), NOW)).toMatchObject({
      nextSequence: 2,
      hasEvents: true,
    });
  });

  it('lists a conversation newest first, of one tenant, without what is gone', async () => {
    await responses.create(record('a'), []);
    await responses.create(record('b', { previousId: 'a', chainLength: 2 }), []);
    await responses.create(record('c', { previousId: 'b', chainLength: 3 }), []);
    await responses.create(record('b', { tenant: 'other', chainLength: 2, previousId: 'a' }), []);
    const chain = async (id: string, tenant = ACME) =>
      (await responses.chain({ tenant, id }, NOW)).map(one => `${one.tenant} ${one.id}`);
    expect(await chain('c')).toEqual(['acme c', 'acme b', 'acme a']);
    expect(await chain('b', 'other')).toEqual(['other b']);
    expect(await responses.remove({ tenant: ACME, id: 'b' })).toBe(true);
    expect(await chain('c')).toEqual(['acme c']);
    expect(await responses.remove({ tenant: ACME, id: 'b' })).toBe(false);
  });

  it('ends a conversation that names itself', async () => {
    await responses.create(record('a', { previousId: 'b', chainLength: 2 }), []);
    await responses.create(record('b', { previousId: 'a', chainLength: 2 }), []);
    expect(await responses.chain({ tenant: ACME, id: 'a' }, NOW)).toHaveLength(1);
  });

  it('returns events after a number, in order, across groups', async () => {
    await responses.create(record('r', { nextSequence: 2 }), numbered(0, 2));
    const run = await begun('r');
    expect(await responses.append([{ run, first: 2, events: numbered(2, 3) }])).toEqual(
      new Set([run]),
    );
    const read = async (after: number, limit = 10) =>
      (await othersResponses.events(run, after, limit)).flatMap(({ events }) => events);
    expect(await read(-1)).toEqual(numbered(0, 5));
    expect(await read(0)).toEqual(numbered(1, 4));
    expect(await read(3)).toEqual(numbered(4, 1));
    expect(await read(4)).toEqual([]);
    expect(await othersResponses.events(run, -1, 1)).toEqual([
      { first: 0, events: numbered(0, 2) },
    ]);
    expect(await othersResponses.events(run, 0, 1)).toEqual([{ first: 1, events: [event(1)] }]);
  });

  it('takes events of one run only: a later one ends the earlier, and numbers have no gap and no repeat', async () => {
    await responses.create(record('r'), []);
    const first = await begun('r');
    expect(first).toMatchObject({ status: 'in_progress', epoch: 1 });
    expect(await appended(first, 1)).toBe(false);
    expect(await appended(first, 0)).toBe(true);
    expect(await appended(first, 0)).toBe(true);
    const second = await begun('r', othersResponses);
    expect(second).toMatchObject({ epoch: 2, nextSequence: 1 });
    expect(await appended(first, 1)).toBe(false);
    const both = [
      { run: first, first: 1, events: [event(1)] },
      { run: second, first: 1, events: [event(1)], ending: ending() },
    ];
    expect(await othersResponses.append(both)).toEqual(new Set([second]));
    expect(await responses.find(second, NOW)).toMatchObject({
      status: 'completed',
      chainBytes: 15,
      nextSequence: 2,
    });
    expect((await responses.find(second, NOW))!.request).toBeUndefined();
    expect(await responses.begin(second)).toBeUndefined();
    expect(await appended(second, 2)).toBe(false);
  });

  it('writes nothing of a response that was deleted, and deletes its events with it', async () => {
    await responses.create(record('r', { nextSequence: 1 }), numbered(0, 1));
    const run = await begun('r');
    await responses.remove(run);
    expect(await appended(run, 1, ending())).toBe(false);
    expect(await responses.events(run, -1, 10)).toEqual([]);
  });

  it('counts the bytes of a tenant: an end adds its output, a removal gives them back', async () => {
    const bytes = () => othersResponses.bytesOf(ACME);
    expect(await bytes()).toBe(0);
    await responses.create(record('a', { input: '["ä"]', response: '{}' }), []);
    await responses.create(record('b', { input: '[]', response: '{}', expiresAtMs: NOW + 10 }), []);
    await responses.create(record('a', { tenant: 'other' }), []);
    expect(await bytes()).toBe(12);
    const run = await begun('a');
    await appended(run, 0, ending());
    expect(await bytes()).toBe(17);
    await responses.expire(NOW + 10, 10);
    expect(await bytes()).toBe(13);
    await responses.remove(run);
    expect(await bytes()).toBe(0);
  });

  it('removes expired responses, and the events of an ended one before it', async () => {
    await responses.create(record('old', { expiresAtMs: NOW + 10 }), []);
    await responses.create(
      record('new', { nextSequence: 1, expiresAtMs: NOW + 5000 }),
      numbered(0, 1),
    );
    expect(await responses.expire(NOW + 10, 10)).toBe(1);
    expect(await responses.events({ tenant: ACME, id: 'new' }, -1, 10)).toHaveLength(1);
    const run = await begun('new');
    await appended(run, 1, ending('failed'));
    expect(await responses.expire(NOW + 499, 10)).toBe(0);
    expect(await responses.events(run, -1, 10)).toHaveLength(2);
    expect(await responses.expire(NOW + 500, 10)).toBe(0);
    expect(await responses.events(run, -1, 10)).toEqual([]);
    expect(await responses.find(run, NOW + 500)).toMatchObject({ status: 'failed' });
  });

  it('holds a run whose append is repeated because its outcome was not known, and writes it once', async () => {
    await responses.create(record('again'), []);
    const run = await begun('again');
    const append = { run, first: 0, events: [event(0), event(1)] };
    const last = { run, first: 2, events: [event(2)], ending: ending('completed') };
    for (const one of [append, append, last, last])
      expect(await responses.append([one])).toEqual(new Set([run]));
    expect((await responses.events(run, -1, 10)).flatMap(({ events }) => events)).toEqual(
      [0, 1, 2].map(event),
    );
    expect(await othersResponses.append([{ ...append, first: 4 }])).toEqual(new Set());
  });

  it('counts what has not ended', async () => {
    expect(await responses.countOpen()).toEqual({ queued: 0, in_progress: 0 });
    await responses.create(record('a'), []);
    await responses.create(record('b', { tenant: 'other' }), []);
    await responses.create(record('c', { status: 'in_progress' }), []);
    await responses.create(record('d', { status: 'completed' }), []);
    expect(await responses.countOpen()).toEqual({ queued: 2, in_progress: 1 });
  });
}
