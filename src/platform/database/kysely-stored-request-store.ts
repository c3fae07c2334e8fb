import { type ExpressionBuilder, type ExpressionWrapper, type Kysely, sql, type SqlBool } from 'kysely';
import {
  type StoredAttempt,
  type StoredEnd,
  type StoredEnding,
  type StoredLease,
  type StoredRef,
  type StoredRequest,
  type StoredRequestStore,
  type NewStoredRequest,
  type Opened,
} from '../../core/request/stored-request.port.js';
import { storedRequestOf, storedRequestRowOf } from './stored-request-row.js';
import { type OpenDatabase } from './open-database.js';
import { type Database } from './schema.js';

const ENDED: readonly StoredEnd[] = ['completed', 'failed', 'cancelled'];
const BAD_ENDS: readonly StoredEnd[] = ['failed', 'cancelled'];

/**
 * Stored requests on SQLite or Postgres. Every step is one statement; the primary key decides between two that come at
 * once.
 */
export class KyselyStoredRequestStore implements StoredRequestStore {
  readonly #db: Kysely<Database>;
  readonly #skipsLocked: boolean;

  constructor({ db, dialect }: OpenDatabase) {
    this.#db = db;
    this.#skipsLocked = dialect === 'postgres';
  }

  async open(request: NewStoredRequest, lease: StoredLease): Promise<Opened> {
    for (;;) {
      const replaced = await this.#makeRoom(request, lease.nowMs);
      const row = await this.#db
        .insertInto('kept_requests')
        .values(storedRequestRowOf(request, lease))
        .onConflict(conflict => conflict.columns(['tenant', 'name']).doNothing())
        .returningAll()
        .executeTakeFirst();
      if (row) return { created: true, request: storedRequestOf(row), replaced };
      const earlier = await this.find(request);
      if (earlier) return { created: false, request: earlier, replaced };
    }
  }

  async find({ tenant, name }: StoredRef): Promise<StoredRequest | undefined> {
    const row = await this.#db
      .selectFrom('kept_requests')
      .selectAll()
      .where('tenant', '=', tenant)
      .where('name', '=', name)
      .executeTakeFirst();
    return row && storedRequestOf(row);
  }

  async findById(requestId: string, tenant: string | undefined): Promise<StoredRequest | undefined> {
    const row = await this.#db
      .selectFrom('kept_requests')
      .selectAll()
      .where('request_id', '=', requestId)
      .$if(tenant !== undefined, query => query.where('tenant', '=', tenant!))
      .orderBy('created_at_ms', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row && storedRequestOf(row);
  }

  async markReceived(attempt: StoredAttempt, owner: string, fingerprint: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#held(attempt, owner)
      .set({ status: 'running', fingerprint })
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  async renewLeases({ owner, nowMs, leaseMs }: StoredLease): Promise<readonly StoredRequest[]> {
    const rows = await this.#db
      .updateTable('kept_requests')
      .set({ lease_until_ms: nowMs + leaseMs })
      .where('owner', '=', owner)
      .where('status', 'not in', ENDED)
      .returningAll()
      .execute();
    return rows.map(storedRequestOf);
  }

  async end(attempt: StoredAttempt, owner: string, ending: StoredEnding): Promise<boolean> {
    const { status, answer, endedAtMs, expiresAtMs, fingerprint } = ending;
    const { numUpdatedRows } = await this.#held(attempt, owner)
      .set({
        ...(fingerprint !== undefined && { fingerprint }),
        status,
        answer: JSON.stringify(answer),
        ended_at_ms: endedAtMs,
        expires_at_ms: expiresAtMs,
        owner: null,
      })
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  async drop({ tenant, name, blob, attempts }: StoredAttempt, owner: string): Promise<void> {
    await this.#db
      .deleteFrom('kept_requests')
      .where('tenant', '=', tenant)
      .where('name', '=', name)
      .where('owner', '=', owner)
      .where('blob', '=', blob)
      .where('attempts', '=', attempts)
      .execute();
  }

  async release(attempt: StoredAttempt, owner: string): Promise<void> {
    await this.#held(attempt, owner).set({ lease_until_ms: 0, owner: null }).execute();
  }

  async takeOver({ owner, nowMs, leaseMs }: StoredLease): Promise<StoredRequest | undefined> {
    const row = await this.#db
      .updateTable('kept_requests')
      .set(({ eb }) => ({ owner, lease_until_ms: nowMs + leaseMs, attempts: eb('attempts', '+', 1) }))
      .where(row =>
        row(
          row.refTuple('tenant', 'name'),
          'in',
          row
            .selectFrom('kept_requests')
            .select(['tenant', 'name'])
            .where('mode', '=', 'async')
            .where('status', '=', 'running')
            .where('lease_until_ms', '<=', nowMs)
            .orderBy('created_at_ms')
            .limit(1)
            .$if(this.#skipsLocked, query => query.forUpdate().skipLocked())
            .$asTuple('tenant', 'name'),
        ),
      )
      .returningAll()
      .executeTakeFirst();
    return row && storedRequestOf(row);
  }

  async requestCancel(tenant: string, requestId: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#db
      .updateTable('kept_requests')
      .set({ cancelling: 1 })
      .where('tenant', '=', tenant)
      .where('request_id', '=', requestId)
      .where('mode', '=', 'async')
      .where('status', '=', 'running')
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  async nowMs(): Promise<number> {
    if (!this.#skipsLocked) return Date.now();
    const { rows } = await sql<{
      now: number;
    }>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as now`.execute(this.#db);
    return rows[0]!.now;
  }

  async referenced(blobs: readonly string[]): Promise<ReadonlySet<string>> {
    if (blobs.length === 0) return new Set();
    const rows = await this.#db.selectFrom('kept_requests').select('blob').where('blob', 'in', blobs).execute();
    return new Set(rows.map(({ blob }) => blob));
  }

  async expire(nowMs: number, limit: number): Promise<readonly StoredRequest[]> {
    const rows = await this.#db
      .selectFrom('kept_requests')
      .select(['tenant', 'name', 'created_at_ms'])
      .where(row => isOver(row, nowMs))
      .limit(limit)
      .execute();
    const removed: StoredRequest[] = [];
    for (const { tenant, name, created_at_ms } of rows) {
      const gone = await this.#db
        .deleteFrom('kept_requests')
        .where('tenant', '=', tenant)
        .where('name', '=', name)
        .where('created_at_ms', '=', created_at_ms)
        .where(row => isOver(row, nowMs))
        .returningAll()
        .executeTakeFirst();
      if (gone) removed.push(storedRequestOf(gone));
    }
    return removed;
  }

  async #makeRoom({ tenant, name }: StoredRef, nowMs: number): Promise<readonly StoredRequest[]> {
    const rows = await this.#db
      .deleteFrom('kept_requests')
      .where('tenant', '=', tenant)
      .where('name', '=', name)
      .where(row => row.or([row('status', 'in', BAD_ENDS), isOver(row, nowMs)]))
      .returningAll()
      .execute();
    return rows.map(storedRequestOf);
  }

  #held({ tenant, name, blob, attempts }: StoredAttempt, owner: string) {
    return this.#db
      .updateTable('kept_requests')
      .where('tenant', '=', tenant)
      .where('name', '=', name)
      .where('owner', '=', owner)
      .where('blob', '=', blob)
      .where('attempts', '=', attempts)
      .where('status', 'not in', ENDED);
  }
}

/** Expired; or without a holder, and only its caller could run it again. */
function isOver(
  row: ExpressionBuilder<Database, 'kept_requests'>,
  nowMs: number,
): ExpressionWrapper<Database, 'kept_requests', SqlBool> {
  const ended = row.and([row('status', 'in', ENDED), row('expires_at_ms', '<=', nowMs)]);
  const callersOnly = row.or([row('mode', '=', 'waiting'), row('status', '=', 'receiving')]);
  return row.or([ended, row.and([row('status', 'not in', ENDED), row('lease_until_ms', '<=', nowMs), callersOnly])]);
}
