import { EngineError } from '@switchyard/engine-api/coded-error.js';
import {
  cancelledError,
  type EngineInfo,
  failed,
  type ItemOutcome,
  succeeded,
} from '@switchyard/engine-api/engine.js';
import { rerankRequest } from '@switchyard/engine-api/rerank-request.js';
import {
  type Embedding,
  type EmbedItem,
  type TextEmbedder,
} from '@switchyard/engine-api/text-embedder.js';
import { LlamaChild } from './child.js';
import { embeddingRuns, readEmbeddingRequest } from './embedding-request.js';
import { type LlamaEmbeddingOptions } from './options.js';
import { LlamaProcessGone } from './process.js';
import { type EmbeddingInfo, type EmbeddingOperations } from './protocol.js';

/**
 * As for steps of generation: what a token may add before the process is taken as hung.
 */
const TOKEN_LIMIT_MS = 250;
/**
 * Several texts share a native run of at most so many tokens on a CPU, where longer runs are no
 * faster. A cancel acts between two operations of a run, which take as long as it has tokens.
 */
const CPU_RUN_TOKENS = 256;
/** Size of the thread pool of the child process; llama.cpp computes on threads of its own. */
const POOL_THREADS = 4;
/** Longer texts are refused before they are cut into tokens. */
const LONGEST_TOKEN_BYTES = 256;

/** A request of the group that is computed. */
interface Work {
  readonly item: EmbedItem;
  readonly dimensions: number;
  readonly vectors: Float32Array;
  /** Token ids of each text of the request. */
  readonly tokens: readonly Int32Array[];
  error?: Error;
}

/** One text of a group: the request that it belongs to, and its index there. */
interface TextPiece {
  readonly work: Work;
  readonly input: number;
  readonly tokens: Int32Array;
}

/**
 * Vectors of llama.cpp in a process of its own: texts of all requests of a group share
 * native runs, like lengths together.
 */
export class LlamaEmbedder implements TextEmbedder {
  readonly kind = 'embedding';
  readonly #child: LlamaChild<EmbeddingOperations, EmbeddingInfo>;
  #loading: Promise<void> | undefined;
  #known: EmbeddingInfo | undefined;
  /** Native runs so far, so that specs see that texts share them. */
  runs = 0;

  constructor(private readonly options: LlamaEmbeddingOptions) {
    this.#child = new LlamaChild(
      './native/embedder.child.js',
      options,
      POOL_THREADS,
      info => (this.#known = info),
    );
  }

  get info(): EngineInfo {
    const { device, maxBatch, shortenable } = this.options;
    return {
      engine: 'llama-cpp',
      device: this.#known?.device ?? device,
      revision: this.#known?.revision ?? '',
      maxBatch,
      maxConcurrent: 1,
      streams: 0,
      languages: [],
      capabilities: this.#ranks
        ? ['rerank']
        : shortenable
          ? ['embeddings', 'dimensions']
          : ['embeddings'],
    };
  }

  get #ranks(): boolean {
    return this.#known?.ranks ?? this.options.pooling === 'rank';
  }

  /** Of the process with the model in it; for tests that kill it. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  load(): Promise<void> {
    return (this.#loading ??= this.#child.open());
  }

  close(): Promise<void> {
    return this.#child.close();
  }

  async embed(batch: readonly EmbedItem[]): Promise<readonly ItemOutcome<Embedding>[]> {
    const works = await Promise.all(batch.map(item => this.#work(item)));
    const pieces = works.flatMap((work): TextPiece[] =>
      'ok' in work ? [] : work.tokens.map((tokens, input) => ({ work, input, tokens })),
    );
    const { batchTokens, batchTexts } = this.options;
    const most = this.#known?.device === 'cpu' ? CPU_RUN_TOKENS : batchTokens;
    const shape = { batchTexts, batchTokens: Math.min(most, batchTokens) };
    for (const run of embeddingRuns(pieces, shape)) await this.#compute(run);
    return works.map(work => ('ok' in work ? work : outcomeOf(work)));
  }

  /** A request with its tokens, or its outcome already. */
  async #work(item: EmbedItem): Promise<Work | ItemOutcome<Embedding>> {
    try {
      if (item.signal.aborted) throw cancelledError(item.requestId);
      const { tokens, dimensions } = await (item.form === 'rerank'
        ? this.#pairs(item)
        : this.#texts(item));
      const vectors = new Float32Array(tokens.length * dimensions);
      return { item, dimensions, tokens, vectors };
    } catch (error) {
      return failed(error);
    }
  }

  async #texts({ body }: EmbedItem) {
    const { dimensions: full, vocabularySize, ranks } = this.#use();
    if (ranks)
      throw new EngineError('unsupported_task', 'This model ranks documents and makes no vectors.');
    const { shortenable } = this.options;
    const { inputs, dimensions } = readEmbeddingRequest(body, {
      dimensions: full,
      vocabularySize,
      shortenable,
    });
    return { tokens: await this.#tokens(inputs), dimensions: dimensions ?? full };
  }

  /**
   * Token ids of each document of a rerank request, with the query before it.
   * @throws EngineError
   */
  async #pairs({ body }: EmbedItem) {
    if (!this.#use().ranks)
      throw new EngineError('unsupported_task', 'This model makes vectors and ranks nothing.');
    const { query, documents } = rerankRequest(body);
    const demands = this.#demands(index => `documents[${index}]`, ' with the query');
    const lengths = documents.map(({ length }) => query.length + length);
    lengths.forEach(demands.characters);
    const tokens = await this.#child.ask('pairs', { query, documents });
    lengthsOf(tokens).forEach(demands.tokens);
    return { tokens, dimensions: 1 };
  }

  /**
   * Checks of the length of a text, in characters and in tokens.
   * @param param name of the field with the text of an index
   * @param beside what else counts, for the message
   */
  #demands(param: (index: number) => string, beside = '') {
    const most = Math.min(this.options.batchTokens, this.#use().trainedContextTokens);
    const demand =
      (unit: string, limit: number) =>
      (length: number, index: number): void => {
        if (length <= limit) return;
        const message = `\`${param(index)}\` has ${length} ${unit}${beside}; this model takes at most ${most} tokens in one text.`;
        throw new EngineError('context_length_exceeded', message, {
          param: param(index),
        });
      };
    return {
      characters: demand('characters', most * LONGEST_TOKEN_BYTES),
      tokens: demand('tokens', most),
    };
  }

  async #tokens(
    inputs: ReturnType<typeof readEmbeddingRequest>['inputs'],
  ): Promise<readonly Int32Array[]> {
    const texts: string[] = [];
    const demands = this.#demands(index => inputs[index]!.param);
    inputs.forEach(({ input }, index) => {
      if (typeof input !== 'string') return;
      demands.characters(input.length, index);
      texts.push(input);
    });
    const cut = texts.length === 0 ? [] : [...(await this.#child.ask('tokenize', texts))];
    const tokens = inputs.map(({ input }) =>
      typeof input === 'string' ? cut.shift()! : Int32Array.from(input),
    );
    lengthsOf(tokens).forEach(demands.tokens);
    return tokens;
  }

  /**
   * One native run. Where it fails, each of its texts has one of its own, so that a bad
   * one fails alone.
   */
  async #compute(run: readonly TextPiece[], losses = 0): Promise<void> {
    const pieces = run.filter(({ work }) => !work.error && !work.item.signal.aborted);
    if (pieces.length === 0) return;
    try {
      await this.#child.reopen();
      const vectors = await this.#vectors(pieces);
      const { dimensions: full } = this.#use();
      pieces.forEach((piece, at) => keep(piece, vectors.subarray(at * full, (at + 1) * full)));
    } catch (error) {
      const died = error instanceof LlamaProcessGone ? 1 : 0;
      if (pieces.length > 1) for (const piece of pieces) await this.#compute([piece]);
      // The process may have died of something else, once.
      else if (losses < died) await this.#compute(pieces, losses + 1);
      else for (const { work } of pieces) work.error ??= error as Error;
    }
  }

  async #vectors(pieces: readonly TextPiece[]): Promise<Float32Array> {
    const counts = lengthsOf(pieces.map(({ tokens }) => tokens));
    const tokens = new Int32Array(counts.reduce((sum, count) => sum + count, 0));
    let at = 0;
    for (const piece of pieces) {
      tokens.set(piece.tokens, at);
      at += piece.tokens.length;
    }
    const run = ++this.runs;
    const signals = pieces.map(({ work }) => work.item.signal);
    const forget = onceAllAborted(signals, () => void this.#stop(run));
    try {
      const limitMs = this.options.stepTimeoutMs + tokens.length * TOKEN_LIMIT_MS;
      return await this.#child.call('embed', { run, tokens, counts }, limitMs);
    } finally {
      forget();
    }
  }

  /** Stops a native run. A process that has ended has stopped it, too. */
  #stop(run: number): Promise<void> {
    return this.#child.call('stop', run).catch(() => undefined);
  }

  #use(): EmbeddingInfo {
    if (this.#known === undefined)
      throw new EngineError('engine_failed', 'The engine is not loaded.');
    return this.#known;
  }
}

/** Calls `act` when all signals are aborted. @returns what removes the listeners */
function onceAllAborted(signals: readonly AbortSignal[], act: () => void): () => void {
  const check = (): void => {
    if (signals.every(({ aborted }) => aborted)) act();
  };
  const all = new Set(signals);
  for (const signal of all) signal.addEventListener('abort', check, { once: true });
  return () => {
    for (const signal of all) signal.removeEventListener('abort', check);
  };
}

/**
 * The beginning of a vector has not its length: a shortened one is brought to
 * length 1 again.
 */
function keep({ work: { dimensions, vectors }, input }: TextPiece, vector: Float32Array): void {
  const part = vector.subarray(0, dimensions);
  const length = Math.sqrt(part.reduce((sum, number) => sum + number * number, 0));
  vectors.set(
    part.length === vector.length || length === 0 ? part : part.map(number => number / length),
    input * dimensions,
  );
}

function outcomeOf({ item, error, dimensions, vectors, tokens }: Work): ItemOutcome<Embedding> {
  if (item.signal.aborted) return failed(cancelledError(item.requestId));
  if (error) return failed(error);
  const promptTokens = tokens.reduce((sum, { length }) => sum + length, 0);
  return succeeded({
    vectors,
    dimensions,
    usage: { promptTokens, completionTokens: 0, cachedTokens: 0 },
  });
}

const lengthsOf = (texts: readonly Int32Array[]): readonly number[] =>
  texts.map(({ length }) => length);
