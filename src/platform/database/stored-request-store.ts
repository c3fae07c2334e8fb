import {
  type Expression,
  type ExpressionBuilder,
  type ExpressionWrapper,
  type RawBuilder,
  sql,
  type SqlBool,
} from 'kysely';
import type {
  EndOutcome,
  StoredAttempt,
  StoredEnd,
  StoredEnding,
  StoredLease,
  StoredRef,
  StoredRequest,
  NewStoredRequest,
} from '../../core/request/stored-request.js';
import { columnsOf, DatabaseStore, equals, changesRows } from './database-store.js';
import { type Database } from './schema.js';

const ENDED: readonly StoredEnd[] = ['completed', 'failed', 'cancelled'];
const BAD_ENDS: readonly StoredEnd[] = ['failed', 'cancelled'];
/** The lease of a row that its gateway gave back. */
const RELEASED_MS = sql<number>`0`;

/**
 * Stored requests on SQLite or Postgres. Every step is one statement; the primary key
 * decides between two that come at once.
 */
export class StoredRequestStore extends DatabaseStore {
  /** One wins of those that come at once. What ended badly, what has expired, and what waited on a gateway that died make room for a new attempt. */
  async open(
    request: NewStoredRequest,
    lease: StoredLease,
  ): Promise<{
    /** False: `request` is the one that came before. */
    readonly created: boolean;
    readonly request: StoredRequest;
    /** Rows that made room: their blobs are unreferenced now. */
    readonly replaced: readonly StoredRequest[];
  }> {
    for (;;) {
      const replaced = await this.#makeRoom(request, lease.isPatient);
      const row = await this.db
        .insertInto('kept_requests')
        .values({
          ...request,
          owner: lease.owner,
          attempts: 1,
          losses: 0,
          cancelling: false,
          leaseUntilMs: this.after(lease.leaseMs),
        })
        .onConflict(conflict => conflict.columns(['tenant', 'name']).doNothing())
        .returning(REQUEST)
        .executeTakeFirst();
      if (row) return { created: true, request: row, replaced };
      const earlier = await this.find(request);
      if (earlier) return { created: false, request: earlier, replaced };
    }
  }

  async find({ tenant, name }: StoredRef): Promise<StoredRequest | undefined> {
    const row = await this.db
      .selectFrom('kept_requests')
      .select([...REQUEST, 'leaseUntilMs', this.now.as('nowMs')])
      .where(equals({ tenant, name }))
      .executeTakeFirst();
    if (!row) return undefined;
    const { leaseUntilMs, nowMs, ...request } = row;
    return { ...request, lapsed: leaseUntilMs <= nowMs };
  }

  /** The latest of that id. @param tenant undefined: of any tenant */
  findById(requestId: string, tenant: string | undefined): Promise<StoredRequest | undefined> {
    return this.db
      .selectFrom('kept_requests')
      .select(REQUEST)
      .where('requestId', '=', requestId)
      .$if(tenant !== undefined, query => query.where('tenant', '=', tenant!))
      .orderBy('createdAtMs', 'desc')
      .limit(1)
      .executeTakeFirst();
  }

  /** Its body is stored. False: the lease was lost. */
  async markReceived(
    attempt: StoredAttempt,
    received: Pick<StoredRequest, 'fingerprint' | 'body'>,
  ): Promise<boolean> {
    return changesRows(
      this.#open(attempt)
        .where('attempts', '=', attempt.attempts)
        .set({ ...received, status: 'running' }),
    );
  }

  /** Prolongs everything that `owner` holds, and resolves with it. */
  renewLeases({ owner, leaseMs }: StoredLease): Promise<readonly StoredRequest[]> {
    return this.#heldBy(owner)
      .set({ leaseUntilMs: this.after(leaseMs) })
      .returning(REQUEST)
      .execute();
  }

  /** May be repeated when its outcome is unknown. */
  async end(attempt: StoredAttempt, ending: StoredEnding): Promise<EndOutcome> {
    const { status, answer, keepMs, fingerprint } = ending;
    const isEnded = await changesRows(
      this.#open(attempt)
        .$if(status === 'failed', query => query.where('attempts', '=', attempt.attempts))
        .$if(status === 'completed', query => query.where('cancelling', '=', false))
        .set({
          fingerprint,
          status,
          attempts: attempt.attempts,
          answer,
          endedAtMs: this.now,
          expiresAtMs: this.after(keepMs),
          owner: null,
        }),
    );
    return isEnded ? 'ended' : this.#outcome(attempt, status);
  }

  /** Removes a request as if it had never been sent. */
  async drop({ tenant, name, blob, attempts }: StoredAttempt): Promise<void> {
    await this.db
      .deleteFrom('kept_requests')
      .where(equals({ tenant, name, blob, attempts }))
      .execute();
  }

  /** Another gateway may go on at once. @param attempt it could not be ended here; absent: `owner` ends in order and gives back everything that it holds */
  async release(owner: string, attempt?: StoredAttempt): Promise<void> {
    await this.#heldBy(owner)
      .$if(attempt !== undefined, query =>
        query.where(equals({ blob: attempt!.blob, attempts: attempt!.attempts })),
      )
      .set(({ eb }) => ({
        leaseUntilMs: RELEASED_MS,
        owner: null,
        ...(attempt && { losses: eb('losses', '+', 1) }),
      }))
      .execute();
  }

  /** One `async` request whose gateway is silent, or gave it back; attempts and losses are counted. */
  takeOver({ owner, leaseMs }: StoredLease): Promise<StoredRequest | undefined> {
    return this.db
      .updateTable('kept_requests')
      .set(({ eb }) => ({
        owner,
        leaseUntilMs: this.after(leaseMs),
        attempts: eb('attempts', '+', 1),
        losses: eb
          .case()
          .when('owner', 'is', null)
          .then(eb.ref('losses'))
          .else(eb('losses', '+', 1))
          .end(),
      }))
      .where(
        this.#oldest(1, row =>
          row.and([
            equals<'kept_requests'>({ mode: 'async', status: 'running' })(row),
            row('leaseUntilMs', '<=', this.now),
          ]),
        ),
      )
      .returning(REQUEST)
      .executeTakeFirst();
  }

  /** True when it runs, wherever: from then on it cannot complete. */
  async requestCancel(tenant: string, requestId: string): Promise<boolean> {
    return changesRows(
      this.db
        .updateTable('kept_requests')
        .set({ cancelling: true })
        .where(equals({ tenant, requestId: requestId, mode: 'async', status: 'running' })),
    );
  }

  /** Which of `blobs` a row names. */
  async referenced(blobs: readonly string[]): Promise<ReadonlySet<string>> {
    if (blobs.length === 0) return new Set();
    const rows = await this.db
      .selectFrom('kept_requests')
      .select('blob')
      .where('blob', 'in', blobs)
      .execute();
    return new Set(rows.map(({ blob }) => blob));
  }

  /** Removes what has expired and what was never accepted. */
  expire(limit: number): Promise<readonly StoredRequest[]> {
    const isOverNow = (row: RequestBuilder) => isOver(row, this.now);
    return this.db
      .deleteFrom('kept_requests')
      .where(this.#oldest(limit, isOverNow))
      .where(isOverNow)
      .returning(REQUEST)
      .execute();
  }

  /** The oldest rows that meet a condition, and that no other gateway changes now. */
  #oldest(limit: number, meets: (row: RequestBuilder) => Expression<SqlBool>) {
    return (row: RequestBuilder) =>
      row(
        row.refTuple('tenant', 'name'),
        'in',
        row
          .selectFrom('kept_requests')
          .select(['tenant', 'name'])
          .where(meets)
          .orderBy('createdAtMs')
          .limit(limit)
          .$if(this.locksRows, query => query.forUpdate().skipLocked())
          .$asTuple('tenant', 'name'),
      );
  }

  #makeRoom({ tenant, name }: StoredRef, isPatient = false): Promise<readonly StoredRequest[]> {
    const lapsedMs = isPatient ? RELEASED_MS : this.now;
    return this.db
      .deleteFrom('kept_requests')
      .where(equals({ tenant, name }))
      .where(row => row.or([row('status', 'in', BAD_ENDS), isOver(row, this.now, lapsedMs)]))
      .returning(REQUEST)
      .execute();
  }

  /**
   * Why nothing was written, or that an earlier write had been, whose outcome
   * was not known.
   */
  async #outcome(attempt: StoredAttempt, status: StoredEnd): Promise<EndOutcome> {
    const now = await this.find(attempt);
    if (now?.blob !== attempt.blob) return 'lost';
    if (now.answer) return now.attempts === attempt.attempts ? 'ended' : 'lost';
    return status === 'completed' ? 'cancelling' : 'lost';
  }

  #heldBy(owner: string) {
    return this.db
      .updateTable('kept_requests')
      .where('owner', '=', owner)
      .where('status', 'not in', ENDED);
  }

  #open({ tenant, name, blob }: StoredAttempt) {
    return this.db
      .updateTable('kept_requests')
      .where(equals({ tenant, name, blob }))
      .where('status', 'not in', ENDED);
  }
}

const REQUEST = columnsOf('kept_requests', 'owner', 'leaseUntilMs');

type RequestBuilder = ExpressionBuilder<Database, 'kept_requests'>;

/** Expired; or without a holder, and only its caller could run it again. */
function isOver(
  row: RequestBuilder,
  nowMs: RawBuilder<number>,
  lapsedMs = nowMs,
): ExpressionWrapper<Database, 'kept_requests', SqlBool> {
  const ended = row.and([row('status', 'in', ENDED), row('expiresAtMs', '<=', nowMs)]);
  const callersOnly = row.or([row('mode', '=', 'waiting'), row('status', '=', 'receiving')]);
  return row.or([
    ended,
    row.and([row('status', 'not in', ENDED), row('leaseUntilMs', '<=', lapsedMs), callersOnly]),
  ]);
}
