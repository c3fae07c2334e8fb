import { type FileHandle, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import { STORED_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type JobProblem } from '../../core/jobs/batch-job.js';
import { BlobStore } from '../../core/jobs/job.ports.js';
import { compareEntries, encodePlan, Plan } from '../../core/jobs/plan-entry.js';
import { Settings } from '../../platform/config/settings.js';
import { FileStore } from '../../platform/database/file-store.js';
import { chunked, ifPresent, syncFolder } from '../../platform/storage/durable-files.js';
import { type FileLine, LineSplitter } from '../../platform/storage/line-splitter.js';
import { BlobMissing } from '../../platform/storage/storage-problems.js';
import { type ClaimedJob, type JobPlan } from '../job/claimed-job.js';
import { type JobFolder, writeAtomically } from '../job/job-folder.js';
import { errorLine } from '../job/output-line.js';
import { JobTraces } from '../observe/job-traces.js';
import { JobMetrics } from '../observe/job.metrics.js';
import { InputCheck } from './input-check.js';

/** Of one batch. */
const MAX_MODELS = 256;

/** A file that gets its name when it is complete and durable. */
class DraftFile {
  private constructor(
    private readonly path: string,
    private readonly draft: string,
    private readonly file: FileHandle,
  ) {}

  /**
   * @param writer unique part of the draft's name: a processor that lost the job may
   *   still be writing its own draft
   */
  static async create(path: string, writer: string): Promise<DraftFile> {
    const draft = `${path}.${writer}.tmp`;
    return new DraftFile(path, draft, await open(draft, 'w', 0o600));
  }

  write(bytes: string | Uint8Array): Promise<void> {
    return this.file.appendFile(bytes);
  }

  /** Syncs the file and gives it its name. */
  async commit(): Promise<void> {
    await this.file.sync();
    await rename(this.draft, this.path);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.file.close();
  }
}

/** `model_map.json`. It is written last: without it, ingestion did not finish. */
interface ModelMap {
  readonly model_to_safe: Readonly<Record<string, string>>;
  readonly safe_to_model: Readonly<Record<string, string>>;
  /** All lines, valid and invalid. */
  readonly line_count: number;
  /** Invalid lines; they have the last plan indices. */
  readonly rejected_count: number;
  /** In the order of their first lines, which is the order of the plan indices. */
  readonly models: readonly string[];
}

const MAX_NAME_CHARS = 100;

/**
 * Names of plan files: letters, digits, `_ - .`; unique also on
 * case-insensitive file systems.
 */
function safeNames(models: readonly string[]): ReadonlyMap<string, string> {
  const used = new Set<string>();
  const names = new Map<string, string>();
  for (const model of models) {
    const base = model
      .replace(/[^A-Za-z0-9_.-]/g, '_')
      .replace(/^\./, '_')
      .slice(0, MAX_NAME_CHARS);
    let name = base;
    for (let n = 2; used.has(name.toLowerCase()); n++) name = `${base}_${n}`;
    used.add(name.toLowerCase());
    names.set(model, name);
  }
  return names;
}

export function modelMapOf(
  models: readonly string[],
  lineCount: number,
  rejectedCount: number,
): ModelMap {
  const names = safeNames(models);
  return {
    model_to_safe: Object.fromEntries(names),
    safe_to_model: Object.fromEntries([...names].map(([model, safe]) => [safe, model])),
    line_count: lineCount,
    rejected_count: rejectedCount,
    models,
  };
}

/** @returns undefined when ingestion did not finish */
async function readModelMap(folder: JobFolder): Promise<ModelMap | undefined> {
  const text = await ifPresent(readFile(folder.modelMap, 'utf8'));
  return text === undefined ? undefined : (parseBoundedJson(text, STORED_BOUNDS) as ModelMap);
}

const planPath = ({ plans }: JobFolder, { model_to_safe: names }: ModelMap, model: string) =>
  join(plans, `${names[model]}.plan`);

/** Loads 16 bytes per line; the lines stay in the input file. */
async function loadPlan(folder: JobFolder, map: ModelMap): Promise<JobPlan> {
  const models: JobPlan['models'][number][] = [];
  let first = 0;
  for (const model of map.models) {
    const plan = new Plan(await readFile(planPath(folder, map, model)));
    models.push({ model, first, plan });
    first += plan.length;
  }
  return { total: map.line_count, models, firstRejected: first };
}

/**
 * Writes the plans, equal system prompts adjacent. The map, which marks them as complete,
 * is written last.
 */
async function writePlans(
  { entries: byModel, rejected }: InputCheck,
  folder: JobFolder,
): Promise<void> {
  const valid = [...byModel.values()].reduce((sum, { length }) => sum + length, 0);
  const map = modelMapOf([...byModel.keys()], valid + rejected, rejected);
  for (const [model, entries] of byModel)
    await writeAtomically(planPath(folder, map, model), encodePlan(entries.sort(compareEntries)));
  await writeAtomically(folder.modelMap, writeJson(map, 2));
}

/**
 * Blob → `input.jsonl`, plans and model map, in one pass with one line in memory.
 * Repeating it gives the same plan.
 */
@Injectable()
export class IngestService {
  readonly #logger = new Logger('BatchIngest');

  constructor(
    private readonly settings: Settings,
    private readonly files: FileStore,
    private readonly blobs: BlobStore,
    private readonly metrics: JobMetrics,
    private readonly traces: JobTraces,
  ) {}

  /** Reuses a finished ingestion. @throws when the disk or a store fails: retry later */
  async prepare(
    work: ClaimedJob,
  ): Promise<{ plan: JobPlan } | { problems: readonly JobProblem[] }> {
    const startedMs = performance.now();
    const known = await readModelMap(work.folder);
    const problems = known ? undefined : await this.#ingest(work);
    if (problems) return { problems };
    const map = known ?? (await readModelMap(work.folder))!;
    const plan = await loadPlan(work.folder, map);
    if (!known) this.metrics.planBuilt(plan.total, (performance.now() - startedMs) / 1000);
    return { plan };
  }

  async #ingest(work: ClaimedJob): Promise<readonly JobProblem[] | undefined> {
    const { folder } = work;
    const { job } = work.lease;
    const file = await this.files.find(job.tenant, job.inputFileId);
    if (!file) return [missing(job.inputFileId)];
    await folder.make();
    await writeAtomically(folder.owner, writeJson({ tenant: job.tenant, id: job.id }));
    const check = new InputCheck({
      ...this.settings.batch,
      maxModels: MAX_MODELS,
      endpoint: job.endpoint,
      lenient: (job.metadata.validation ?? this.settings.batch.validation) === 'lenient',
    });
    try {
      await this.traces.step('storage.Retrieve', file.blobKey, () =>
        this.#read(work, check, file.blobKey),
      );
      this.metrics.stored('retrieve', 'success');
    } catch (error) {
      this.metrics.stored('retrieve', error instanceof BlobMissing ? 'exhausted' : 'retry');
      if (error instanceof BlobMissing) return [missing(job.inputFileId)];
      throw error;
    }
    this.#logger.log(
      { batch: job.id, models: check.entries.size, invalid: check.rejected },
      'input read',
    );
    return check.passed ? undefined : check.problems;
  }

  async #read(
    { lease, folder, writer }: ClaimedJob,
    check: InputCheck,
    blobKey: string,
  ): Promise<void> {
    await using input = await DraftFile.create(folder.input, writer);
    await using rejected = await DraftFile.create(folder.rejected, writer);
    await this.#copy(check, blobKey, input, rejected);
    check.finish();
    if (!check.passed) return;
    lease.assertHeld();
    await input.commit();
    await rejected.commit();
    await writePlans(check, folder);
    await syncFolder(folder.path);
  }

  async #copy(
    check: InputCheck,
    blobKey: string,
    input: DraftFile,
    rejected: DraftFile,
  ): Promise<void> {
    const { maxLineBytes, maxFileBytes } = this.settings.batch;
    const splitter = new LineSplitter(maxLineBytes);
    let bytes = 0;
    for await (const chunk of chunked(this.blobs.read(blobKey))) {
      bytes += chunk.byteLength;
      if (bytes > maxFileBytes)
        check.rejectFile('file_too_large', `The input file has more than ${maxFileBytes} bytes.`);
      if (check.decided) return;
      await input.write(chunk);
      await rejected.write(rejectedIn(splitter.push(chunk), check));
    }
    await rejected.write(rejectedIn(splitter.end(), check));
  }
}

/** The error lines of those that are invalid. */
function rejectedIn(lines: Iterable<FileLine>, check: InputCheck): string {
  let text = '';
  for (const line of lines) {
    const invalid = check.add(line);
    if (invalid) text += `${errorLine(invalid.customId ?? null, invalid.problem)}\n`;
    if (check.decided) break;
  }
  return text;
}

const missing = (id: string): JobProblem => ({
  code: 'input_file_missing',
  message: `The input file ${id} no longer exists.`,
  param: 'input_file_id',
  line: null,
});
