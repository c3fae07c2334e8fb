import { type Kysely } from 'kysely';
import { type Upload, type UploadPart } from '../../core/jobs/job.ports.js';
import { DatabaseStore, equals, hasUpdated, recordOf, rowOf } from './database-store.js';
import { type Database, UPLOAD_PARTS, UPLOADS } from './schema.js';

/** Multi-part uploads. */
export class UploadStore extends DatabaseStore {
  async create(upload: Upload): Promise<void> {
    await this.db.insertInto('uploads').values(rowOf(UPLOADS, upload)).execute();
  }

  async find(tenant: string, id: string): Promise<Upload | undefined> {
    const row = await this.db
      .selectFrom('uploads')
      .selectAll()
      .where(equals({ tenant, id }))
      .executeTakeFirst();
    return row && uploadOf(row);
  }

  /** False: the upload is no longer pending. */
  async addPart(part: UploadPart): Promise<boolean> {
    return await this.db.transaction().execute(async transaction => {
      const { uploadId: id } = part;
      if (!(await setPending(transaction, id, { status: 'pending' }))) return false;
      await transaction
        .insertInto('upload_parts')
        .values(rowOf(UPLOAD_PARTS, part))
        .execute();
      return true;
    });
  }

  async parts(uploadId: string): Promise<readonly UploadPart[]> {
    const rows = await this.db
      .selectFrom('upload_parts')
      .selectAll()
      .where('upload_id', '=', uploadId)
      .orderBy('id')
      .execute();
    return rows.map(row => recordOf(UPLOAD_PARTS, row));
  }

  /** Ends a pending upload, once; the parts' rows go, their blobs by garbage collection. */
  async end(
    id: string,
    status: 'completed' | 'cancelled' | 'expired',
    fileId?: string,
  ): Promise<boolean> {
    return await this.db.transaction().execute(async transaction => {
      const ended = { status, file_id: fileId ?? null };
      if (!(await setPending(transaction, id, ended))) return false;
      await transaction.deleteFrom('upload_parts').where('upload_id', '=', id).execute();
      return true;
    });
  }

  /** Pending uploads past their expiry. */
  async expired(nowMs: number, limit: number): Promise<readonly Upload[]> {
    const rows = await this.db
      .selectFrom('uploads')
      .selectAll()
      .where('status', '=', 'pending')
      .where('expires_at_ms', '<=', nowMs)
      .limit(limit)
      .execute();
    return rows.map(uploadOf);
  }
}

/** False: it is not pending. */
const setPending = (
  db: Kysely<Database>,
  id: string,
  values: Partial<Database['uploads']>,
): Promise<boolean> =>
  hasUpdated(
    db
      .updateTable('uploads')
      .set(values)
      .where(equals({ id, status: 'pending' })),
  );

const uploadOf = (row: object): Upload => recordOf(UPLOADS, row);
