import koffi, { type KoffiFunc } from 'koffi';
import { type ChildSettings } from '../options.js';
import { type CLibrary, NativeRun, openNativeModel, type Pointer } from './c-library.js';
import { type Decoding, type NativeContext } from './library.js';
import { errorMessage } from '@switchyard/engine-api/error-message.js';
import { unifiedSamplers } from './unified-sampler.js';

/** Of `ggml_type`. */
const FLOAT_32 = 0;

const NO_FLASH_ATTENTION = 0;

/** A run and a draw for each of 256 sequences are queued at the same time. */
const MOST_CALLS = 1024;

/** llama.cpp rounds the cells of a sequence up to these. */
const PART_UNIT = 256;

/**
 * Runs without a long sequence before the cells are divided again: all that is in
 * them is copied.
 */
const PATIENCE = 256;

const NOTHING = Buffer.alloc(0);

interface UnifiedSettings extends ChildSettings {
  /** Tokens that all sequences have room for together. */
  readonly kvTokens: number;
}

/**
 * The model on llama.h, with one KV memory that all sequences share when one is long:
 * node-llama-cpp divides it always. Without `gpuLayers` all layers are on the GPU.
 */
export function openUnified(settings: UnifiedSettings, onGpu: boolean): Decoding {
  koffi.config({ max_async_calls: MOST_CALLS });
  const { library, model, vocabulary, vocabularySize, description } = openNativeModel(
    settings,
    onGpu,
  );
  const context = new UnifiedContext(library, model, vocabularySize, settings);
  return {
    context,
    newSampler: unifiedSamplers(library, vocabularySize, context),
    grammarState: text => {
      const native = library.grammar(vocabulary, text, 'root');
      if (native === null) throw new Error('Failed to parse grammar');
      const accept = (token: number): void => library.acceptToken(native, token);
      return { native, accept, dispose: () => library.freeSampler(native) };
    },
    description,
  };
}

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
  const moved = Buffer.concat([
    state.subarray(0, CELLS_AT),
    cells,
    Buffer.alloc(4 * (to - 1)),
  ]);
  moved.writeUInt32LE(to, STREAMS_AT);
  return moved;
}

/**
 * Cells are divided among the sequences while all of them fit into their parts: attention
 * passes over the cells of a part then, and over those of all sequences where they share.
 */
class UnifiedContext implements NativeContext {
  readonly #open: (isShared: boolean) => Pointer;
  #context: Pointer;
  #memory: Pointer;
  readonly #part: number;
  #isShared: boolean;
  /** Runs since the cells are shared without need. */
  #idleRuns = 0;
  /** Tokens of each sequence, those of the next run included. */
  readonly #lengths: number[];
  readonly #run: NativeRun;
  readonly #drawsInLine: boolean;

  constructor(
    private readonly library: CLibrary,
    model: Pointer,
    private readonly vocabularySize: number,
    settings: UnifiedSettings,
  ) {
    this.#open = isShared => openContext(library, model, { ...settings, isShared });
    this.#lengths = new Array<number>(settings.rows).fill(0);
    this.#isShared = partOf(settings) === 0;
    this.#context = this.#open(this.#isShared);
    if (
      !this.#isShared &&
      library.stateSize(this.#context, 0) !== emptyStateSize(settings.rows)
    ) {
      library.closeContext(this.#context);
      this.#isShared = true;
      this.#context = this.#open(true);
    }
    this.#part = this.#isShared ? 0 : partOf(settings);
    this.#memory = library.memory(this.#context)!;
    this.#run = new NativeRun(library, settings.stepTokens);
    this.#drawsInLine = settings.drawThreads === 1;
  }

  initBatch(): void {
    this.#run.clear();
  }

  addToBatch(
    sequence: number,
    position: number,
    tokens: Uint32Array,
    logitsOf: Uint32Array,
  ): Uint32Array {
    const first = this.#run.count;
    this.#run.add(sequence, position, tokens);
    this.#lengths[sequence] = position + tokens.length;
    return logitsOf.map(index => this.#run.draw(first + index));
  }

  async decodeBatch(): Promise<void> {
    this.#layOut();
    const code = await offThread(this.library.decode, this.#context, this.#run.native);
    if (code !== 0) throw new Error(`llama.cpp could not compute this batch (${code})`);
    // Puts the outputs in order now: draws of several threads would do so at
    // the same time.
    if (!this.#drawsInLine) this.library.logits(this.#context);
  }

  /** Draws with this chain of samplers from the logits at this place of the batch. */
  sample(chain: Pointer, place: number): Promise<number> {
    return offThread(this.library.sample, chain, this.#context, place);
  }

  logits(place: number): Float32Array {
    const logits = this.library.logitsAt(this.#context, place);
    if (logits === null) throw new Error('This place of the batch has no logits.');
    return koffi.decode(
      logits,
      koffi.array('float', this.vocabularySize, 'Typed'),
    ) as Float32Array;
  }

  removeTokenCellsFromSequence(sequence: number, start: number, end: number): boolean {
    this.#lengths[sequence] = start;
    return this.library.cutSequence(this.#memory, sequence, start, end);
  }

  disposeSequence(sequence: number): void {
    this.#lengths[sequence] = 0;
    this.library.cutSequence(this.#memory, sequence, -1, -1);
  }

  copySequenceStateFromOtherSequence(target: number, source: number): Promise<number> {
    this.library.cutSequence(this.#memory, target, -1, -1);
    // llama.cpp would copy divided cells with the next run only, and all of a part.
    if (this.#isShared) this.library.copySequence(this.#memory, source, target, -1, -1);
    else this.#give(target, this.#stateOf(source));
    this.#lengths[target] = this.#lengths[source]!;
    return Promise.resolve(0);
  }

  /**
   * Shares the cells at once where a sequence needs it, and divides them again after many
   * runs without need.
   */
  #layOut(): void {
    const isLong = this.#lengths.some(length => length > this.#part);
    this.#idleRuns = isLong ? 0 : this.#idleRuns + 1;
    if (isLong ? this.#isShared : !this.#isShared || this.#idleRuns < PATIENCE) return;
    const held = this.#lengths.map((length, sequence) =>
      length > 0 ? this.#taken(sequence) : NOTHING,
    );
    this.library.closeContext(this.#context);
    try {
      this.#context = this.#open(isLong);
      this.#isShared = isLong;
      this.#memory = this.library.memory(this.#context)!;
      held.forEach((state, sequence) => this.#give(sequence, state));
    } catch (error) {
      // Nothing is left to go on with: another process computes again what was here.
      process.stderr.write(`${errorMessage(error)}\n`);
      process.exit(1);
    }
  }

  #stateOf(sequence: number): Buffer {
    const state = Buffer.alloc(this.library.stateSize(this.#context, sequence));
    this.library.takeState(this.#context, state, state.length, sequence);
    return state;
  }

  /** For the context that comes next. */
  #taken(sequence: number): Buffer {
    const state = this.#stateOf(sequence);
    const rows = this.#lengths.length;
    return this.#isShared
      ? movedState(state, sequence, 1, rows)
      : movedState(state, sequence, rows, 1);
  }

  #give(sequence: number, state: Buffer): void {
    if (
      state.length > 0 &&
      this.library.giveState(this.#context, state, state.length, sequence) !==
        state.length
    )
      throw new Error(
        `llama.cpp did not take sequence ${sequence} into another context`,
      );
  }
}

/**
 * Tokens that each sequence has of divided cells; 0: too few, llama.cpp would
 * round them up.
 */
const partOf = ({ rows, kvTokens }: UnifiedSettings): number =>
  PART_UNIT * Math.floor(kvTokens / rows / PART_UNIT);

function openContext(
  library: CLibrary,
  model: Pointer,
  settings: UnifiedSettings & { readonly isShared: boolean },
): Pointer {
  const { rows, kvTokens, stepTokens, exact, isShared } = settings;
  const context = library.openContext(model, {
    ...library.contextDefaults(),
    n_ctx: isShared ? kvTokens : rows * partOf(settings),
    n_batch: stepTokens,
    n_ubatch: stepTokens,
    n_seq_max: rows,
    n_threads: settings.threads,
    n_threads_batch: settings.batchThreads,
    no_perf: true,
    kv_unified: isShared,
    // As `openContext` of node-llama-cpp: see there.
    ...(exact && {
      type_k: FLOAT_32,
      type_v: FLOAT_32,
      flash_attn_type: NO_FLASH_ATTENTION,
    }),
    swa_full: true,
  });
  if (context === null)
    throw new Error(`llama.cpp has no memory for ${kvTokens} tokens`);
  return context;
}

/** On a thread of the pool, behind what is queued there. */
const offThread = <A extends unknown[], R>(
  call: KoffiFunc<(...args: A) => R>,
  ...args: A
): Promise<R> =>
  new Promise((resolve, reject) =>
    call.async(...args, (error: Error | null, result) => {
      if (error) reject(error);
      else resolve(result);
    }),
  );
