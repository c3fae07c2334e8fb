import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { serveChild } from '@switchyard/engine-api/threads/remote-calls.js';
import { type LlamaEmbeddingOptions } from '../options.js';
import { type EmbeddingInfo, type EmbeddingOperations, POOLINGS } from '../protocol.js';
import { type Pointer } from './c-library.js';
import { openModel } from './library.js';
import {
  floatsAt,
  type NativeModel,
  offThread,
  openNativeContext,
  tokenizer,
} from './native-model.js';
import { NativeRun } from './native-run.js';
import { RunStop } from './run-stop.js';

const PLACES = /(\{query\}|\{document\})/;
/** No token has this id: the vocabulary lacks the kind. */
const ABSENT = -1;
const NO_POOLING = 0;
const RANK = 4;
const FROM_FILE = -1;

/**
 * A query and a document as one text, in the form that a reranking model was trained
 * with: its template `rerank`, or the tokens that begin, separate and end two texts. What
 * callers wrote never becomes a control token.
 */
function pairEncoder(
  { library, model, vocabulary }: NativeModel,
  cut: ReturnType<typeof tokenizer>,
) {
  const tokenize = (text: string, control: boolean): Int32Array =>
    cut(text, { special: false, control });
  const template = library.template(model, 'rerank')?.split(PLACES) ?? [];
  const separator = one(library.separator(vocabulary), library.addsSeparator(vocabulary));
  const last = library.endOfText(vocabulary);
  const end = one(
    last === ABSENT ? library.separator(vocabulary) : last,
    library.addsEnd(vocabulary),
  );
  const begin = one(library.beginningOfText(vocabulary), library.addsBeginning(vocabulary));
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

/** One native run; nothing of the one before is left. Throws when it fails. */
function embedding(
  { library, model }: NativeModel,
  context: Pointer,
  {
    batchTokens,
    dimensions,
    finished,
    stop,
  }: {
    readonly batchTokens: number;
    readonly dimensions: number;
    readonly finished: (vector: Float32Array) => Float32Array;
    readonly stop: RunStop;
  },
): EmbeddingOperations['embed'] {
  const native = new NativeRun(library, batchTokens);
  const isEncoder = library.hasEncoder(model) && !library.hasDecoder(model);
  const compute = isEncoder ? library.encode : library.decode;
  return async ({ run, tokens, counts }) => {
    const memory = library.memory(context);
    if (memory !== null) library.clearMemory(memory, false);
    native.clear();
    let at = 0;
    // The vector is made of all positions, or of one that only the model knows.
    counts.forEach((count, sequence) =>
      native.add(sequence, 0, tokens.subarray(at, (at += count)), 1),
    );
    stop.begin(run);
    const code = await offThread(compute, context, native.native);
    if (code !== 0) throw new Error(`llama.cpp could not compute this batch (${code})`);
    const vectors = new Float32Array(counts.length * dimensions);
    counts.forEach((_, sequence) => {
      const pointer = library.vectorOf(context, sequence);
      if (pointer === null) throw new Error('llama.cpp made no vector');
      const vector = floatsAt(pointer, dimensions);
      vectors.set(finished(vector), sequence * dimensions);
    });
    return vectors;
  };
}

/** The vector with length 1. */
function unitVector(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, part) => sum + part * part, 0));
  if (!Number.isFinite(length)) throw new Error('The model made a vector that is not finite');
  return length === 0 ? vector : vector.map(part => part / length);
}

/**
 * Qwen's models end in a softmax, which is a probability already; the others in a logit.
 */
function probability(score: number, description: string): number {
  if (!Number.isFinite(score)) throw new Error('The model made a score that is not finite');
  return description.startsWith('qwen3') ? score : 1 / (1 + Math.exp(-score));
}

function openContext(native: NativeModel, settings: LlamaEmbeddingOptions, stop: RunStop): Pointer {
  const { batchTokens, batchTexts, batchThreads, pooling } = settings;
  const params = {
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
    ...stop.params,
    pooling_type: pooling === 'model' ? FROM_FILE : POOLINGS.indexOf(pooling),
  };
  return openNativeContext(native, params, `a batch of ${batchTokens} tokens`);
}

void serveChild(open);

/**
 * A model that makes one vector of a text, or one score of a query with a document, on
 * llama.h. One run at a time; texts are cut into tokens beside it.
 */
async function open(settings: LlamaEmbeddingOptions): Promise<{
  readonly info: EmbeddingInfo;
  readonly operations: EmbeddingOperations;
}> {
  const { modelFile, batchTokens } = settings;
  process.title = `switchyard llama-cpp ${basename(modelFile)}`;
  const { size } = await stat(modelFile);
  const { device, native } = await openModel(settings);
  const { library, model, vocabularySize, description } = native;
  const stop = new RunStop();
  const context = openContext(native, settings, stop);
  const pooling = library.pooling(context);
  if (pooling === NO_POOLING)
    throw new Error(
      `The model does not say how tokens become one vector: set options.pooling to mean, first or last`,
    );
  const ranks = pooling === RANK;
  const dimensions = ranks ? 1 : library.vectorSize(model);
  const cut = tokenizer(native);
  const tokenize = (text: string): Int32Array => cut(text, { special: true, control: false });
  const pairs = pairEncoder(native, cut);
  const probabilities = (scores: Float32Array): Float32Array =>
    scores.map(score => probability(score, description));
  const finished = ranks ? probabilities : unitVector;
  const embed = embedding(native, context, { batchTokens, dimensions, finished, stop });
  // The first run of everything is slow.
  const probe = tokenize('a');
  await embed({ run: Infinity, tokens: probe, counts: [probe.length] });
  const revision = `${basename(modelFile)} (${description}, ${size} bytes)`;
  const trainedContextTokens = library.trainedContext(model);
  return {
    info: { device, revision, dimensions, vocabularySize, trainedContextTokens, ranks },
    operations: {
      tokenize: texts => texts.map(text => tokenize(text)),
      pairs: ({ query, documents }) => pairs(query, documents),
      embed,
      stop: newest => stop.stop(newest),
    },
  };
}
