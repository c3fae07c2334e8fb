import { type Kysely } from 'kysely';
import { type AuditEntry, type AuditStore } from '../../core/access/audit-store.port.js';
import { type OpenDatabase } from './open-database.js';
import { type Database } from './schema.js';

/** The audit log. Ids grow with time: newest first is by descending id. */
export class KyselyAuditStore implements AuditStore {
  readonly #db: Kysely<Database>;

  constructor({ db }: OpenDatabase) {
    this.#db = db;
  }

  async add({ atMs, key, requestId, ...entry }: AuditEntry): Promise<void> {
    await this.#db
      .insertInto('audit')
      .values({ ...entry, at_ms: atMs, key_id: key, request_id: requestId })
      .execute();
  }

  async list({ limit, after }: { limit: number; after?: string }): Promise<readonly AuditEntry[]> {
    const rows = await this.#db
      .selectFrom('audit')
      .selectAll()
      .$if(after !== undefined, query => query.where('id', '<', after!))
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return rows.map(({ at_ms, key_id, request_id, ...entry }) => ({
      ...entry,
      ...{ atMs: at_ms, key: key_id, requestId: request_id },
    }));
  }

  async removeBefore(atMs: number): Promise<void> {
    await this.#db.deleteFrom('audit').where('at_ms', '<', atMs).execute();
  }
}
