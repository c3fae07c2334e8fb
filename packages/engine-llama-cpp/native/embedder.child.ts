import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { type EmbeddingInfo, type EmbeddingOperations, POOLINGS } from '../protocol.js';
import { type LlamaEmbeddingOptions } from '../options.js';
import {
  openCLibrary,
  type CLibrary,
  describeModel,
  loadModelFile,
  NativeRun,
  type Pointer,
} from './c-library.js';
import { openDevice } from './library.js';
import { serveChild } from './serve-child.js';
import koffi from 'koffi';

const PLACES = /(\{query\}|\{document\})/;
/** No token has this id: the vocabulary lacks the kind. */
const ABSENT = -1;

/**
 * A query and a document as one text, in the form that a reranking model was trained
 * with: its template `rerank`, or the tokens that begin, separate and end two texts. What
 * callers wrote never becomes a control token.
 */
function pairEncoder(
  library: CLibrary,
  model: Pointer,
  vocabulary: Pointer,
  tokenize: (text: string, control: boolean) => Int32Array,
) {
  const template = library.template(model, 'rerank')?.split(PLACES) ?? [];
  const separator = one(library.separator(vocabulary), library.addsSeparator(vocabulary));
  const last = library.endOfText(vocabulary);
  const end = one(
    last === ABSENT ? library.separator(vocabulary) : last,
    library.addsEnd(vocabulary),
  );
  const begin = one(
    library.beginningOfText(vocabulary),
    library.addsBeginning(vocabulary),
  );
  const ending = end.length > 0 ? end : separator;
  return (query: string, documents: readonly string[]): Int32Array[] => {
    const asked = tokenize(query, false);
    return documents.map(document => {
      const told = tokenize(document, false);
      const texts: Partial<Record<string, Int32Array>> = {
        '{query}': asked,
        '{document}': told,
      };
      const pieces =
        template.length > 1
          ? template.map(piece => texts[piece] ?? tokenize(piece, true))
          : [begin, asked, end, separator, told, ending];
      return Int32Array.from(pieces.flatMap(tokens => [...tokens]));
    });
  };
}

const one = (token: number, wanted: boolean): readonly number[] =>
  wanted && token !== ABSENT ? [token] : [];

const NO_POOLING = 0;

const RANK = 4;

const FROM_FILE = -1;

/**
 * A model that makes one vector of a text, or one score of a query with a document, on
 * llama.h. All calls block: this is the only work of its process.
 */
class EmbeddingModel {
  readonly dimensions: number;
  readonly vocabularySize: number;
  readonly trainedContextTokens: number;
  readonly description: string;
  readonly ranks: boolean;
  /** The query with each of the documents, of a model that ranks. */
  readonly pairs: ReturnType<typeof pairEncoder>;
  readonly #vocabulary: Pointer;
  readonly #context: Pointer;
  readonly #run: NativeRun;
  readonly #compute: CLibrary['encode'];
  #scratch = new Int32Array(4096);

  /** @throws Error when the file is no model, or one without pooling. */
  constructor(
    private readonly library: CLibrary,
    settings: LlamaEmbeddingOptions,
    onGpu: boolean,
  ) {
    const model = loadModelFile(library, settings, onGpu);
    this.#vocabulary = library.vocabulary(model);
    this.vocabularySize = library.vocabularySize(this.#vocabulary);
    this.trainedContextTokens = library.trainedContext(model);
    this.description = describeModel(library, model);
    this.#context = openContext(library, model, settings);
    const pooling = library.pooling(this.#context);
    this.ranks = pooling === RANK;
    this.dimensions = this.ranks ? 1 : library.vectorSize(model);
    this.pairs = pairEncoder(library, model, this.#vocabulary, (text, control) =>
      this.#cut(text, { special: false, control }),
    );
    this.#run = new NativeRun(library, settings.batchTokens);
    const isEncoder = library.hasEncoder(model) && !library.hasDecoder(model);
    this.#compute = isEncoder ? library.encode : library.decode;
    if (pooling === NO_POOLING)
      throw new Error(
        `The model does not say how tokens become one vector: set options.pooling to mean, first or last`,
      );
  }

  /**
   * With the first and last tokens that the model wants; text that spells a control
   * token stays text.
   */
  tokenize(text: string): Int32Array {
    return this.#cut(text, { special: true, control: false });
  }

  #cut(
    text: string,
    { special, control }: { special: boolean; control: boolean },
  ): Int32Array {
    const bytes = Buffer.from(text);
    const into = (tokens: Int32Array): number =>
      this.library.tokenize(
        this.#vocabulary,
        bytes,
        bytes.length,
        tokens,
        tokens.length,
        special,
        control,
      );
    let count = into(this.#scratch);
    if (count < 0) count = into((this.#scratch = new Int32Array(-count)));
    return this.#scratch.slice(0, count);
  }

  /** One native run; nothing of the one before is left. @throws Error when it fails */
  embed(tokens: Int32Array, counts: readonly number[]): Float32Array {
    const memory = this.library.memory(this.#context);
    if (memory !== null) this.library.clearMemory(memory, false);
    this.#run.clear();
    let at = 0;
    // The vector is made of all positions, or of one that only the model knows.
    counts.forEach((count, sequence) =>
      this.#run.add(sequence, 0, tokens.subarray(at, (at += count)), 1),
    );
    const code = this.#compute(this.#context, this.#run.native);
    if (code !== 0) throw new Error(`llama.cpp could not compute this batch (${code})`);
    const vectors = new Float32Array(counts.length * this.dimensions);
    counts.forEach((_, sequence) =>
      vectors.set(this.#vector(sequence), sequence * this.dimensions),
    );
    return vectors;
  }

  #vector(sequence: number): Float32Array {
    const pointer = this.library.vectorOf(this.#context, sequence);
    if (pointer === null) throw new Error('llama.cpp made no vector');
    const vector = Float32Array.from(
      koffi.decode(pointer, koffi.array('float', this.dimensions)) as Float32Array,
    );
    if (this.ranks) return vector.map(score => this.#probability(score));
    const length = Math.sqrt(vector.reduce((sum, part) => sum + part * part, 0));
    if (!Number.isFinite(length))
      throw new Error('The model made a vector that is not finite');
    return length === 0 ? vector : vector.map(part => part / length);
  }

  /**
   * Qwen's models end in a softmax, which is a probability already; the others
   * in a logit.
   */
  #probability(score: number): number {
    if (!Number.isFinite(score))
      throw new Error('The model made a score that is not finite');
    return this.description.startsWith('qwen3') ? score : 1 / (1 + Math.exp(-score));
  }
}

function openContext(
  library: CLibrary,
  model: Pointer,
  settings: LlamaEmbeddingOptions,
): Pointer {
  const { batchTokens, batchTexts, batchThreads, pooling } = settings;
  const context = library.openContext(model, {
    ...library.contextDefaults(),
    n_ctx: batchTokens,
    n_batch: batchTokens,
    n_ubatch: batchTokens,
    n_seq_max: batchTexts,
    n_threads: batchThreads,
    n_threads_batch: batchThreads,
    embeddings: true,
    // One memory for all texts of a run: divided, each would have its share only, and
    // texts of unlike length their own runs.
    kv_unified: true,
    pooling_type: pooling === 'model' ? FROM_FILE : POOLINGS.indexOf(pooling),
  });
  if (context === null)
    throw new Error(`llama.cpp has no memory for a batch of ${batchTokens} tokens`);
  return context;
}

void serveChild(open);

async function open(settings: LlamaEmbeddingOptions): Promise<{
  readonly info: EmbeddingInfo;
  readonly operations: EmbeddingOperations;
}> {
  const { size } = await stat(settings.modelFile);
  const device = await openDevice(settings.device);
  const model = new EmbeddingModel(openCLibrary(), settings, device !== 'cpu');
  // The first run of everything is slow.
  const probe = model.tokenize('a');
  model.embed(probe, [probe.length]);
  const { dimensions, vocabularySize, trainedContextTokens, description, ranks } = model;
  const revision = `${basename(settings.modelFile)} (${description}, ${size} bytes)`;
  return {
    info: { device, revision, dimensions, vocabularySize, trainedContextTokens, ranks },
    operations: {
      tokenize: texts => texts.map(text => model.tokenize(text)),
      pairs: ({ query, documents }) => model.pairs(query, documents),
      embed: ({ tokens, counts }) => model.embed(tokens, counts),
    },
  };
}
