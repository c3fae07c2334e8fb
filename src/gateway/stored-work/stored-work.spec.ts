import { beforeEach, describe, expect, it } from '@jest/globals';
import { type StoredRequest } from '../../core/request/stored-request.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { type StoredRequestStore } from '../../platform/database/stored-request-store.js';
import { type StorageRetries } from './storage-retries.js';
import { type StoredAnswers } from './stored-answers.js';
import { type StoredLeases } from './stored-leases.js';
import { isCallersOnly, StoredWork } from './stored-work.js';

const KEEP_MS = 60_000;
const work = (fields: object = {}): StoredRequest =>
  ({
    tenant: 't',
    name: 'n',
    requestId: 'r',
    blob: 'b',
    mode: 'waiting',
    status: 'running',
    ...fields,
  }) as never;

describe('stored work', () => {
  let log: string[];
  let opened: { created: boolean; request: StoredRequest; replaced: StoredRequest[] };
  let found: StoredRequest | undefined;
  let scripted: {
    isPatient: boolean;
    outcome: string;
    isWhole: boolean;
    isReceived: boolean;
    isCancelled: boolean;
    fails: boolean;
  };
  let ended: object[];
  let works: StoredWork;

  beforeEach(() => {
    [log, found, ended] = [[], undefined, []];
    opened = { created: true, request: work(), replaced: [] };
    scripted = {
      isPatient: false,
      outcome: 'ended',
      isWhole: true,
      isReceived: true,
      isCancelled: true,
      fails: false,
    };
    const store = {
      open: (given: object) => {
        log.push('open');
        ended.push(given);
        return scripted.fails ? Promise.reject(new Error('away')) : Promise.resolve(opened);
      },
      markReceived: () => Promise.resolve(scripted.isReceived),
      find: () => Promise.resolve(found),
      findById: () => Promise.resolve(found),
      requestCancel: () => Promise.resolve(scripted.isCancelled),
      end: (_: StoredRequest, ending: object) => {
        ended.push(ending);
        return Promise.resolve(scripted.outcome);
      },
      drop: () =>
        scripted.fails ? Promise.reject(new Error('away')) : Promise.resolve(void log.push('drop')),
    };
    const answers = {
      remove: (all: readonly unknown[]) => Promise.resolve(void log.push(`remove ${all.length}`)),
      removeBody: () => Promise.resolve(void log.push('removeBody')),
      storeBody: () => Promise.resolve({ bytes: 1 }),
      store: () => Promise.resolve({ answer: { status: 200 }, isWhole: scripted.isWhole }),
    };
    const hold = (held: { readonly name: string; readonly blob?: string }) => {
      log.push(`hold ${held.blob ?? held.name}`);
      return { work: held, release: () => void log.push(`release ${held.blob ?? held.name}`) };
    };
    const leases = { hold, lease: {}, isPatient: () => scripted.isPatient };
    works = new StoredWork(
      store as unknown as StoredRequestStore,
      answers as unknown as StoredAnswers,
      leases as unknown as StoredLeases,
      { written: (write: () => unknown) => write() } as unknown as StorageRetries,
      settingsFrom({ 'requests.keep_ms': KEEP_MS }),
    );
  });

  const open = () => works.open({ tenant: 't', name: 'n' } as never);

  it('is held before its row exists, and as an attempt from then on', async () => {
    opened.replaced = [work()];
    expect(await open()).toMatchObject({ work: work(), attempt: { work: work() } });
    expect(log).toEqual(['hold n', 'open', 'remove 1', 'hold b', 'release n']);
    const { createdAtMs, expiresAtMs } = ended[0] as StoredRequest;
    expect(expiresAtMs - createdAtMs).toBe(KEEP_MS);
  });

  it('is no attempt where another came before, and is not held where opening fails', async () => {
    opened.created = false;
    expect(await open()).toEqual({ work: work() });
    scripted.fails = true;
    await expect(open()).rejects.toThrow('away');
    expect(log.slice(-1)).toEqual(['release n']);
  });

  it('is received with its body while the lease lasts', async () => {
    const receive = () =>
      works.receive({ work: work() } as never, [] as never, { fingerprint: '' });
    expect(await receive()).toMatchObject({ work: { body: { bytes: 1 } } });
    scripted.isReceived = false;
    await expect(receive()).rejects.toMatchObject({ code: 'storage_unavailable' });
  });

  it.each<[string, object | undefined, boolean, boolean]>([
    ['it is there', {}, false, true],
    ['it is gone', undefined, false, false],
    ['another attempt has its name', { blob: 'other' }, false, false],
    ['its gateway died, and only its caller can run it', { lapsed: true }, false, false],
    ['it may only not have been renewed yet', { lapsed: true }, true, true],
    ['another gateway can run it', { lapsed: true, mode: 'async' }, false, true],
  ])('as it is now when %s', async (_, fields, isPatient, isKnown) => {
    scripted.isPatient = isPatient;
    found = fields && work(fields);
    expect(await works.now(work())).toBe(isKnown ? found : undefined);
  });

  it.each<[boolean, object | undefined, boolean | 'cancelled']>([
    [true, undefined, true],
    [false, { status: 'cancelled' }, 'cancelled'],
    [false, { status: 'completed' }, false],
    [false, undefined, false],
  ])('is cancelled while it runs (%p), or was before (%j): %p', async (runs, fields, outcome) => {
    scripted.isCancelled = runs;
    found = fields && work(fields);
    expect(await works.cancel(work())).toBe(outcome);
  });

  it.each([
    [true, 'completed'],
    [false, 'failed'],
  ])('ends with an answer that is whole (%p) as %s', async (isWhole, status) => {
    scripted.isWhole = isWhole;
    expect(await works.answer(work(), 'completed', {} as never)).toBe('ended');
    expect(ended).toEqual([{ status, answer: { status: 200 }, keepMs: KEEP_MS }]);
  });

  it.each([
    ['ended', { bytes: 1 }, ['removeBody']],
    ['ended', undefined, []],
    ['lost', { bytes: 1 }, []],
  ])('that is %s with the body %j leaves it: %j', async (outcome, body, removed) => {
    scripted.outcome = outcome;
    await works.end(work({ body }), {} as never);
    expect(log).toEqual(removed);
  });

  it('is dropped with its bytes, as far as the database answers', async () => {
    await works.drop(work());
    expect(log).toEqual(['drop', 'remove 1']);
    scripted.fails = true;
    await works.drop(work());
    expect(log).toHaveLength(2);
  });

  it.each([
    ['waiting', 'running', true],
    ['waiting', 'completed', false],
    ['async', 'receiving', true],
    ['async', 'running', false],
  ])('that is %s and %s is only its caller’s to run: %p', (mode, status, isOnly) => {
    expect(isCallersOnly(work({ mode, status }))).toBe(isOnly);
  });
});
