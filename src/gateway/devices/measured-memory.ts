import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { objectIn } from '@switchyard/engine-api/json-in.js';
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
    this.#bytes = new Map(remembered(this.#file));
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

/** Of a file that is not there or was damaged, what can be read. */
function remembered(file: string): readonly [string, number][] {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return Object.entries(objectIn(text) ?? {}).flatMap(([model, bytes]) =>
    typeof bytes === 'number' && bytes > 0 ? [[model, bytes]] : [],
  );
}
