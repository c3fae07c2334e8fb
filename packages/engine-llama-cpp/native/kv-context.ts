import { errorMessage } from '@switchyard/engine-api/error-message.js';
import { type ChildSettings } from '../options.js';
import { type Pointer } from './c-library.js';
import { floatsAt, type NativeModel, offThread, openNativeContext } from './native-model.js';
import { NativeRun } from './native-run.js';
import { RunStop } from './run-stop.js';

/** The value for 32-bit floats of the enum `ggml_type`. */
const FLOAT_32 = 0;

const NO_FLASH_ATTENTION = 0;

/** llama.cpp rounds the cells of a sequence up to these. */
const PART_UNIT = 256;

/**
 * Runs without a long sequence before the cells are divided again: all that is in
 * them is copied.
 */
const PATIENCE = 256;

const NOTHING = Buffer.alloc(0);

/**
 * What llama.cpp writes of a sequence: two numbers, the number of streams, and for each
 * stream how many cells follow and those. Only one stream has cells of the sequence: its
 * own, or the one that all share. Numbers have 4 bytes.
 */
const STREAMS_AT = 8;
const CELLS_AT = 12;

/**
 * Bytes of a sequence without tokens, where this form is the model's: a second memory
 * would add to it.
 */
const emptyStateSize = (streams: number): number => CELLS_AT + 4 * streams;

/**
 * The state of a sequence from a context with so many streams, for one with another
 * number; one of the two is 1.
 */
function movedState(state: Buffer, sequence: number, from: number, to: number): Buffer {
  const own = from === 1 ? 0 : sequence;
  const cells = state.subarray(CELLS_AT + 4 * own, state.length - 4 * (from - 1 - own));
  const moved = Buffer.concat([state.subarray(0, CELLS_AT), cells, Buffer.alloc(4 * (to - 1))]);
  moved.writeUInt32LE(to, STREAMS_AT);
  return moved;
}

/** Tokens that a sequence has room for while the cells are divided. */
const partOf = ({ rows, contextTokens, kvTokens }: ChildSettings): number =>
  kvTokens === undefined ? contextTokens : PART_UNIT * Math.floor(kvTokens / rows / PART_UNIT);

/** Fields of `llama_context_params` for text that are not the defaults. */
export function contextParams(settings: ChildSettings, isShared = false) {
  const { rows, stepTokens, kvTokens, exact, threads, batchThreads } = settings;
  return {
    n_ctx: isShared ? kvTokens! : rows * partOf(settings),
    n_batch: stepTokens,
    n_ubatch: stepTokens,
    n_seq_max: rows,
    n_threads: threads,
    n_threads_batch: batchThreads,
    no_perf: true,
    kv_unified: isShared,
    // Both together: flash attention of 32 bit memory is no more exact than 16 bits are.
    ...(exact && {
      type_k: FLOAT_32,
      type_v: FLOAT_32,
      flash_attn_type: NO_FLASH_ATTENTION,
    }),
    // Models with a sliding window forget what a later request could have gone on from.
    swa_full: true,
  };
}

/**
 * KV memory of a model, and the runs that fill it. Cells are divided among the sequences.
 * With `kvTokens` that is so while all of them fit into their parts: attention passes over
 * the cells of a part then, and over those of all sequences where they share.
 */
export class KvContext {
  #context: Pointer;
  #memory: Pointer;
  /** Tokens that a sequence has room for while cells are divided. */
  readonly #part: number;
  #isShared: boolean;
  /** Whether the context changes between divided and shared cells. */
  readonly #changes: boolean;
  /** Runs during which cells were shared although parts would suffice. */
  #idleRuns = 0;
  /** Tokens of each sequence, those of the next run included. */
  readonly #lengths: number[];
  readonly #run: NativeRun;
  readonly #stop = new RunStop();

  constructor(
    private readonly native: NativeModel,
    private readonly settings: ChildSettings,
  ) {
    const { rows, stepTokens, kvTokens } = settings;
    this.#part = partOf(settings);
    this.#lengths = new Array<number>(rows).fill(0);
    // Without a unit for each sequence, llama.cpp would take more than `kvTokens`.
    this.#isShared = this.#part === 0;
    this.#context = this.#open();
    if (kvTokens !== undefined && !this.#isShared && this.#hasSecondMemory) {
      native.library.closeContext(this.#context);
      this.#isShared = true;
      this.#context = this.#open();
    }
    this.#changes = kvTokens !== undefined && !this.#isShared;
    this.#memory = native.library.memory(this.#context)!;
    this.#run = new NativeRun(native.library, stepTokens);
  }

  /** Empties the batch before a run is put together. */
  clear(): void {
    this.#run.clear();
  }

  /** @returns the place of the last token in the run, of its logits where it draws */
  add(sequence: number, position: number, tokens: Uint32Array, draws: boolean): number {
    this.#run.add(sequence, position, tokens);
    this.#lengths[sequence] = position + tokens.length;
    const last = this.#run.count - 1;
    return draws ? this.#run.draw(last) : last;
  }

  /** @param run number of the run, for `stop`; absent: it cannot be stopped */
  async compute(run = Infinity): Promise<void> {
    this.#layOut();
    this.#stop.begin(run);
    const { decode, logits } = this.native.library;
    const code = await offThread(decode, this.#context, this.#run.native);
    if (code !== 0) throw new Error(`llama.cpp could not compute this batch (${code})`);
    // Draws of several threads would put the outputs in order at the same time.
    if (!this.#drawsAtOnce) await offThread(logits, this.#context);
  }

  /** All runs up to this one end early; what they were to compute is void. */
  stop(newest: number): void {
    this.#stop.stop(newest);
  }

  /** Draws with this chain of samplers from the logits at this place of the run. */
  sample(chain: Pointer, place: number): number | Promise<number> {
    const { sample } = this.native.library;
    return this.#drawsAtOnce
      ? sample(chain, this.#context, place)
      : offThread(sample, chain, this.#context, place);
  }

  logits(place: number): Float32Array {
    const { library, vocabularySize } = this.native;
    const logits = library.logitsAt(this.#context, place);
    if (logits === null) throw new Error('This place of the batch has no logits.');
    return floatsAt(logits, vocabularySize);
  }

  /** Keeps the first `keep` tokens. @returns false: this memory cannot be cut */
  cut(sequence: number, keep: number): boolean {
    this.#lengths[sequence] = keep;
    // A recurrent memory lets go of all only.
    const start = keep === 0 ? -1 : keep;
    return this.native.library.cutSequence(this.#memory, sequence, start, -1);
  }

  copy(target: number, source: number): void {
    const { library } = this.native;
    this.cut(target, 0);
    // llama.cpp copies divided cells with the next run only, and all of a part: these
    // would have to be taken out before.
    if (this.#changes && !this.#isShared) this.#give(target, this.#stateOf(source));
    else library.copySequence(this.#memory, source, target, -1, -1);
    this.#lengths[target] = this.#lengths[source]!;
  }

  get #drawsAtOnce(): boolean {
    return this.settings.drawThreads === 1;
  }

  get #hasSecondMemory(): boolean {
    const size = this.native.library.stateSize(this.#context, 0);
    return size !== emptyStateSize(this.settings.rows);
  }

  #open(): Pointer {
    const params = { ...contextParams(this.settings, this.#isShared), ...this.#stop.params };
    return openNativeContext(this.native, params, `${params.n_ctx} tokens`);
  }

  /**
   * Shares the cells at once where a sequence needs it, and divides them again after many
   * runs without need.
   */
  #layOut(): void {
    if (!this.#changes) return;
    const isLong = this.#lengths.some(length => length > this.#part);
    this.#idleRuns = isLong ? 0 : this.#idleRuns + 1;
    if (isLong ? this.#isShared : !this.#isShared || this.#idleRuns < PATIENCE) return;
    const held = this.#lengths.map((length, sequence) =>
      length > 0 ? this.#taken(sequence) : NOTHING,
    );
    this.native.library.closeContext(this.#context);
    try {
      this.#isShared = isLong;
      this.#context = this.#open();
      this.#memory = this.native.library.memory(this.#context)!;
      held.forEach((state, sequence) => this.#give(sequence, state));
    } catch (error) {
      // Nothing is left to go on with: another process computes again what was here.
      process.stderr.write(`${errorMessage(error)}\n`);
      process.exit(1);
    }
  }

  #stateOf(sequence: number): Buffer {
    const { library } = this.native;
    const state = Buffer.alloc(library.stateSize(this.#context, sequence));
    library.takeState(this.#context, state, state.length, sequence);
    return state;
  }

  /** The state of a sequence, for the next context. */
  #taken(sequence: number): Buffer {
    const state = this.#stateOf(sequence);
    const { rows } = this.settings;
    return this.#isShared
      ? movedState(state, sequence, 1, rows)
      : movedState(state, sequence, rows, 1);
  }

  #give(sequence: number, state: Buffer): void {
    const { library } = this.native;
    if (
      state.length > 0 &&
      library.giveState(this.#context, state, state.length, sequence) !== state.length
    )
      throw new Error(`llama.cpp did not take sequence ${sequence} into another context`);
  }
}
