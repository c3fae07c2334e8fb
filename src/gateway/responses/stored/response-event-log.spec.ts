import { describe, expect, it } from '@jest/globals';
import { type ResponseEvent } from '../../../contracts/openai/responses.js';
import { type ResponseAppend, type ResponseRun } from '../../../core/request/response-record.js';
import { ProcessClock } from '../../../platform/clock/process-clock.js';
import { settingsFrom } from '../../../platform/config/settings.js';
import { type ResponseRecordStore } from '../../../platform/database/response-store.js';
import { storageUnavailable } from '../../../platform/http/passing-errors.js';
import { ShutdownGrace } from '../../lifecycle/shutdown-drain.js';
import { StorageRetries } from '../../stored-work/storage-retries.js';
import { DurableEvents } from './durable-events.js';
import { ResponseEventLog } from './response-event-log.js';

const run = (id: string): ResponseRun => ({ tenant: 'acme', id, epoch: 1 });
const events = (first: number, count: number, bytes = 1): ResponseEvent[] =>
  Array.from(
    { length: count },
    (_, at) => ({ sequence_number: first + at, delta: 'x'.repeat(bytes) }) as never,
  );

/** Transactions as they came; each waits until it is let through. */
class ScriptedStore {
  readonly transactions: (readonly ResponseAppend[])[] = [];
  readonly replaced = new Set<string>();
  failures = 0;
  #gate: (() => void) | undefined;
  #isOpen = true;

  close(): void {
    this.#isOpen = false;
  }

  open(): void {
    this.#isOpen = true;
    this.#gate?.();
  }

  async append(appends: readonly ResponseAppend[]): Promise<ReadonlySet<ResponseRun>> {
    if (this.failures-- > 0) throw storageUnavailable('The database is away.');
    this.transactions.push(appends);
    if (!this.#isOpen) await new Promise<void>(resolve => (this.#gate = resolve));
    return new Set(appends.map(({ run: one }) => one).filter(({ id }) => !this.replaced.has(id)));
  }
}

function started() {
  const store = new ScriptedStore();
  const settings = settingsFrom({});
  const retries = new StorageRetries(new ShutdownGrace(new ProcessClock(), settings));
  return {
    store,
    log: new ResponseEventLog(store as unknown as ResponseRecordStore, retries),
  };
}
const sizes = ({ transactions }: ScriptedStore) =>
  transactions.map(appends => appends.map(one => one.events.length));

describe('events of background responses', () => {
  it('of all responses are one transaction', async () => {
    const { store, log } = started();
    const appends = ['a', 'b', 'c'].map(id =>
      log.append({ run: run(id), first: 0, events: ['{}'] }),
    );
    expect(await Promise.all(appends)).toEqual([true, true, true]);
    expect(sizes(store)).toEqual([[1, 1, 1]]);
  });

  it('that come when the ones before became durable are not left waiting', async () => {
    const { store, log } = started();
    const append = (first: number) => log.append({ run: run('a'), first, events: ['{}'] }, true);
    expect(await append(0)).toBe(true);
    expect(await append(1)).toBe(true);
    expect(sizes(store)).toEqual([[1], [1]]);
  });

  it('that come while some are written are the next transaction, in order', async () => {
    const { store, log } = started();
    store.close();
    const durable = new DurableEvents(log, run('a'), 3, 1_000_000);
    await durable.add(events(3, 1));
    while (store.transactions.length === 0) await new Promise(setImmediate);
    for (let next = 4; next < 10; next++) await durable.add(events(next, 1));
    store.open();
    await durable.end(events(10, 2));
    expect(sizes(store)).toEqual([[1], [6], [2]]);
    expect(store.transactions.flat().map(({ first }) => first)).toEqual([3, 4, 10]);
  });

  it('hold their run back when too many wait', async () => {
    const { store, log } = started();
    store.close();
    const durable = new DurableEvents(log, run('a'), 0, 1000);
    await durable.add(events(0, 1));
    let isHeld = true;
    const held = durable.add(events(1, 1, 2000)).then(() => (isHeld = false));
    while (store.transactions.length === 0) await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(isHeld).toBe(true);
    store.open();
    await held;
    expect(sizes(store)).toEqual([[1], [1]]);
  });

  it('of a run that was replaced are refused from then on, those of its neighbours are not', async () => {
    const { store, log } = started();
    store.replaced.add('a');
    const durable = new DurableEvents(log, run('a'), 0, 1_000_000);
    await durable.add(events(0, 1));
    const REPLACED = { code: 'duplicate_request_id' };
    await expect(durable.end(events(1, 1))).rejects.toMatchObject(REPLACED);
    await expect(durable.add(events(2, 1))).rejects.toMatchObject(REPLACED);
    expect(await log.append({ run: run('b'), first: 0, events: ['{}'] })).toBe(true);
  });

  it('wait while the database is away', async () => {
    const { store, log } = started();
    store.failures = 2;
    expect(await log.append({ run: run('a'), first: 0, events: ['{}'] })).toBe(true);
    expect(sizes(store)).toEqual([[1]]);
  });
});
