import { hash } from 'node:crypto';
import { type JobProblem, type BatchJob } from '../../core/jobs/batch-job.js';
import { type InvalidLine, MOST_PROBLEMS, validateLine } from '../../core/jobs/line-validation.js';
import { type PlanEntry } from '../../core/jobs/plan-entry.js';
import { type Settings } from '../../platform/config/settings.js';
import { type FileLine } from '../../platform/storage/line-splitter.js';

const SHORT = 22;

/**
 * Of a `custom_id`. Long ones are stored as a 132-bit hash, so that 50,000 ids of 512
 * characters need as little memory as short ones.
 */
const keyOf = (id: string): string =>
  id.length <= SHORT ? id : `#${hash('sha256', id, 'base64').slice(0, SHORT)}`;

interface InputRules extends Pick<Settings['batch'], 'maxLines' | 'maxLineBytes'> {
  readonly endpoint: BatchJob['endpoint'];
  readonly maxModels: number;
  /**
   * True: invalid lines are reported and the others sent. False: one invalid line
   * fails the batch.
   */
  readonly lenient: boolean;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Validates the lines of one input file in order and collects the plan (D-17). */
export class InputCheck {
  /** Plan entries per model, in the order of their first lines; no bodies. */
  readonly entries = new Map<string, PlanEntry[]>();
  /** The first 100 problems of the file, in the order of its lines. */
  readonly problems: JobProblem[] = [];
  readonly #seen = new Set<string>();
  #line = 0;
  #blanks = 0;
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

  /** Blank lines are skipped. @returns the line if it is invalid */
  add(line: FileLine): InvalidLine | undefined {
    this.#line += 1;
    if (this.#line > this.rules.maxLines)
      return this.rejectFile(
        'too_many_lines',
        `The input file has more than ${this.rules.maxLines} lines.`,
      );
    if (isBlank(line)) {
      this.#blanks += 1;
      return undefined;
    }
    const invalidLine = this.#validate(line);
    if (invalidLine) this.#note(invalidLine.problem);
    return invalidLine;
  }

  /** To be called after the last line: rejects a file without any. */
  finish(): void {
    if (!this.#fatal && this.#line === this.#blanks)
      this.rejectFile('empty_file', 'The input file has no lines.');
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
    const entries = this.entries.get(found.model) ?? [];
    if (entries.length === 0 && this.entries.size >= this.rules.maxModels)
      return {
        ...invalid(
          'too_many_models',
          `The batch uses more than ${this.rules.maxModels} models.`,
          number,
        ),
        customId: found.customId,
      };
    const { offset, length } = line;
    entries.push({ offset, length, prefixHash: found.prefixHash });
    this.entries.set(found.model, entries);
    return undefined;
  }

  #note(problem: JobProblem): void {
    this.#rejected += 1;
    if (this.problems.length < MOST_PROBLEMS) this.problems.push(problem);
  }

  rejectFile(code: string, message: string): undefined {
    this.#fatal = true;
    this.problems.splice(
      0,
      Infinity,
      { code, message, param: null, line: null },
      ...this.problems.slice(0, MOST_PROBLEMS - 1),
    );
    return undefined;
  }
}

const isBlank = ({ bytes, length }: FileLine): boolean =>
  length === 0 || (bytes !== undefined && length < 1024 && bytes.toString('latin1').trim() === '');

const UTF_16 = 'The file appears to be UTF-16; it must be UTF-8.';

/**
 * Detects UTF-16, with or without a byte order mark, by the NUL bytes
 * between its letters.
 */
function encodingProblem(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return UTF_16;
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
