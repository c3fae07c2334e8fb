import { beforeEach, describe, expect, it } from '@jest/globals';
import { aRequest } from '../../../../test/support/response-schema.js';
import { type ResponseEvent } from '../../../contracts/openai/responses.js';
import { type ResponseAppend } from '../../../core/request/response-record.js';
import { type ResponseRecordStore } from '../../../platform/database/response-store.js';
import { type WorkRuns } from '../../stored-work/work-runs.js';
import { newResponse } from '../parse/response-object.js';
import { ResponseWriter } from '../writer/response-writer.js';
import { type ResponseEventLog } from './response-event-log.js';
import { type ResponseRecords } from './response-records.js';
import { ResponseRuns } from './response-runs.js';

const REF = { tenant: 't', id: 'resp_1' };
const DAY_MS = 86_400_000;
const head = { id: 'resp_1', created_at: 100, model: 'm', service_tier: 'default' };
const writer = () => new ResponseWriter(newResponse(aRequest({ background: true }), head));

describe('the runs of stored responses', () => {
  let isOpen: boolean;
  let status: string | undefined;
  let background: boolean;
  let events: ResponseEvent[];
  let log: string[];
  let appends: ResponseAppend[];
  let reads: number[];
  let runs: ResponseRuns;

  beforeEach(() => {
    [isOpen, status, background] = [true, 'in_progress', true];
    [log, appends, reads, events] = [[], [], [], []];
    const began = writer();
    events = [...began.queued(), ...began.begin()].map(event => ({ ...event, token_ids: [7] }));
    const store = {
      begin: () => Promise.resolve(isOpen ? { epoch: 1 } : undefined),
      head: () => Promise.resolve(status && { status }),
      remove: () => Promise.resolve(log.push('remove')),
    };
    const records = {
      response: () => Promise.resolve({ id: 'resp_1', background }),
      head: () => Promise.resolve({ status }),
    };
    const eventLog = {
      append: (append: ResponseAppend) => Promise.resolve(!!appends.push(append)),
      read: (_: object, after: number) => {
        reads.push(after);
        // Two at a time.
        return Promise.resolve(events.filter(({ sequence_number: at }) => at > after).slice(0, 2));
      },
    };
    const cancel = (_: object, reason: string) =>
      Promise.resolve(log.push(`cancel ${reason} after ${appends.length}`));
    runs = new ResponseRuns(
      store as unknown as ResponseRecordStore,
      records as unknown as ResponseRecords,
      eventLog as unknown as ResponseEventLog,
      { cancel } as unknown as WorkRuns,
    );
  });

  it('begin where the last one stood, with all of its events and tokens', async () => {
    const run = (await runs.begin(REF))!;
    expect(reads[0]).toBe(-1);
    expect(run.tokens).toHaveLength(events.length);
    expect(run.writer.nextSequence).toBe(events.length);
  });

  it('end with the response, whose events are stored for a day', async () => {
    const run = (await runs.begin(REF))!;
    const before = Date.now();
    await run.end(run.writer.cancel());
    const { ending, first } = appends[0]!;
    expect(first).toBe(events.length);
    expect(ending).toMatchObject({ status: 'cancelled', outputBytes: 2 });
    expect(ending!.eventsUntilMs).toBeGreaterThanOrEqual(before + DAY_MS);
  });

  it('do not begin for a response that has ended or is gone', async () => {
    isOpen = false;
    expect(await runs.begin(REF)).toBeUndefined();
    expect(await runs.endWith(REF, one => one.cancel())).toBe(false);
    expect(reads).toEqual([]);
  });

  it.each<[boolean, string | undefined, boolean | 'cancelled']>([
    [true, 'in_progress', true],
    [false, 'cancelled', 'cancelled'],
    [false, undefined, 'cancelled'],
    [false, 'completed', false],
  ])('stop (open: %p, status: %p): %p', async (open, state, stopped) => {
    [isOpen, status] = [open, state];
    expect(await runs.stop(REF)).toBe(stopped);
    expect(appends).toHaveLength(open ? 1 : 0);
  });

  it('are cancelled once what they have made is stored', async () => {
    expect(await runs.cancel(REF)).toMatchObject({ id: 'resp_1' });
    expect(log).toEqual(['cancel client after 1']);
    background = false;
    await expect(runs.cancel(REF)).rejects.toMatchObject({ param: 'response_id' });
    expect(log).toHaveLength(1);
  });

  it.each([
    ['in_progress', ['remove', 'cancel client after 0']],
    ['completed', ['remove']],
  ])('are stopped with a response that is removed: %s', async (state, done) => {
    status = state;
    await runs.remove(REF);
    expect(log).toEqual(done);
  });
});
