import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { fastify } from 'fastify';
import { temporaryFolder } from '../../../../test/support/temporary-folder.js';
import { pause, until } from '../../../../test/support/waiting.js';
import { type ResponseRecord, type ResponseRun } from '../../../core/request/response-record.js';
import { ProcessClock } from '../../../platform/clock/process-clock.js';
import { settingsFrom } from '../../../platform/config/settings.js';
import { OpenDatabase } from '../../../platform/database/open-database.js';
import { ResponseRecordStore } from '../../../platform/database/response-store.js';
import { ShutdownGrace } from '../../lifecycle/shutdown-drain.js';
import { StorageRetries } from '../../stored-work/storage-retries.js';
import { ResponseEventLog } from './response-event-log.js';
import { ResponseFeed } from './response-feed.js';
import { ResponseRecords } from './response-records.js';

const FOLLOWERS = 300;
const REF = { tenant: 'acme', id: 'resp_1' };
const LEFT = new AbortController().signal;
const RESPONSE = JSON.stringify({ background: true });
const event = (sequence_number: number, type = 'response.x'): string =>
  JSON.stringify({ type, sequence_number });
const record = (over: Partial<ResponseRecord> = {}): ResponseRecord => ({
  ...REF,
  status: 'queued',
  chainLength: 1,
  chainBytes: 1,
  request: '{}',
  input: '[]',
  response: RESPONSE,
  createdAtMs: 0,
  expiresAtMs: Number.MAX_SAFE_INTEGER,
  epoch: 0,
  nextSequence: 1,
  ...over,
});

/** A real store whose reads are counted. */
class CountedStore extends ResponseRecordStore {
  readonly reads = { find: 0, head: 0, events: 0 };
  override find = (...given: Parameters<ResponseRecordStore['find']>) => (
    this.reads.find++,
    super.find(...given)
  );
  override head = (...given: Parameters<ResponseRecordStore['head']>) => (
    this.reads.head++,
    super.head(...given)
  );
  override events = (...given: Parameters<ResponseRecordStore['events']>) => (
    this.reads.events++,
    super.events(...given)
  );
}

describe('the feed of a background response', () => {
  let database: OpenDatabase;
  let store: CountedStore;
  let log: ResponseEventLog;
  let feed: ResponseFeed;
  let run: ResponseRun;

  beforeEach(async () => {
    database = new OpenDatabase(join(temporaryFolder(), 'feed.db'));
    await database.migrate();
    store = new CountedStore(database);
    const settings = settingsFrom({});
    const retries = new StorageRetries(new ShutdownGrace(new ProcessClock(), settings));
    log = new ResponseEventLog(store, retries);
    feed = new ResponseFeed(log, new ResponseRecords(store, settings));
    await store.create(record(), [event(0)]);
    run = (await store.begin(REF))!;
  });
  afterEach(async () => {
    feed.onModuleDestroy();
    await database.db.destroy();
  });

  const framesOf = async (
    frames: AsyncIterable<Buffer>,
    first: () => void = () => undefined,
  ): Promise<string> => {
    let text = '';
    for await (const frame of frames) {
      if (text === '') first();
      text += frame.toString();
    }
    return text;
  };
  const numbersIn = (text: string) =>
    [...text.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));
  const end = () =>
    log.append({
      run,
      first: 2,
      events: [event(2, 'response.completed')],
      ending: ENDING,
    });
  const ENDING = {
    status: 'completed',
    response: RESPONSE,
    outputBytes: 0,
    eventsUntilMs: 1,
  } as const;

  it(`is read once for ${FOLLOWERS} followers: never a record, each portion of events one time`, async () => {
    let begun = 0;
    const all = Promise.withResolvers<void>();
    const onFirst = (): void => void (++begun === FOLLOWERS && all.resolve());
    const followers = Array.from({ length: FOLLOWERS }, () =>
      framesOf(feed.follow(REF, -1, LEFT), onFirst),
    );
    await all.promise;
    expect(await log.append({ run, first: 1, events: [event(1)] }, true)).toBe(true);
    expect(await end()).toBe(true);
    for (const text of await Promise.all(followers)) {
      expect(numbersIn(text)).toEqual([0, 1, 2]);
      expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    }
    expect(store.reads.find).toBe(0);
    // At the beginning, and per append; some more of `head` where a slow
    // machine polls meanwhile.
    expect(store.reads.events).toBeLessThanOrEqual(4);
    expect(store.reads.head).toBeLessThan(FOLLOWERS / 4);
  });

  it('ends with its last follower, and begins again for the next', async () => {
    const leaving = new AbortController();
    await framesOf(feed.follow(REF, -1, leaving.signal), () => leaving.abort());
    const next = framesOf(feed.follow(REF, 0, LEFT));
    await log.append({ run, first: 1, events: [event(1)] }, true);
    await end();
    expect(numbersIn(await next)).toEqual([1, 2]);
  });

  it('ends for all followers when its response is deleted, and when its events are removed', async () => {
    const [one, other] = [0, 0].map(after => framesOf(feed.follow(REF, after, LEFT)));
    await store.remove(REF);
    for (const text of [one, other])
      await expect(text).rejects.toMatchObject({ code: 'response_not_found' });
    await store.create(record({ id: 'resp_2', status: 'completed', nextSequence: 9 }), []);
    expect(await framesOf(feed.follow({ ...REF, id: 'resp_2' }, -1, LEFT))).toBe('');
  });

  it('tells a caller who has events by one last event that it goes no further, any other by the status', async () => {
    await using server = fastify();
    server.get('/', (_, reply) => feed.send(reply, {}, REF));
    server.get('/next', (_, reply) => feed.send(reply, {}, REF, 0));
    const url = await server.listen();
    const answer = await fetch(url);
    const next = fetch(`${url}/next`);
    await store.remove(REF);
    const text = await answer.text();
    expect(numbersIn(text)).toEqual([0, 0]);
    expect(text.match(/"code":"response_not_found"/g)).toHaveLength(1);
    expect(text.match(/^event: .*|^data: \[.*/gm)).toEqual([
      'event: response.x',
      'event: error',
      'data: [DONE]',
    ]);
    expect((await next).ok).toBe(false);
  });

  it('waits for the first event of a response that has none yet', async () => {
    const ref = { ...REF, id: 'resp_0' };
    await store.create(record({ id: ref.id, nextSequence: 0 }), []);
    const begun = (await store.begin(ref))!;
    await using server = fastify();
    server.get('/', (_, reply) => feed.send(reply, {}, ref));
    const text = fetch(await server.listen()).then(answer => answer.text());
    await until(() => store.reads.head > 1);
    const events = [event(0, 'response.completed')];
    await log.append({ run: begun, first: 0, events, ending: ENDING });
    expect(numbersIn(await text)).toEqual([0]);
  });

  it('is read no longer when its caller on HTTP has left', async () => {
    await using server = fastify();
    server.get('/', (_, reply) => feed.send(reply, {}, REF));
    const leaving = new AbortController();
    const answer = await fetch(await server.listen(), { signal: leaving.signal });
    const first = await answer.body!.getReader().read();
    expect(first.done).toBe(false);
    leaving.abort();
    // It is polled as long as somebody follows it.
    for (let seen = -1; seen !== store.reads.head; await pause(1000)) seen = store.reads.head;
  });

  it('tells its callers of a shutdown', async () => {
    await using server = fastify();
    server.get('/', (_, reply) => feed.send(reply, {}, REF));
    const answer = await fetch(await server.listen());
    feed.onModuleDestroy();
    expect(await answer.text()).toMatch(
      /\nevent: error\n.*"code":"shutting_down".*\n\ndata: \[DONE\]\n\n$/,
    );
  });
});
