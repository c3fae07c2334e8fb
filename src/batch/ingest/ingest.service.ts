import { Inject, Injectable, Logger } from '@nestjs/common';
import { type JobProblem } from '../../core/jobs/batch-job.js';
import { type BlobStore, type StoredFile } from '../../core/jobs/job.ports.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { BLOB_STORE } from '../../platform/storage/blob.module.js';
import { LineSplitter } from '../../platform/storage/line-splitter.js';
import { BlobMissing } from '../../platform/storage/storage-problems.js';
import { syncFolder } from '../../platform/storage/durable-files.js';
import { DraftFile, type JobFolder, writeAtomically } from '../job/job-folder.js';
import { type JobPlan, loadPlan, readModelMap } from '../job/job-plan.js';
import { type ClaimedJob } from '../job/claimed-job.js';
import { errorLine } from '../job/output-line.js';
import { type JobLease } from '../lease/job-lease.js';
import { JobTraces } from '../observe/job-traces.js';
import { StoreMetrics } from '../observe/job.metrics.js';
import { InputCheck } from './input-check.js';
import { FileStore } from '../../platform/database/file-store.js';

type Ingested =
  | {
      readonly ok: true;
      readonly plan: JobPlan;
      readonly isNew: boolean;
      /** When all lines name the same. */
      readonly model: string | undefined;
    }
  | { readonly ok: false; readonly problems: readonly JobProblem[] };

/**
 * Blob → `input.jsonl`, plans and model map, in one pass with one line in memory.
 * Repeating it gives the same plan.
 */
@Injectable()
export class IngestService {
  readonly #logger = new Logger('BatchIngest');

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly files: FileStore,
    @Inject(BLOB_STORE) private readonly blobs: BlobStore,
    private readonly metrics: StoreMetrics,
    private readonly traces: JobTraces,
  ) {}

  /** Reuses a finished ingestion. @throws when the disk or a store fails: retry later */
  async prepare({ lease, folder, writer }: ClaimedJob): Promise<Ingested> {
    const known = await readModelMap(folder);
    if (!known) {
      const problems = await this.#ingest(lease, folder, writer);
      if (problems) return { ok: false, problems };
    }
    const map = known ?? (await readModelMap(folder))!;
    const plan = await loadPlan(folder, map);
    return {
      ok: true,
      plan,
      isNew: !known,
      model: map.models.length === 1 ? map.models[0] : undefined,
    };
  }

  async #ingest(
    lease: JobLease,
    folder: JobFolder,
    writer: string,
  ): Promise<readonly JobProblem[] | undefined> {
    const { job } = lease;
    const file = await this.files.find(job.tenant, job.inputFileId);
    if (!file) return [missing(job.inputFileId)];
    await folder.make();
    await writeAtomically(
      folder.owner(),
      JSON.stringify({ tenant: job.tenant, id: job.id }),
    );
    const check = new InputCheck({
      endpoint: job.endpoint,
      lenient: (job.metadata.validation ?? this.settings.batch.validation) === 'lenient',
      maxLines: this.settings.batch.maxLines,
      maxLineBytes: this.settings.batch.maxLineBytes,
      maxModels: this.settings.batch.maxModels,
    });
    try {
      await this.traces.step('storage.Retrieve', file.blobKey, () =>
        this.#read({ check, folder, writer, file, lease }),
      );
      this.metrics.stored('retrieve', 'success');
    } catch (error) {
      this.metrics.stored(
        'retrieve',
        error instanceof BlobMissing ? 'exhausted' : 'retry',
      );
      if (error instanceof BlobMissing) return [missing(job.inputFileId)];
      throw error;
    }
    this.#logger.log(
      { batch: job.id, models: check.plan.modelCount, invalid: check.rejected },
      'input read',
    );
    return check.passed ? undefined : check.problems;
  }

  async #read(work: {
    check: InputCheck;
    folder: JobFolder;
    writer: string;
    file: StoredFile;
    lease: JobLease;
  }): Promise<void> {
    const { check, folder, writer, lease } = work;
    const input = await DraftFile.create(folder.input(), writer);
    const rejected = await DraftFile.create(folder.rejected(), writer);
    try {
      await this.#copy(work, input, rejected);
      check.finish();
      if (!check.passed) return;
      lease.assertHeld();
      await input.commit();
      await rejected.commit();
      const map = await check.plan.write(folder, check.rejected, writer);
      await writeAtomically(folder.modelMap(), JSON.stringify(map, null, 2));
      await syncFolder(folder.path);
    } finally {
      await input.discard();
      await rejected.discard();
    }
  }

  async #copy(
    { check, file }: { check: InputCheck; file: StoredFile },
    input: DraftFile,
    rejected: DraftFile,
  ): Promise<void> {
    const splitter = new LineSplitter(this.settings.batch.maxLineBytes);
    const { maxFileBytes } = this.settings.batch;
    let bytes = 0;
    const addLines = async (lines: ReturnType<LineSplitter['push']>): Promise<void> => {
      for (const line of lines) {
        for (const { problem, customId } of check.add(line))
          await rejected.write(
            Buffer.from(`${errorLine({ customId: customId ?? null, ...problem })}\n`),
          );
        if (check.decided) return;
      }
    };
    for await (const chunk of this.blobs.read(file.blobKey)) {
      bytes += chunk.byteLength;
      if (bytes > maxFileBytes)
        check.rejectFile(
          'file_too_large',
          `The input file has more than ${maxFileBytes} bytes.`,
        );
      if (check.decided) return;
      await input.write(chunk);
      await addLines(splitter.push(chunk));
    }
    await addLines(splitter.end());
  }
}

const missing = (id: string): JobProblem => ({
  code: 'input_file_missing',
  message: `The input file ${id} no longer exists.`,
  param: 'input_file_id',
  line: null,
});
