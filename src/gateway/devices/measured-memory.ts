import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type Settings } from '../../platform/config/settings.js';

/**
 * What models need that declare no memory: the most that each was found to use, in bytes,
 * remembered in `data.dir`. A model that was replaced by a smaller one keeps its number until
 * that file is removed.
 */
export class MeasuredMemory {
  readonly #file: string;
  readonly #bytes: Map<string, number>;

  constructor({ data }: Settings) {
    this.#file = join(data.dir, 'model-memory.json');
    this.#bytes = new Map(Object.entries(remembered(this.#file)));
  }

  /** Undefined: it was never loaded. */
  of(model: string): number | undefined {
    return this.#bytes.get(model);
  }

  /**
   * Processes grow while they work, so a fresh one says less than is known: that is ignored.
   * @throws Error when the file cannot be written; it is known until the next start
   */
  measured(model: string, bytes: number): void {
    if (bytes <= (this.#bytes.get(model) ?? 0)) return;
    this.#bytes.set(model, bytes);
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(`${this.#file}.new`, writeJson(Object.fromEntries(this.#bytes)));
    renameSync(`${this.#file}.new`, this.#file);
  }
}

function remembered(file: string): Readonly<Record<string, number>> {
  try {
    return parseBoundedJson(readFileSync(file, 'utf8')) as Record<string, number>;
  } catch {
    return {};
  }
}
