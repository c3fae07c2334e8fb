import type { Expression, ExpressionBuilder, SqlBool, Kysely } from 'kysely';
import { UNFINISHED_STATUSES } from '../../core/jobs/batch-status.js';
import type {
  FilePurpose,
  Page,
  PageRequest,
  StoredFile,
  Upload,
  UploadPart,
} from '../../core/jobs/job.ports.js';
import {
  DatabaseStore,
  equals,
  changesRows,
  pageOf,
  recordOf,
  rowOf,
} from './database-store.js';
import { type Database } from './schema.js';

/**
 * Who makes or removes files of a batch: nothing happens unless this epoch still
 * holds it (D-13).
 */
interface JobHolder {
  readonly jobId: string;
  readonly epoch: number;
}

/**
 * The file table. A row without its blob cannot be: rows are made after the blob, and
 * blobs go after the row.
 */
export class FileStore extends DatabaseStore {
  async create(file: StoredFile): Promise<void> {
    await this.db.insertInto('files').values(rowOf('files', file)).execute();
  }

  /** A file that a batch makes. @returns false when that epoch does not hold the batch any more: nothing was written One statement: a process that is frozen before it finds out that it lost the batch, one that is frozen in it holds no lock. */
  async createFor(holder: JobHolder, file: StoredFile): Promise<boolean> {
    const row = rowOf('files', { ...file, batchId: holder.jobId });
    const columns = Object.keys(row) as (keyof typeof row)[];
    return changesRows(
      this.db
        .insertInto('files')
        .columns(columns)
        .expression(eb =>
          eb
            .selectFrom('batches')
            .select(columns.map(column => eb.val(row[column]).as(column)))
            .where(held(holder)),
        ),
    );
  }

  /** Ids of the files that a batch made, oldest first. @param after id of the last one of the page before */
  async madeFor(
    jobId: string,
    page: { after?: string; limit: number },
  ): Promise<readonly string[]> {
    const rows = this.db.selectFrom('files').select('id').where('batch_id', '=', jobId);
    const { data } = await pageOf(rows, { order: 'asc', ...page }, ({ id }) => id);
    return data;
  }

  /** Removes files that the batch made; none when that epoch does not hold the batch any more. */
  async removeFor(holder: JobHolder, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.db
      .deleteFrom('files')
      .where('id', 'in', ids)
      .where('batch_id', '=', holder.jobId)
      .where(eb => eb.exists(eb.selectFrom('batches').select('id').where(held(holder))))
      .execute();
  }

  async find(tenant: string, id: string): Promise<StoredFile | undefined> {
    const row = await this.#of(tenant).where('id', '=', id).executeTakeFirst();
    return row && fileOf(row);
  }

  async list(
    tenant: string,
    page: PageRequest & { purpose?: FilePurpose },
  ): Promise<Page<StoredFile> | undefined> {
    if (page.after !== undefined && !(await this.find(tenant, page.after)))
      return undefined;
    const rows = this.#of(tenant).$if(page.purpose !== undefined, query =>
      query.where('purpose', '=', page.purpose!),
    );
    return pageOf(rows, page, fileOf);
  }

  /** Bytes of all files of a tenant. */
  bytesOf(tenant: string): Promise<number> {
    return this.bytesIn('files', tenant);
  }

  /** Removes the row; the blob goes by garbage collection, so that a crash in between leaves an orphan and never a dangling row. */
  async remove(tenant: string, id: string): Promise<boolean> {
    return changesRows(this.db.deleteFrom('files').where(equals({ tenant, id })));
  }

  /** Removes rows past their expiry that no unfinished batch uses. */
  async expire(nowMs: number, limit: number): Promise<readonly StoredFile[]> {
    const rows = await this.db
      .deleteFrom('files')
      .where('id', 'in', this.#expired(nowMs, limit))
      .returningAll()
      .execute();
    return rows.map(fileOf);
  }

  #expired(nowMs: number, limit: number) {
    const inUse = this.db
      .selectFrom('batches')
      .select('input_file_id')
      .where('status', 'in', UNFINISHED_STATUSES);
    return this.db
      .selectFrom('files')
      .select('id')
      .where('expires_at_ms', '<=', nowMs)
      .where('id', 'not in', inUse)
      .orderBy('expires_at_ms')
      .limit(limit);
  }

  /** Which of these blob keys a row names. */
  async referenced(blobKeys: readonly string[]): Promise<ReadonlySet<string>> {
    if (blobKeys.length === 0) return new Set();
    const files = this.db
      .selectFrom('files')
      .select('blob_key')
      .where('blob_key', 'in', blobKeys);
    const parts = this.db
      .selectFrom('upload_parts')
      .select('blob_key')
      .where('blob_key', 'in', blobKeys);
    const rows = await files.union(parts).execute();
    return new Set(rows.map(({ blob_key }) => blob_key));
  }

  #of(tenant: string) {
    return this.db.selectFrom('files').selectAll().where('tenant', '=', tenant);
  }
}

/** Of the row in the job table. */
const held =
  ({ jobId, epoch }: JobHolder) =>
  (eb: ExpressionBuilder<Database, 'batches'>): Expression<SqlBool> =>
    eb.and([
      eb('batches.id', '=', jobId),
      eb('batches.epoch', '=', epoch),
      eb('batches.status', 'in', UNFINISHED_STATUSES),
    ]);

const fileOf = (row: object): StoredFile => recordOf('files', row, ['batch_id']);

/** Multi-part uploads. */
export class UploadStore extends DatabaseStore {
  async create(upload: Upload): Promise<void> {
    await this.db.insertInto('uploads').values(rowOf('uploads', upload)).execute();
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
        .values(rowOf('upload_parts', part))
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
    return rows.map(row => recordOf('upload_parts', row));
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
) =>
  changesRows(
    db
      .updateTable('uploads')
      .set(values)
      .where(equals({ id, status: 'pending' })),
  );

const uploadOf = (row: object): Upload => recordOf('uploads', row);
