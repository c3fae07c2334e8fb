import { type Kysely, type Selectable } from 'kysely';
import { type FilePurpose, type Upload, type UploadPart, type UploadStore } from '../../core/jobs/job.ports.js';
import { present } from './batch-row.js';
import { type OpenDatabase } from './open-database.js';
import { type Database, type UploadPartsTable, type UploadsTable } from './schema.js';

/** Multi-part uploads. */
export class KyselyUploadStore implements UploadStore {
  readonly #db: Kysely<Database>;

  constructor({ db }: OpenDatabase) {
    this.#db = db;
  }

  async create(upload: Upload): Promise<void> {
    await this.#db.insertInto('uploads').values(rowOf(upload)).execute();
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

  async addPart({ id, uploadId, blobKey, bytes, createdAtMs }: UploadPart): Promise<boolean> {
    return await this.#db.transaction().execute(async transaction => {
      const { numUpdatedRows } = await transaction
        .updateTable('uploads')
        .set({ status: 'pending' })
        .where('id', '=', uploadId)
        .where('status', '=', 'pending')
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return false;
      const row = { id, upload_id: uploadId, blob_key: blobKey, bytes, created_at_ms: createdAtMs };
      await transaction.insertInto('upload_parts').values(row).execute();
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
    return rows.map(partOf);
  }

  async end(id: string, status: 'completed' | 'cancelled' | 'expired', fileId?: string): Promise<boolean> {
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

const rowOf = (upload: Upload): Selectable<UploadsTable> => ({
  id: upload.id,
  tenant: upload.tenant,
  purpose: upload.purpose,
  filename: upload.filename,
  mime_type: upload.mimeType,
  bytes: upload.bytes,
  status: upload.status,
  created_at_ms: upload.createdAtMs,
  expires_at_ms: upload.expiresAtMs,
  file_expires_after_s: upload.fileExpiresAfterS ?? null,
  file_id: upload.fileId ?? null,
});

const uploadOf = (row: Selectable<UploadsTable>): Upload => ({
  id: row.id,
  tenant: row.tenant,
  purpose: row.purpose as FilePurpose,
  filename: row.filename,
  mimeType: row.mime_type,
  bytes: row.bytes,
  status: row.status as Upload['status'],
  createdAtMs: row.created_at_ms,
  expiresAtMs: row.expires_at_ms,
  ...present({ fileExpiresAfterS: row.file_expires_after_s, fileId: row.file_id }),
});

const partOf = (row: Selectable<UploadPartsTable>): UploadPart => ({
  id: row.id,
  uploadId: row.upload_id,
  blobKey: row.blob_key,
  bytes: row.bytes,
  createdAtMs: row.created_at_ms,
});
