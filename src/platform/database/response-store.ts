import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import type { Kysely, Transaction } from 'kysely';
import type {
  ResponseAppend,
  ResponseEventGroup,
  ResponseProgress,
  ResponseRecord,
  ResponseRef,
  ResponseRun,
} from '../../core/request/response-record.js';
import { columnsOf, DatabaseStore, equals, changesRows } from './database-store.js';
import { type Database } from './schema.js';

const OPEN = ['queued', 'in_progress'] as const;
/** The response has not ended, or its events are removed. */
const NEVER_MS = Number.MAX_SAFE_INTEGER;

/**
 * Stored responses on SQLite or Postgres. A write names its run's epoch and its first
 * number: two can never mix.
 */
export class ResponseRecordStore extends DatabaseStore {
  /** @param events the first ones of a background response */
  async create(
    { request, input, response, ...record }: ResponseRecord,
    events: readonly string[],
  ): Promise<void> {
    const { tenant, id } = record;
    await this.db.transaction().execute(async db => {
      const bytes = Buffer.byteLength(input) + Buffer.byteLength(response);
      await db
        .insertInto('responses')
        .values({ ...record, bytes, eventsUntilMs: NEVER_MS })
        .execute();
      await db
        .insertInto('response_texts')
        .values({ tenant, id, request, input, response })
        .execute();
      if (events.length === 0) return;
      const group = groupOf(record, 0, events);
      await db.insertInto('response_events').values(group).execute();
    });
  }

  /** Undefined: unknown, deleted, expired, or of another tenant. */
  find({ tenant, id }: ResponseRef, nowMs: number): Promise<ResponseRecord | undefined> {
    return withTexts(this.db)
      .where('responses.tenant', '=', tenant)
      .where('responses.id', '=', id)
      .where('expiresAtMs', '>', nowMs)
      .executeTakeFirst();
  }

  /** The same without its texts, which may have megabytes. */
  async head({ tenant, id }: ResponseRef, nowMs: number): Promise<ResponseProgress | undefined> {
    const row = await this.db
      .selectFrom('responses')
      .select(['status', 'chainLength', 'chainBytes', 'nextSequence'])
      .select(row =>
        row
          .selectFrom('response_events')
          .select('firstSequence')
          .where(equals({ tenant, responseId: id, firstSequence: 0 }))
          .as('first'),
      )
      .where(equals({ tenant, id }))
      .where('expiresAtMs', '>', nowMs)
      .executeTakeFirst();
    if (!row) return undefined;
    const { first, ...progress } = row;
    return { ...progress, hasEvents: first !== undefined };
  }

  /** The conversation that ends with this response, newest first; incomplete when a part of it is gone. Lengths fall towards the beginning, so that no row can come twice. */
  chain({ tenant, id }: ResponseRef, nowMs: number): Promise<readonly ResponseRecord[]> {
    return this.db
      .withRecursive('chain', db =>
        db
          .selectFrom('responses')
          .selectAll()
          .where(equals({ tenant, id }))
          .where('expiresAtMs', '>', nowMs)
          .unionAll(
            db
              .selectFrom('responses')
              .innerJoin('chain', join =>
                join
                  .onRef('responses.tenant', '=', 'chain.tenant')
                  .onRef('responses.id', '=', 'chain.previousId'),
              )
              .selectAll('responses')
              .where('responses.expiresAtMs', '>', nowMs)
              .whereRef('responses.chainLength', '<', 'chain.chainLength'),
          ),
      )
      .selectFrom('chain')
      .innerJoin('response_texts', join =>
        join
          .onRef('response_texts.tenant', '=', 'chain.tenant')
          .onRef('response_texts.id', '=', 'chain.id'),
      )
      .select(RESPONSE.map(column => `chain.${column}` as const))
      .select(TEXTS)
      .orderBy('chainLength', 'desc')
      .execute();
  }

  /** Begins a run and ends all earlier ones. Undefined: the response has ended or is gone. */
  async begin({ tenant, id }: ResponseRef): Promise<ResponseRecord | undefined> {
    const begun = await this.db
      .updateTable('responses')
      .set(({ eb }) => ({ epoch: eb('epoch', '+', 1), status: 'in_progress' }))
      .where(equals({ tenant, id }))
      .where('status', 'in', OPEN)
      .returning(RESPONSE)
      .executeTakeFirst();
    const texts =
      begun &&
      (await this.db
        .selectFrom('response_texts')
        .select(TEXTS)
        .where(equals({ tenant, id }))
        .executeTakeFirst());
    return texts && { ...begun, ...texts };
  }

  /** In one transaction. @returns the runs that may go on; the others were replaced, or their response ended Rows are written in one order, so that two gateways cannot wait for each other. */
  async append(appends: readonly ResponseAppend[]): Promise<ReadonlySet<ResponseRun>> {
    const ordered = [...appends].sort((a, b) => (orderOf(a.run) < orderOf(b.run) ? -1 : 1));
    return this.db.transaction().execute(async db => {
      const held = new Set<ResponseRun>();
      for (const append of ordered) if (await appendOne(db, append)) held.add(append.run);
      return held;
    });
  }

  /** Events with numbers above `after`, in order. @param limit groups */
  async events(
    { tenant, id }: ResponseRef,
    after: number,
    limit: number,
  ): Promise<readonly ResponseEventGroup[]> {
    const rows = await this.db
      .selectFrom('response_events')
      .select(['firstSequence', 'events'])
      .where(equals({ tenant, responseId: id }))
      .where('lastSequence', '>', after)
      .orderBy('firstSequence')
      .limit(limit)
      .execute();
    return rows.map(({ firstSequence: first, events }) => {
      const lines = events.split('\n');
      const skipped = Math.max(0, after + 1 - first);
      return { first: first + skipped, events: lines.slice(skipped) };
    });
  }

  /** With its events. False: there was none. */
  remove({ tenant, id }: ResponseRef): Promise<boolean> {
    return this.db.transaction().execute(async db => {
      const row = db.deleteFrom('responses').where(equals({ tenant, id }));
      const isRemoved = await changesRows(row);
      await db.deleteFrom('response_texts').where(equals({ tenant, id })).execute();
      await removeEvents(db, { tenant, id });
      return isRemoved;
    });
  }

  /** Inputs and outputs of all that the tenant has stored. */
  bytesOf(tenant: string): Promise<number> {
    return this.bytesIn('responses', tenant);
  }

  /** Number of responses that have not ended, which are background responses. */
  async countOpen(): Promise<Readonly<Record<(typeof OPEN)[number], number>>> {
    const rows = await this.db
      .selectFrom('responses')
      .select(['status', ({ fn }) => fn.countAll<number>().as('count')])
      .where('status', 'in', OPEN)
      .groupBy('status')
      .execute();
    const counts = rows.map(({ status, count }) => [status, count] as const);
    return { queued: 0, in_progress: 0, ...Object.fromEntries(counts) };
  }

  /** Removes expired responses, and events that are no longer stored. @returns the number of responses */
  async expire(nowMs: number, limit: number): Promise<number> {
    const refs = await this.#due('expiresAtMs', nowMs, limit);
    for (const ref of refs) await this.remove(ref);
    for (const ref of await this.#due('eventsUntilMs', nowMs, limit)) {
      await removeEvents(this.db, ref);
      await this.db
        .updateTable('responses')
        .set({ eventsUntilMs: NEVER_MS })
        .where(equals({ tenant: ref.tenant, id: ref.id }))
        .execute();
    }
    return refs.length;
  }

  #due(
    column: 'expiresAtMs' | 'eventsUntilMs',
    nowMs: number,
    limit: number,
  ): Promise<ResponseRef[]> {
    return this.db
      .selectFrom('responses')
      .select(['tenant', 'id'])
      .where(column, '<=', nowMs)
      .limit(limit)
      .execute();
  }
}

/** False: another run, or the end, came before. */
async function appendOne(
  db: Transaction<Database>,
  { run, first, events, ending }: ResponseAppend,
): Promise<boolean> {
  const update = db
    .updateTable('responses')
    .set(({ eb }) => ({
      nextSequence: first + events.length,
      ...(ending && {
        status: ending.status,
        eventsUntilMs: ending.eventsUntilMs,
        chainBytes: eb('chainBytes', '+', ending.outputBytes),
        bytes: eb('bytes', '+', ending.outputBytes),
      }),
    }))
    .where(equals({ tenant: run.tenant, id: run.id, epoch: run.epoch }))
    .where('status', 'in', OPEN)
    .where('nextSequence', '=', first);
  if (!(await changesRows(update))) return isWritten(db, run, first + events.length);
  if (ending)
    await db
      .updateTable('response_texts')
      .set({ response: ending.response, request: null })
      .where(equals({ tenant: run.tenant, id: run.id }))
      .execute();
  if (events.length > 0)
    await db
      .insertInto('response_events')
      .values(groupOf(run, first, events))
      .execute();
  return true;
}

/**
 * By an earlier attempt at the same transaction whose outcome was not known: only this
 * run writes with its epoch.
 */
async function isWritten(
  db: Transaction<Database>,
  run: ResponseRun,
  next: number,
): Promise<boolean> {
  const row = await db
    .selectFrom('responses')
    .select('id')
    .where(equals({ tenant: run.tenant, id: run.id, epoch: run.epoch, nextSequence: next }))
    .executeTakeFirst();
  return row !== undefined;
}

const removeEvents = (db: Kysely<Database>, { tenant, id }: ResponseRef) =>
  db
    .deleteFrom('response_events')
    .where(equals({ tenant, responseId: id }))
    .execute();

const orderOf = ({ tenant, id }: ResponseRef) => writeJson([tenant, id]);

const groupOf = ({ tenant, id }: ResponseRef, first: number, events: readonly string[]) => ({
  tenant,
  responseId: id,
  firstSequence: first,
  lastSequence: first + events.length - 1,
  events: events.join('\n'),
});

const RESPONSE = columnsOf('responses', 'eventsUntilMs', 'bytes');
const TEXTS = columnsOf('response_texts', 'tenant', 'id');

const withTexts = (db: Kysely<Database>) =>
  db
    .selectFrom('responses')
    .innerJoin('response_texts', join =>
      join
        .onRef('response_texts.tenant', '=', 'responses.tenant')
        .onRef('response_texts.id', '=', 'responses.id'),
    )
    .select(RESPONSE.map(column => `responses.${column}` as const))
    .select(TEXTS);
