import { type AuditEntry } from '../../core/access/audit-entry.js';
import { DatabaseStore, recordOf, rowOf } from './database-store.js';
import { AUDIT } from './schema.js';

/** The audit log. Ids grow with time: newest first is by descending id. */
export class AuditStore extends DatabaseStore {
  async add(entry: AuditEntry): Promise<void> {
    await this.db
      .insertInto('audit')
      .values(rowOf(AUDIT, { ...entry, keyId: entry.key }))
      .execute();
  }

  /** Newest first. @param after id of the entry before the first */
  async list({
    limit,
    after,
  }: {
    limit: number;
    after?: string;
  }): Promise<readonly AuditEntry[]> {
    const rows = await this.db
      .selectFrom('audit')
      .selectAll()
      .$if(after !== undefined, query => query.where('id', '<', after!))
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return rows.map(row => {
      const { keyId: key, ...entry } = recordOf<AuditEntry & { readonly keyId: string }>(
        AUDIT,
        row,
      );
      return { ...entry, key };
    });
  }

  async removeBefore(atMs: number): Promise<void> {
    await this.db.deleteFrom('audit').where('at_ms', '<', atMs).execute();
  }
}
