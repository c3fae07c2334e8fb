import { type ExpressionBuilder, type Kysely, type UpdateObject } from 'kysely';
import type { KeyChange, StoredKey } from '../../core/access/stored-key.js';
import { DatabaseStore, changesRows } from './database-store.js';
import type { Database, EndedSession, KeyRow } from './schema.js';

/**
 * The table of API keys. A change and the new version are one transaction: whoever sees
 * the version sees the change.
 */
export class KeyStore extends DatabaseStore {
  /** False: a key of that id exists. */
  create(key: StoredKey): Promise<boolean> {
    const { replaced, ...fields } = key;
    const row = {
      ...fields,
      replacedSha256: replaced?.sha256,
      replacedUntilMs: replaced?.untilMs,
    };
    return this.#change(db =>
      changesRows(
        db
          .insertInto('api_keys')
          .values(row)
          .onConflict(conflict => conflict.column('id').doNothing()),
      ),
    );
  }

  async find(id: string): Promise<StoredKey | undefined> {
    const row = await this.#keys.where('id', '=', id).executeTakeFirst();
    return row && keyOf(row);
  }

  /** Newest first, revoked ones included. */
  async list(limit: number): Promise<readonly StoredKey[]> {
    const rows = await this.#keys
      .orderBy('createdAtMs', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return rows.map(keyOf);
  }

  /** All that are not revoked. */
  async live(): Promise<readonly StoredKey[]> {
    const rows = await this.#keys.where('revokedAtMs', 'is', null).execute();
    return rows.map(keyOf);
  }

  async countLive(): Promise<number> {
    const { count } = await this.db
      .selectFrom('api_keys')
      .select(eb => eb.fn.countAll<number>().as('count'))
      .where('revokedAtMs', 'is', null)
      .executeTakeFirstOrThrow();
    return count;
  }

  async version(): Promise<number> {
    const row = await this.db.selectFrom('api_key_version').select('version').executeTakeFirst();
    return Number(row?.version ?? 0);
  }

  /** False: no such key, or it is revoked. */
  update(id: string, change: KeyChange): Promise<boolean> {
    return this.#changeLive(id, () => change);
  }

  /** False: no such key, or it is revoked. */
  rotate(
    id: string,
    {
      sha256,
      prefix,
      replacedUntilMs,
    }: Pick<StoredKey, 'sha256' | 'prefix'> & {
      /** How long the present secret stays valid; absent: it ends at once. */
      readonly replacedUntilMs?: number;
    },
  ): Promise<boolean> {
    const keep = replacedUntilMs !== undefined;
    return this.#changeLive(id, row => ({
      sha256,
      prefix,
      replacedSha256: keep ? row.ref('sha256') : null,
      replacedUntilMs: keep ? replacedUntilMs : null,
    }));
  }

  /** False: no such key, or it is revoked already. */
  revoke(id: string, atMs: number): Promise<boolean> {
    return this.#changeLive(id, () => ({
      revokedAtMs: atMs,
      replacedSha256: null,
      replacedUntilMs: null,
    }));
  }

  /** Does not raise the version. */
  async markUsed(ids: readonly string[], atMs: number): Promise<void> {
    if (ids.length === 0) return;
    await this.db
      .updateTable('api_keys')
      .set({ lastUsedAtMs: atMs })
      .where('id', 'in', ids)
      .where(eb => eb.or([eb('lastUsedAtMs', 'is', null), eb('lastUsedAtMs', '<', atMs)]))
      .execute();
  }

  /** Keeps it until it would have expired; those that have expired by `endedAtMs` are removed. */
  async endSession(session: EndedSession): Promise<void> {
    await this.db
      .deleteFrom('ended_sessions')
      .where('expiresAtMs', '<=', session.endedAtMs)
      .execute();
    await this.db
      .insertInto('ended_sessions')
      .values(session)
      .onConflict(conflict => conflict.column('sha256').doNothing())
      .execute();
  }

  /** Those that were ended at `fromMs` or later. */
  endedSessions(fromMs: number): Promise<readonly EndedSession[]> {
    return this.db
      .selectFrom('ended_sessions')
      .selectAll()
      .where('endedAtMs', '>=', fromMs)
      .execute();
  }

  get #keys() {
    return this.db.selectFrom('api_keys').selectAll();
  }

  #changeLive(
    id: string,
    change: (row: ExpressionBuilder<Database, 'api_keys'>) => UpdateObject<Database, 'api_keys'>,
  ): Promise<boolean> {
    return this.#change(db =>
      changesRows(
        db
          .updateTable('api_keys')
          .set(change)
          .where('id', '=', id)
          .where('revokedAtMs', 'is', null),
      ),
    );
  }

  #change(make: (db: Kysely<Database>) => Promise<boolean>): Promise<boolean> {
    return this.db.transaction().execute(async db => {
      const changed = await make(db);
      if (changed)
        await db
          .updateTable('api_key_version')
          .set(({ eb }) => ({ version: eb('version', '+', 1) }))
          .execute();
      return changed;
    });
  }
}

const keyOf = ({ replacedSha256: sha256, replacedUntilMs: untilMs, ...key }: KeyRow): StoredKey =>
  sha256 === undefined || untilMs === undefined ? key : { ...key, replaced: { sha256, untilMs } };
