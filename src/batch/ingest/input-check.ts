import { hash } from 'node:crypto';
import type { BatchEndpoint, JobProblem } from '../../core/jobs/batch-job.js';
import { type InvalidLine, MOST_PROBLEMS, validateLine } from '../../core/jobs/line-validation.js';
import { encodePlan, type PlanEntry } from '../../core/jobs/plan-entry.js';
import { byPrefix } from '../../core/jobs/plan-order.js';
import type { FileLine } from '../../platform/storage/line-splitter.js';
import { DraftFile, type JobFolder } from '../job/job-folder.js';
import { type ModelMap, modelMapOf } from '../job/job-plan.js';

const SHORT = 22;

/**
 * The `custom_id`s of a file so far. Long ones are kept by hash, so that 50,000 of 512 characters cost as little as short
 * ones; 132 bits make a false "used before" impossible in practice.
 */
export class SeenIds {
  readonly #keys = new Set<string>();

  has(customId: string): boolean {
    return this.#keys.has(keyOf(customId));
  }

  add(customId: string): void {
    this.#keys.add(keyOf(customId));
  }
}

const keyOf = (id: string): string => (id.length <= SHORT ? id : `#${hash('sha256', id, 'base64').slice(0, SHORT)}`);

/** Entries per model while a file is read: 16 bytes' worth each, never a body. */
export class PlanDraft {
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

  /** Writes the plans, sorted so that equal system prompts meet; the map comes later, as the mark that all is there. */
  async write(folder: JobFolder, rejectedCount: number, writer: string): Promise<ModelMap> {
    const map = modelMapOf([...this.#byModel.keys()], this.#count + rejectedCount, rejectedCount);
    for (const [model, entries] of this.#byModel) {
      const file = await DraftFile.create(folder.plan(map.model_to_safe[model]!), writer);
      await file.write(encodePlan(entries.sort(byPrefix)));
      await file.commit();
    }
    return map;
  }
}

export interface InputLimits {
  readonly maxLines: number;
  readonly maxLineBytes: number;
  readonly maxModels: number;
}

export interface InputRules extends InputLimits {
  readonly endpoint: BatchEndpoint;
  /** True: bad lines are reported and the others sent; false: one bad line is the end of the batch. */
  readonly lenient: boolean;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Judges the lines of one input file in order, and collects the plan (D-17). */
export class InputCheck {
  readonly plan = new PlanDraft();
  /** The first 100 (COMPAT "Batches"). */
  readonly problems: JobProblem[] = [];
  readonly #seen = new SeenIds();
  #line = 0;
  #blanks: number[] = [];
  #rejected = 0;
  #fatal = false;

  constructor(private readonly rules: InputRules) {}

  get rejected(): number {
    return this.#rejected;
  }

  /** Nothing that is read from here on can change the verdict. */
  get decided(): boolean {
    return this.#fatal || (!this.rules.lenient && this.problems.length >= MOST_PROBLEMS);
  }

  get passed(): boolean {
    return !this.#fatal && (this.rules.lenient || this.problems.length === 0);
  }

  /** @returns the lines that turn out bad, earlier blank ones included. */
  take(line: FileLine): InvalidLine[] {
    this.#line += 1;
    if (this.#line > this.rules.maxLines) return this.#refuseFile('too_many_lines', this.#tooMany());
    if (isBlank(line)) {
      // Only a line after it makes it a blank line in the middle.
      this.#blanks.push(this.#line);
      return [];
    }
    const blanks = this.#blanks.map(number => invalid('empty_line', 'The line is blank.', number));
    this.#blanks = [];
    const own = this.#judge(line);
    const bad = own ? [...blanks, own] : blanks;
    for (const { problem } of bad) this.#note(problem);
    return bad;
  }

  /** After the last line. */
  finish(): void {
    const lines = this.#line - this.#blanks.length;
    if (lines === 0) this.#refuseFile('empty_file', 'The input file has no lines.');
  }

  refuseFile(code: string, message: string): void {
    this.#refuseFile(code, message);
  }

  #judge(line: FileLine): InvalidLine | undefined {
    const { maxLineBytes, endpoint } = this.rules;
    const number = this.#line;
    if (!line.bytes)
      return invalid('line_too_long', `The line has ${line.length} bytes; at most ${maxLineBytes}.`, number);
    const foreign = encodingProblem(line.bytes);
    if (foreign !== undefined) return invalid('invalid_json_line', foreign, number);
    const text = textOf(line.bytes);
    if (text === undefined) return invalid('invalid_json_line', 'The line is not valid UTF-8.', number);
    const found = validateLine(text, { line: number, endpoint, seen: id => this.#seen.has(id) });
    if (found.customId !== undefined) this.#seen.add(found.customId);
    if (!found.ok) return found;
    if (!this.plan.has(found.model) && this.plan.modelCount >= this.rules.maxModels)
      return {
        ...invalid(
          'too_many_models',
          `The batch names more than ${this.rules.maxModels} models (\`batch.max_models\`).`,
          number,
        ),
        customId: found.customId,
      };
    this.plan.add(found.model, { offset: line.offset, length: line.length, prefixHash: found.prefixHash });
    return undefined;
  }

  #note(problem: JobProblem): void {
    this.#rejected += 1;
    if (this.problems.length < MOST_PROBLEMS) this.problems.push(problem);
  }

  #refuseFile(code: string, message: string): [] {
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
  length === 0 || (bytes !== undefined && length < 1024 && bytes.toString('latin1').trim() === '');

const UTF_16 = 'The file seems to be UTF-16; it must be UTF-8.';

/** What an editor or a shell made of the file: UTF-16 is letters with NUL between them, with or without a byte order mark. */
function encodingProblem(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return UTF_16;
  const nul = bytes.indexOf(0);
  if (nul < 0) return undefined;
  const everySecond = bytes.subarray(nul, nul + 16).every((byte, at) => (byte === 0) === (at % 2 === 0));
  return nul < 2 && everySecond ? UTF_16 : `The line has a NUL byte (0x00) at byte ${nul + 1}; JSON may not.`;
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
