import {
  type GenerationPlan,
  itemsOf,
  type ItemResult,
  type StepItem,
  type StepOutcome,
} from '@switchyard/engine-api/generation-plan.js';
import { type GenerationRequest } from '@switchyard/engine-api/generation-request.js';
import { type StepBackend } from '@switchyard/engine-api/text-backend.port.js';
import { PagedMemory } from './paged-memory.js';

/**
 * Milliseconds of a step: fixed + tokens that go through + tokens that they look back at.
 */
export interface StepCost {
  readonly fixedMs: number;
  readonly perTokenMs: number;
  readonly perPastTokenMs: number;
}

export interface SimulatorOptions<T> {
  readonly blocks: number;
  readonly blockTokens: number;
  readonly cost: StepCost;
  /** The model: the next token, by those before it; undefined ends the answer. */
  readonly next: (past: readonly number[], request: T) => number | undefined;
  /**
   * Throws for a run that fails as a whole, `BackendDied` for one that kills the process.
   */
  readonly beforeRun?: (items: readonly StepItem<T>[]) => void;
  /** An error for an item that fails by itself. */
  readonly itemError?: (item: StepItem<T>) => Error | undefined;
}

/** Thrown by `beforeRun`: the process is gone, with all it kept. */
export class BackendDied extends Error {}

interface Cell {
  readonly token: number;
  readonly position: number;
  readonly salt: string;
}

/**
 * A backend whose KV memory is there: cells of blocks that hold what was written last.
 * The model reads its past from those cells and not from the request, so a block that was
 * lent wrongly, written late or reused too early changes the answer, and one of another
 * salt is an error of its own. What a step drew is known to the step behind it.
 */
export class StepSimulator<T extends GenerationRequest> implements StepBackend<T> {
  readonly memory: PagedMemory<object>;
  readonly #options: SimulatorOptions<T>;
  readonly #cells: (Cell | undefined)[];
  /** The last token drawn for each. */
  #newest = new WeakMap<T, number>();
  /** Nothing that was planned behind the last run is run. */
  #broken = false;
  /** Native runs, failed ones too: one per plan. */
  runs = 0;
  /** What the last run would have taken, in whole milliseconds. */
  lastMs = 0;

  constructor(options: SimulatorOptions<T>) {
    this.#options = options;
    this.memory = new PagedMemory(options);
    this.#cells = new Array<Cell | undefined>(options.blocks * options.blockTokens);
  }

  async run(plan: GenerationPlan<T>): Promise<StepOutcome<T>> {
    return Promise.resolve(this.step(plan));
  }

  async close(): Promise<void> {
    return Promise.resolve();
  }

  /** The same without a promise. */
  step(plan: GenerationPlan<T>): StepOutcome<T> {
    if (plan.ahead && this.#broken) return { type: 'skipped' };
    this.#broken = false;
    const items = itemsOf(plan).map(item => this.#known(item));
    this.lastMs = this.#cost(items);
    if (items.length === 0) return { type: 'done', results: new Map() };
    this.runs += 1;
    try {
      this.#options.beforeRun?.(items);
    } catch (error) {
      if (error instanceof BackendDied) throw error;
      this.#broken = true;
      for (const item of items) this.#write(item, () => undefined);
      return { type: 'failed', error: error as Error };
    }
    // All is written before anything is read, as in one native run.
    for (const item of items)
      this.#write(item, (token, position) => ({
        token,
        position,
        salt: item.request.salt,
      }));
    return {
      type: 'done',
      results: new Map(items.map(item => [item.request, this.#result(item)])),
    };
  }

  /** The process died: its memory is gone. */
  crash(): void {
    this.#cells.fill(undefined);
    this.#newest = new WeakMap();
  }

  /** With the token that the step before drew; any token where it drew none. */
  #known(item: StepItem<T>): StepItem<T> {
    return item.tokens.length === item.count
      ? item
      : { ...item, tokens: [this.#newest.get(item.request) ?? 0] };
  }

  #write(
    { blocks, position, tokens }: StepItem<T>,
    cell: (token: number, at: number) => Cell | undefined,
  ): void {
    tokens.forEach(
      (token, index) =>
        (this.#cells[this.#address(blocks, position + index)] = cell(token, position + index)),
    );
  }

  #result(item: StepItem<T>): ItemResult {
    const error = this.#options.itemError?.(item);
    if (error) return { type: 'failed', error };
    const past = Array.from({ length: item.position + item.tokens.length }, (_, at) =>
      this.#read(item, at),
    );
    if (!item.sample) return { type: 'computed' };
    const token = this.#options.next(past, item.request);
    if (token === undefined) return { type: 'stop' };
    this.#newest.set(item.request, token);
    return { type: 'token', token };
  }

  #read({ blocks, request }: StepItem<T>, at: number): number {
    const cell = this.#cells[this.#address(blocks, at)];
    if (cell?.position !== at) throw new Error(`Nothing was computed at position ${at}.`);
    if (cell.salt !== request.salt)
      throw new Error(`Position ${at} is of ${cell.salt}, read by ${request.salt}.`);
    return cell.token;
  }

  #address(blocks: readonly number[], position: number): number {
    const { blockTokens } = this.#options;
    const block = blocks[Math.floor(position / blockTokens)];
    if (block === undefined) throw new Error(`No block for position ${position}.`);
    return block * blockTokens + (position % blockTokens);
  }

  #cost(items: readonly StepItem<T>[]): number {
    const { fixedMs, perTokenMs, perPastTokenMs } = this.#options.cost;
    const lookedAt = ({ tokens, position }: StepItem<T>): number =>
      tokens.length * (perTokenMs + perPastTokenMs * position);
    return Math.ceil(items.reduce((ms, item) => ms + lookedAt(item), fixedMs));
  }
}
