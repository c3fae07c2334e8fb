import { type Kysely } from 'kysely';

import type { StoredKey } from '../../core/access/stored-key.js';
import { DatabaseStore, changesRows, recordOf, rowOf } from './database-store.js';
import { type Database } from './schema.js';

/** A session of the console after its sign-out. */
interface EndedSession {
  /** SHA-256 of its token, 64 hexadecimal digits. */
  readonly sha256: string;
  readonly endedAtMs: number;
  readonly expiresAtMs: number;
}

/**
 * The table of API keys. A change and the new version are one transaction: whoever sees
 * the version sees the change.
 */
export class KeyStore extends DatabaseStore {
  /** False: a key of that id exists. */
  create(key: StoredKey): Promise<boolean> {
    const { replaced } = key;
    const row = rowOf('api_keys', {
      ...key,
      replacedSha256: replaced?.sha256,
      replacedUntilMs: replaced?.untilMs,
    });
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
    const row = await this.db
      .selectFrom('api_keys')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    return row && keyOf(row);
  }

  /** Newest first, revoked ones included. */
  async list(limit: number): Promise<readonly StoredKey[]> {
    const rows = await this.db
      .selectFrom('api_keys')
      .selectAll()
      .orderBy('created_at_ms', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return rows.map(keyOf);
  }

  /** All that are not revoked. */
  async live(): Promise<readonly StoredKey[]> {
    const rows = await this.db
      .selectFrom('api_keys')
      .selectAll()
      .where('revoked_at_ms', 'is', null)
      .execute();
    return rows.map(keyOf);
  }

  async countLive(): Promise<number> {
    const { count } = await this.db
      .selectFrom('api_keys')
      .select(eb => eb.fn.countAll<number | string>().as('count'))
      .where('revoked_at_ms', 'is', null)
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  async version(): Promise<number> {
    const row = await this.db
      .selectFrom('api_key_version')
      .select('version')
      .executeTakeFirst();
    return Number(row?.version ?? 0);
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
    return this.#change(db =>
      changesRows(
        db
          .updateTable('api_keys')
          .set(eb => ({
            sha256,
            prefix,
            replaced_sha256: keep ? eb.ref('sha256') : null,
            replaced_until_ms: keep ? replacedUntilMs : null,
          }))
          .where('id', '=', id)
          .where('revoked_at_ms', 'is', null),
      ),
    );
  }

  /** False: no such key, or it is revoked already. */
  revoke(id: string, atMs: number): Promise<boolean> {
    return this.#change(db =>
      changesRows(
        db
          .updateTable('api_keys')
          .set({ revoked_at_ms: atMs, replaced_sha256: null, replaced_until_ms: null })
          .where('id', '=', id)
          .where('revoked_at_ms', 'is', null),
      ),
    );
  }

  /** Does not raise the version. */
  async markUsed(ids: readonly string[], atMs: number): Promise<void> {
    if (ids.length === 0) return;
    await this.db
      .updateTable('api_keys')
      .set({ last_used_at_ms: atMs })
      .where('id', 'in', ids)
      .where(eb =>
        eb.or([eb('last_used_at_ms', 'is', null), eb('last_used_at_ms', '<', atMs)]),
      )
      .execute();
  }

  /** Keeps it until it would have expired; those that have expired by `endedAtMs` are removed. */
  async endSession(session: EndedSession): Promise<void> {
    await this.db
      .deleteFrom('ended_sessions')
      .where('expires_at_ms', '<=', session.endedAtMs)
      .execute();
    await this.db
      .insertInto('ended_sessions')
      .values(rowOf('ended_sessions', session))
      .onConflict(conflict => conflict.column('sha256').doNothing())
      .execute();
  }

  /** Those that were ended at `fromMs` or later. */
  async endedSessions(fromMs: number): Promise<readonly EndedSession[]> {
    const rows = await this.db
      .selectFrom('ended_sessions')
      .selectAll()
      .where('ended_at_ms', '>=', fromMs)
      .execute();
    return rows.map(row => recordOf('ended_sessions', row));
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

function keyOf(row: object): StoredKey {
  const {
    replacedSha256: sha256,
    replacedUntilMs: untilMs,
    ...key
  } = recordOf<
    StoredKey & {
      readonly replacedSha256?: string;
      readonly replacedUntilMs?: number;
    }
  >('api_keys', row);
  return sha256 === undefined || untilMs === undefined
    ? key
    : { ...key, replaced: { sha256, untilMs } };
}
