import type { Expression, ExpressionBuilder, SqlBool, Kysely, Updateable } from 'kysely';
import { UNFINISHED_STATUSES } from '../../core/jobs/batch-status.js';
import type {
  FilePurpose,
  Page,
  PageRequest,
  StoredFile,
  Upload,
  UploadPart,
} from '../../core/jobs/job.ports.js';
import { columnsOf, DatabaseStore, equals, changesRows, pageOf } from './database-store.js';
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
    await this.db.insertInto('files').values(file).execute();
  }

  /** A file that a batch makes. @returns false when that epoch does not hold the batch any more: nothing was written One statement: a process that is frozen before it finds out that it lost the batch, one that is frozen in it holds no lock. */
  async createFor(holder: JobHolder, file: StoredFile): Promise<boolean> {
    const row = { ...file, batchId: holder.jobId };
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
    const rows = this.db.selectFrom('files').select('id').where('batchId', '=', jobId);
    const { data } = await pageOf(rows, { order: 'asc', ...page });
    return data.map(({ id }) => id);
  }

  /** Removes files that the batch made; none when that epoch does not hold the batch any more. */
  async removeFor(holder: JobHolder, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.db
      .deleteFrom('files')
      .where('id', 'in', ids)
      .where('batchId', '=', holder.jobId)
      .where(eb => eb.exists(eb.selectFrom('batches').select('id').where(held(holder))))
      .execute();
  }

  find(tenant: string, id: string): Promise<StoredFile | undefined> {
    return this.#of(tenant).where('id', '=', id).executeTakeFirst();
  }

  async list(
    tenant: string,
    page: PageRequest & { purpose?: FilePurpose },
  ): Promise<Page<StoredFile> | undefined> {
    if (page.after !== undefined && !(await this.find(tenant, page.after))) return undefined;
    const rows = this.#of(tenant).$if(page.purpose !== undefined, query =>
      query.where('purpose', '=', page.purpose!),
    );
    return pageOf(rows, page);
  }

  /**
   * Bytes of all files of a tenant, and of the parts of its uploads.
   * @param besides an upload whose parts do not count
   */
  async bytesOf(tenant: string, besides = ''): Promise<number> {
    const parts = await this.db
      .selectFrom('upload_parts')
      .innerJoin('uploads', 'uploads.id', 'upload_parts.uploadId')
      .select(row => row.fn.sum<number | string | null>('upload_parts.bytes').as('total'))
      .where('uploads.tenant', '=', tenant)
      .where('uploads.id', '!=', besides)
      .executeTakeFirstOrThrow();
    return Number(parts.total ?? 0) + (await this.bytesIn('files', tenant));
  }

  /** Removes the row; the blob goes by garbage collection, so that a crash in between leaves an orphan and never a dangling row. */
  async remove(tenant: string, id: string): Promise<boolean> {
    return changesRows(this.db.deleteFrom('files').where(equals({ tenant, id })));
  }

  /** Removes rows past their expiry that no unfinished batch uses. */
  expire(nowMs: number, limit: number): Promise<readonly StoredFile[]> {
    return this.db
      .deleteFrom('files')
      .where('id', 'in', this.#expired(nowMs, limit))
      .returning(FILE)
      .execute();
  }

  #expired(nowMs: number, limit: number) {
    const inUse = this.db
      .selectFrom('batches')
      .select('inputFileId')
      .where('status', 'in', UNFINISHED_STATUSES);
    return this.db
      .selectFrom('files')
      .select('id')
      .where('expiresAtMs', '<=', nowMs)
      .where('id', 'not in', inUse)
      .orderBy('expiresAtMs')
      .limit(limit);
  }

  /** Which of these blob keys a row names. */
  async referenced(blobKeys: readonly string[]): Promise<ReadonlySet<string>> {
    if (blobKeys.length === 0) return new Set();
    const files = this.db.selectFrom('files').select('blobKey').where('blobKey', 'in', blobKeys);
    const parts = this.db
      .selectFrom('upload_parts')
      .select('blobKey')
      .where('blobKey', 'in', blobKeys);
    const rows = await files.union(parts).execute();
    return new Set(rows.map(({ blobKey }) => blobKey));
  }

  #of(tenant: string) {
    return this.db.selectFrom('files').select(FILE).where('tenant', '=', tenant);
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

const FILE = columnsOf('files', 'batchId');

/** Multi-part uploads. */
export class UploadStore extends DatabaseStore {
  async create(upload: Upload): Promise<void> {
    await this.db.insertInto('uploads').values(upload).execute();
  }

  find(tenant: string, id: string): Promise<Upload | undefined> {
    return this.#uploads.where(equals({ tenant, id })).executeTakeFirst();
  }

  /** False: the upload is no longer pending. */
  async addPart(part: UploadPart): Promise<boolean> {
    return await this.db.transaction().execute(async transaction => {
      const { uploadId: id } = part;
      if (!(await setPending(transaction, id, { status: 'pending' }))) return false;
      await transaction.insertInto('upload_parts').values(part).execute();
      return true;
    });
  }

  parts(uploadId: string): Promise<readonly UploadPart[]> {
    return this.db
      .selectFrom('upload_parts')
      .selectAll()
      .where('uploadId', '=', uploadId)
      .orderBy('id')
      .execute();
  }

  /** Ends a pending upload, once; the parts' rows go, their blobs by garbage collection. */
  async end(
    id: string,
    status: 'completed' | 'cancelled' | 'expired',
    fileId?: string,
  ): Promise<boolean> {
    return await this.db.transaction().execute(async transaction => {
      if (!(await setPending(transaction, id, { status, fileId }))) return false;
      await transaction.deleteFrom('upload_parts').where('uploadId', '=', id).execute();
      return true;
    });
  }

  /** Pending uploads past their expiry. */
  expired(nowMs: number, limit: number): Promise<readonly Upload[]> {
    return this.#uploads
      .where('status', '=', 'pending')
      .where('expiresAtMs', '<=', nowMs)
      .limit(limit)
      .execute();
  }

  get #uploads() {
    return this.db.selectFrom('uploads').selectAll();
  }
}

/** False: it is not pending. */
const setPending = (db: Kysely<Database>, id: string, values: Updateable<Database['uploads']>) =>
  changesRows(
    db
      .updateTable('uploads')
      .set(values)
      .where(equals({ id, status: 'pending' })),
  );
