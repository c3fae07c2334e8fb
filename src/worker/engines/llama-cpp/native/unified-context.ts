import koffi, { type KoffiFunc } from 'koffi';
import { type ChildSettings } from '../protocol.js';
import {
  type CLibrary,
  describeModel,
  loadModelFile,
  type NativeBatch,
  openCLibrary,
  type Pointer,
} from './c-library.js';
import { type Decoding, type Looked, type LookedFor, type NativeContext, type NativeSampler } from './library.js';
import { openSamplerLibrary, type SamplerLibrary } from './sampler-library.js';
import { Candidates, unifiedGrammarState, UnifiedSampler } from './unified-sampler.js';

/** Of `ggml_type`. */
const FLOAT_32 = 0;
const NO_FLASH_ATTENTION = 0;
/** A run and a draw for each of 256 sequences are queued at the same time. */
const MOST_CALLS = 1024;

export interface UnifiedSettings extends Pick<
  ChildSettings,
  'modelFile' | 'gpuLayers' | 'rows' | 'stepTokens' | 'threads' | 'exact' | 'drawThreads'
> {
  /** Tokens that all sequences have room for together. */
  readonly kvTokens: number;
}

/**
 * The model on llama.h, with one KV memory that all sequences share: node-llama-cpp divides it among them.
 * Without `gpuLayers` all layers are on the GPU.
 */
export function openUnified(settings: UnifiedSettings, onGpu: boolean): Decoding {
  koffi.config({ max_async_calls: MOST_CALLS });
  const library = openCLibrary();
  const model = loadModelFile(library, settings.modelFile, onGpu ? (settings.gpuLayers ?? -1) : 0);
  const vocabulary = library.vocabulary(model);
  const vocabularySize = library.vocabularySize(vocabulary);
  const samplers = openSamplerLibrary();
  const candidates = new Candidates(vocabularySize);
  return {
    context: new UnifiedContext(library, { model, samplers, vocabularySize, settings }),
    newSampler: () => new UnifiedSampler({ library: samplers, vocabularySize, candidates }),
    grammarState: text => unifiedGrammarState(samplers, vocabulary, text),
    trainedContextTokens: library.trainedContext(model),
    description: describeModel(library, model),
  };
}

/** Tokens of one run in native memory, written anew for every run. */
class NativeRun {
  readonly #batch: NativeBatch;
  readonly #tokens: Int32Array;
  readonly #positions: Int32Array;
  readonly #sequences: Int32Array;
  readonly #draws: Int8Array;
  #count = 0;

  constructor(library: CLibrary, most: number) {
    this.#batch = library.newBatch(most, 0, 1);
    const numbers = (memory: Pointer): Int32Array => new Int32Array(koffi.view(memory, 4 * most));
    const sequences = koffi.alloc('int32_t', most) as Pointer;
    this.#tokens = numbers(this.#batch.token);
    this.#positions = numbers(this.#batch.pos);
    this.#sequences = numbers(sequences);
    this.#draws = new Int8Array(koffi.view(this.#batch.logits, most));
    numbers(this.#batch.n_seq_id).fill(1);
    const first = koffi.address(sequences);
    new BigUint64Array(koffi.view(this.#batch.seq_id, 8 * most)).forEach((_, at, places) => {
      places[at] = first + BigInt(4 * at);
    });
  }

  get native(): NativeBatch {
    return { ...this.#batch, n_tokens: this.#count };
  }

  clear(): void {
    this.#count = 0;
  }

  add(sequence: number, position: number, tokens: Uint32Array): void {
    const at = this.#count;
    this.#count += tokens.length;
    if (this.#count > this.#tokens.length) throw new RangeError('Tokens exceed the batch.');
    this.#tokens.set(tokens, at);
    this.#sequences.fill(sequence, at, this.#count);
    this.#draws.fill(0, at, this.#count);
    for (let index = 0; index < tokens.length; index++) this.#positions[at + index] = position + index;
  }

  /** The token at this place draws. @returns the place */
  draw(place: number): number {
    this.#draws[place] = 1;
    return place;
  }

  get count(): number {
    return this.#count;
  }
}

interface ContextParts {
  readonly model: Pointer;
  readonly samplers: SamplerLibrary;
  readonly vocabularySize: number;
  readonly settings: UnifiedSettings;
}

class UnifiedContext implements NativeContext {
  readonly #library: CLibrary;
  readonly #samplers: SamplerLibrary;
  readonly #context: Pointer;
  readonly #memory: Pointer;
  readonly #run: NativeRun;
  readonly #vocabularySize: number;
  readonly #drawsInLine: boolean;

  constructor(library: CLibrary, { model, samplers, vocabularySize, settings }: ContextParts) {
    this.#library = library;
    this.#samplers = samplers;
    this.#context = openContext(library, model, settings);
    this.#memory = library.memory(this.#context)!;
    this.#run = new NativeRun(library, settings.stepTokens);
    this.#vocabularySize = vocabularySize;
    this.#drawsInLine = settings.drawThreads === 1;
  }

  initBatch(): void {
    this.#run.clear();
  }

  addToBatch(sequence: number, position: number, tokens: Uint32Array, logitsOf: Uint32Array): Uint32Array {
    const first = this.#run.count;
    this.#run.add(sequence, position, tokens);
    return logitsOf.map(index => this.#run.draw(first + index));
  }

  async decodeBatch(): Promise<void> {
    const code = await offThread(this.#library.decode, this.#context, this.#run.native);
    if (code !== 0) throw new Error(`llama.cpp could not compute this batch (${code})`);
    // Puts the outputs in order now: draws of several threads would do so at the same time.
    if (!this.#drawsInLine) this.#library.logits(this.#context);
  }

  sampleToken(place: number, sampler: NativeSampler): Promise<number>;
  sampleToken(...args: LookedFor): Promise<Looked>;
  async sampleToken(
    place: number,
    sampler: NativeSampler,
    ...[, , wanted]: [] | [false, false, LookedFor[4], boolean]
  ): Promise<number | Looked> {
    if (wanted !== undefined) return looked(this.#logits(place), wanted);
    const sample = (chain: Pointer): Promise<number> => offThread(this.#samplers.sample, chain, this.#context, place);
    return (sampler as UnifiedSampler).draw(sample, () => this.#logits(place));
  }

  removeTokenCellsFromSequence(sequence: number, start: number, end: number): boolean {
    return this.#library.cutSequence(this.#memory, sequence, start, end);
  }

  disposeSequence(sequence: number): void {
    this.#library.cutSequence(this.#memory, sequence, -1, -1);
  }

  copySequenceStateFromOtherSequence(target: number, source: number): Promise<number> {
    this.#library.cutSequence(this.#memory, target, -1, -1);
    this.#library.copySequence(this.#memory, source, target, -1, -1);
    return Promise.resolve(0);
  }

  #logits(place: number): Float32Array {
    const logits = this.#library.logitsAt(this.#context, place);
    if (logits === null) throw new Error('This place of the batch has no logits.');
    return koffi.decode(logits, koffi.array('float', this.#vocabularySize, 'Typed')) as Float32Array;
  }
}

function openContext(library: CLibrary, model: Pointer, settings: UnifiedSettings): Pointer {
  const { rows, kvTokens, stepTokens, threads, exact } = settings;
  const context = library.openContext(model, {
    ...library.contextDefaults(),
    ...{ n_ctx: kvTokens, n_batch: stepTokens, n_ubatch: stepTokens, n_seq_max: rows },
    ...{ n_threads: threads, n_threads_batch: threads, no_perf: true, kv_unified: true },
    // As `openContext` of node-llama-cpp: see there.
    ...(exact && { type_k: FLOAT_32, type_v: FLOAT_32, flash_attn_type: NO_FLASH_ATTENTION }),
    swa_full: true,
  });
  if (context === null) throw new Error(`llama.cpp has no memory for ${kvTokens} tokens`);
  return context;
}

/** On a thread of the pool, behind what is queued there. */
const offThread = <A extends unknown[], R>(call: KoffiFunc<(...args: A) => R>, ...args: A): Promise<R> =>
  new Promise((resolve, reject) =>
    call.async(...args, (error: Error | null, result) => {
      if (error) reject(error);
      else resolve(result);
    }),
  );

/** What node-llama-cpp says of logits: the likeliest token, those asked for, the sum of e^(logit - highest). */
function looked(logits: Float32Array, [tokens, , , , top]: LookedFor[4]): Looked {
  const best = likeliest(logits, Math.max(1, top));
  const [most] = best as [number];
  const highest = logits[most]!;
  const weight = logits.reduce((sum, logit) => sum + Math.exp(logit - highest), 0);
  const told = top > 0 ? best : [...new Set([...tokens, most])];
  return [most, undefined, undefined, told.flatMap(token => [token, logits[token]!]), weight];
}

/** The first of equal ones. */
function likeliest(logits: Float32Array, count: number): number[] {
  const best: number[] = [];
  for (let token = 0; token < logits.length; token++) {
    if (best.length === count && logits[token]! <= logits[best.at(-1)!]!) continue;
    const place = best.findIndex(other => logits[other]! < logits[token]!);
    best.splice(place < 0 ? best.length : place, 0, token);
    if (best.length > count) best.pop();
  }
  return best;
}
