import { Injectable, Logger } from '@nestjs/common';
import { type BatchJob, type JobProblem } from '../../core/jobs/batch-job.js';
import { BlobStore, type StoredFile } from '../../core/jobs/job.ports.js';
import { Settings } from '../../platform/config/settings.js';
import { LineSplitter, type FileLine } from '../../platform/storage/line-splitter.js';
import { BlobMissing } from '../../platform/storage/storage-problems.js';
import { syncFolder } from '../../platform/storage/durable-files.js';
import { DraftFile, type JobFolder, writeAtomically } from '../job/job-folder.js';
import { type ClaimedJob } from '../job/claimed-job.js';
import {
  type JobPlan,
  loadPlan,
  readModelMap,
  type ModelMap,
  modelMapOf,
} from '../job/job-plan.js';
import { errorLine } from '../job/output-line.js';
import { type JobLease } from '../lease/job-lease.js';
import { JobTraces } from '../observe/job-traces.js';
import { StoreMetrics } from '../observe/job.metrics.js';
import { FileStore } from '../../platform/database/file-store.js';
import { hash } from 'node:crypto';
import {
  type InvalidLine,
  MOST_PROBLEMS,
  validateLine,
} from '../../core/jobs/line-validation.js';
import {
  compareEntries,
  encodePlan,
  type PlanEntry,
} from '../../core/jobs/plan-entry.js';

const SHORT = 22;

/**
 * Of a `custom_id`. Long ones are stored as a 132-bit hash, so that 50,000 ids of 512
 * characters need as little memory as short ones.
 */
const keyOf = (id: string): string =>
  id.length <= SHORT ? id : `#${hash('sha256', id, 'base64').slice(0, SHORT)}`;

/** Plan entries per model while a file is read: 16 bytes each, no bodies. */
class PlanDraft {
  readonly #byModel = new Map<string, PlanEntry[]>();
  #count = 0;

  get modelCount(): number {
    return this.#byModel.size;
  }

  has(model: string): boolean {
    return this.#byModel.has(model);
  }

  add(model: string, entry: PlanEntry): void {
    const entries = this.#byModel.get(model);
    if (entries) entries.push(entry);
    else this.#byModel.set(model, [entry]);
    this.#count += 1;
  }

  /**
   * Writes the plans, equal system prompts adjacent. @returns the map, to be written last
   * as the completion mark
   */
  async write(
    folder: JobFolder,
    rejectedCount: number,
    writer: string,
  ): Promise<ModelMap> {
    const map = modelMapOf(
      [...this.#byModel.keys()],
      this.#count + rejectedCount,
      rejectedCount,
    );
    for (const [model, entries] of this.#byModel) {
      const file = await DraftFile.create(folder.plan(map.model_to_safe[model]!), writer);
      await file.write(encodePlan(entries.sort(compareEntries)));
      await file.commit();
    }
    return map;
  }
}

export interface InputRules extends Pick<
  Settings['batch'],
  'maxLines' | 'maxLineBytes' | 'maxModels'
> {
  readonly endpoint: BatchJob['endpoint'];
  /**
   * True: invalid lines are reported and the others sent. False: one invalid line
   * fails the batch.
   */
  readonly lenient: boolean;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Validates the lines of one input file in order and collects the plan (D-17). */
export class InputCheck {
  readonly plan = new PlanDraft();
  /** The first 100. */
  readonly problems: JobProblem[] = [];
  readonly #seen = new Set<string>();
  #line = 0;
  #blanks: number[] = [];
  #rejected = 0;
  #fatal = false;

  constructor(private readonly rules: InputRules) {}

  get rejected(): number {
    return this.#rejected;
  }

  /** The rest of the file cannot change the result. */
  get decided(): boolean {
    return this.#fatal || (!this.rules.lenient && this.problems.length >= MOST_PROBLEMS);
  }

  get passed(): boolean {
    return !this.#fatal && (this.rules.lenient || this.problems.length === 0);
  }

  /** @returns lines found invalid, earlier blank ones included */
  add(line: FileLine): InvalidLine[] {
    this.#line += 1;
    if (this.#line > this.rules.maxLines)
      return this.rejectFile('too_many_lines', this.#tooMany());
    if (isBlank(line)) {
      // Trailing blank lines are valid: only a later line makes this one an error.
      this.#blanks.push(this.#line);
      return [];
    }
    const blanks = this.#blanks.map(number =>
      invalid('empty_line', 'The line is blank.', number),
    );
    this.#blanks = [];
    const own = this.#validate(line);
    const bad = own ? [...blanks, own] : blanks;
    for (const { problem } of bad) this.#note(problem);
    return bad;
  }

  /** After the last line. */
  finish(): void {
    const lines = this.#line - this.#blanks.length;
    if (lines === 0) this.rejectFile('empty_file', 'The input file has no lines.');
  }

  #validate(line: FileLine): InvalidLine | undefined {
    const { maxLineBytes, endpoint } = this.rules;
    const number = this.#line;
    if (!line.bytes)
      return invalid(
        'line_too_long',
        `The line has ${line.length} bytes; the maximum is ${maxLineBytes}.`,
        number,
      );
    const encoding = encodingProblem(line.bytes);
    if (encoding !== undefined) return invalid('invalid_json_line', encoding, number);
    const text = textOf(line.bytes);
    if (text === undefined)
      return invalid('invalid_json_line', 'The line is not valid UTF-8.', number);
    const found = validateLine(text, {
      line: number,
      endpoint,
      seen: id => this.#seen.has(keyOf(id)),
    });
    if (found.customId !== undefined) this.#seen.add(keyOf(found.customId));
    if (!found.ok) return found;
    if (!this.plan.has(found.model) && this.plan.modelCount >= this.rules.maxModels)
      return {
        ...invalid(
          'too_many_models',
          `The batch uses more than ${this.rules.maxModels} models (\`batch.max_models\`).`,
          number,
        ),
        customId: found.customId,
      };
    this.plan.add(found.model, {
      offset: line.offset,
      length: line.length,
      prefixHash: found.prefixHash,
    });
    return undefined;
  }

  #note(problem: JobProblem): void {
    this.#rejected += 1;
    if (this.problems.length < MOST_PROBLEMS) this.problems.push(problem);
  }

  rejectFile(code: string, message: string): [] {
    this.#fatal = true;
    this.problems.splice(
      0,
      Infinity,
      { code, message, param: null, line: null },
      ...this.problems.slice(0, MOST_PROBLEMS - 1),
    );
    return [];
  }

  #tooMany(): string {
    return `The input file has more than ${this.rules.maxLines} lines.`;
  }
}

const isBlank = ({ bytes, length }: FileLine): boolean =>
  length === 0 ||
  (bytes !== undefined && length < 1024 && bytes.toString('latin1').trim() === '');

const UTF_16 = 'The file appears to be UTF-16; it must be UTF-8.';

/**
 * Detects UTF-16, with or without a byte order mark, by the NUL bytes
 * between its letters.
 */
function encodingProblem(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    return UTF_16;
  const nul = bytes.indexOf(0);
  if (nul < 0) return undefined;
  const everySecond = bytes
    .subarray(nul, nul + 16)
    .every((byte, at) => (byte === 0) === (at % 2 === 0));
  return nul < 2 && everySecond
    ? UTF_16
    : `The line has a NUL byte (0x00) at byte ${nul + 1}, which JSON does not allow.`;
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

const invalid = (code: string, message: string, line: number): InvalidLine => ({
  ok: false,
  problem: { code, message, param: null, line },
});

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
    private readonly settings: Settings,
    private readonly files: FileStore,
    private readonly blobs: BlobStore,
    private readonly metrics: StoreMetrics,
    private readonly traces: JobTraces,
  ) {}

  /** Reuses a finished ingestion. @throws when the disk or a store fails: retry later */
  async prepare({ lease, folder, writer }: ClaimedJob): Promise<Ingested> {
    const known = await readModelMap(folder);
    const problems = known ? undefined : await this.#ingest(lease, folder, writer);
    if (problems) return { ok: false, problems };
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
      ...this.settings.batch,
      endpoint: job.endpoint,
      lenient: (job.metadata.validation ?? this.settings.batch.validation) === 'lenient',
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
          await rejected.write(Buffer.from(`${errorLine(customId ?? null, problem)}\n`));
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
