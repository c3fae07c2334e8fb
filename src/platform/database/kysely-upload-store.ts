import { type Kysely } from 'kysely';
import {
  type Upload,
  type UploadPart,
  type UploadStore,
} from '../../core/jobs/job.ports.js';
import { type OpenDatabase } from './open-database.js';
import { recordOf, rowOf } from './records.js';
import { type Database, UPLOAD_PARTS, UPLOADS } from './schema.js';

/** Multi-part uploads. */
export class KyselyUploadStore implements UploadStore {
  readonly #db: Kysely<Database>;

  constructor({ db }: OpenDatabase) {
    this.#db = db;
  }

  async create(upload: Upload): Promise<void> {
    await this.#db.insertInto('uploads').values(rowOf(UPLOADS, upload)).execute();
  }

  async find(tenant: string, id: string): Promise<Upload | undefined> {
    const row = await this.#db
      .selectFrom('uploads')
      .selectAll()
      .where('tenant', '=', tenant)
      .where('id', '=', id)
      .executeTakeFirst();
    return row && uploadOf(row);
  }

  async addPart(part: UploadPart): Promise<boolean> {
    return await this.#db.transaction().execute(async transaction => {
      const { numUpdatedRows } = await transaction
        .updateTable('uploads')
        .set({ status: 'pending' })
        .where('id', '=', part.uploadId)
        .where('status', '=', 'pending')
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return false;
      await transaction
        .insertInto('upload_parts')
        .values(rowOf(UPLOAD_PARTS, part))
        .execute();
      return true;
    });
  }

  async parts(uploadId: string): Promise<readonly UploadPart[]> {
    const rows = await this.#db
      .selectFrom('upload_parts')
      .selectAll()
      .where('upload_id', '=', uploadId)
      .orderBy('id')
      .execute();
    return rows.map(row => recordOf(UPLOAD_PARTS, row));
  }

  async end(
    id: string,
    status: 'completed' | 'cancelled' | 'expired',
    fileId?: string,
  ): Promise<boolean> {
    return await this.#db.transaction().execute(async transaction => {
      const { numUpdatedRows } = await transaction
        .updateTable('uploads')
        .set({ status, file_id: fileId ?? null })
        .where('id', '=', id)
        .where('status', '=', 'pending')
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return false;
      await transaction.deleteFrom('upload_parts').where('upload_id', '=', id).execute();
      return true;
    });
  }

  async expired(nowMs: number, limit: number): Promise<readonly Upload[]> {
    const rows = await this.#db
      .selectFrom('uploads')
      .selectAll()
      .where('status', '=', 'pending')
      .where('expires_at_ms', '<=', nowMs)
      .limit(limit)
      .execute();
    return rows.map(uploadOf);
  }
}

const uploadOf = (row: object): Upload => recordOf(UPLOADS, row);
