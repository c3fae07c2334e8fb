import type * as Onnx from 'onnxruntime-node';
import { type CacheTensors, gatherRows, type RowData, type RowOf, type RowTensor, sizeOf } from './kv-batches.js';
import { type WhisperConfig, type WhisperFolder } from './model-files.js';

export type OnnxRuntime = typeof Onnx;
export type OnnxSession = Onnx.InferenceSession;
export type OnnxTensor = Onnx.Tensor;

const INSTALL = 'npm install onnxruntime-node@1.30.0';

/** Loaded when an engine needs it: 290 MB that nobody else pays for. */
export async function loadOnnxRuntime(): Promise<OnnxRuntime> {
  try {
    const module = (await import('onnxruntime-node')) as OnnxRuntime & { default?: OnnxRuntime };
    const runtime = module.default ?? module;
    // What fails is thrown, and told with what to do about it; the library's own line on stderr would be a second one.
    runtime.env.logLevel = 'fatal';
    return runtime;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`onnxruntime-node is not there or does not load: ${INSTALL} (${why})`, { cause: error });
  }
}

export interface SessionPlace {
  /** "cpu" or "cuda:N". */
  readonly device: string;
  /** Threads of one operator. */
  readonly threads: number;
}

/** Never falls back to another device: a model that was to run on a GPU and does not is an error. */
export async function openSession(runtime: OnnxRuntime, file: string, place: SessionPlace): Promise<OnnxSession> {
  const [kind, index = '0'] = place.device.split(':');
  const cuda = kind === 'cuda';
  try {
    return await runtime.InferenceSession.create(file, {
      executionProviders: [cuda ? { name: 'cuda', deviceId: Number(index) } : 'cpu'],
      ...{ intraOpNumThreads: place.threads, interOpNumThreads: 1, logSeverityLevel: 3 },
      // A memory plan is kept for every combination of shapes ever seen; here each step has another one.
      enableMemPattern: false,
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const hint = cuda
      ? ' The CUDA provider needs an NVIDIA driver, CUDA 12, cuDNN 9 and its libraries; switchyard gpu check names what ' +
        'is missing.'
      : '';
    throw new Error(`ONNX Runtime cannot open ${file} on ${place.device}: ${why}.${hint}`, { cause: error });
  }
}

/** A prompt and the window it is about. */
export interface PromptRow {
  readonly tokens: readonly number[];
  /** The window's encoder states. */
  readonly hidden: RowOf;
}

export interface DecoderAnswer {
  /** Scores after one token of one row; a view that may be changed. */
  scores(row: number, place: number): Float32Array;
  readonly cache: CacheTensors;
  /** By layer, [rows, heads, tokens, positions]; empty: the model does not show them. */
  readonly crossAttentions: readonly RowTensor[];
}

const PAST = 'past_key_values.';
const CROSS = 'cross_attentions.';

/**
 * The two ONNX sessions of a Whisper model, with the names and shapes of the public exports. Runs block their thread.
 */
export class WhisperModel {
  readonly #pastNames: readonly string[];
  readonly #crossNames: readonly string[];

  private constructor(
    private readonly runtime: OnnxRuntime,
    private readonly config: WhisperConfig,
    private readonly encoder: OnnxSession,
    private readonly decoder: OnnxSession,
  ) {
    this.#pastNames = decoder.inputNames.filter(name => name.startsWith(PAST));
    this.#crossNames = Array.from({ length: config.decoderLayers }, (_, layer) => `${CROSS}${layer}`).filter(name =>
      decoder.outputNames.includes(name),
    );
  }

  /** Rejects with what does not fit: file, input or output. */
  static async open(folder: WhisperFolder, place: SessionPlace): Promise<WhisperModel> {
    const runtime = await loadOnnxRuntime();
    const encoder = await openSession(runtime, folder.encoderFile, place);
    const decoder = await openSession(runtime, folder.decoderFile, place);
    const caches = ['decoder.key', 'decoder.value', 'encoder.key', 'encoder.value'];
    const layers = Array.from({ length: folder.config.decoderLayers }, (_, layer) =>
      caches.map(name => `${layer}.${name}`),
    );
    const names = layers.flat();
    requireNames(folder.encoderFile, encoder, { inputs: ['input_features'], outputs: ['last_hidden_state'] });
    requireNames(folder.decoderFile, decoder, {
      inputs: ['input_ids', 'encoder_hidden_states', 'use_cache_branch', ...names.map(name => PAST + name)],
      outputs: ['logits', ...names.map(name => `present.${name}`)],
    });
    return new WhisperModel(runtime, folder.config, encoder, decoder);
  }

  get showsCrossAttentions(): boolean {
    return this.#crossNames.length === this.config.decoderLayers;
  }

  /** One encoder run. `features` is [count][mels][windowFrames]. */
  async encode(features: Float32Array, count: number): Promise<RowTensor> {
    const dims = [count, this.config.mels, this.config.windowFrames];
    const answer = await this.encoder.run({
      input_features: this.#floats(this.encoder, 'input_features', features, dims),
    });
    return rowTensor(answer.last_hidden_state!);
  }

  /**
   * One decoder run over whole prompts, without a cache; shorter ones are padded to the right, which no other place
   * sees.
   */
  async prefill(rows: readonly PromptRow[]): Promise<DecoderAnswer> {
    const length = Math.max(...rows.map(({ tokens }) => tokens.length));
    const ids = rows.flatMap(({ tokens }) => [
      ...tokens,
      ...Array<number>(length - tokens.length).fill(this.config.endToken),
    ]);
    const headSize = this.config.width / this.config.decoderHeads;
    const empty = [rows.length, this.config.decoderHeads, 0, headSize];
    const past = this.#pastNames.map(
      name => [name, this.#floats(this.decoder, name, new Float32Array(0), empty)] as const,
    );
    const hidden = this.#tensor(gatherRows(rows.map(row => row.hidden)));
    return this.#decode(ids, rows.length, { past: Object.fromEntries(past), hidden, cached: false });
  }

  /** One decoder run that takes one token of every row; all rows have equally long caches. */
  async next(tokens: readonly number[], cache: CacheTensors): Promise<DecoderAnswer> {
    const past = [...cache].map(([name, tensor]) => [name, this.#tensor(tensor)] as const);
    // The cached branch reads the audio from its cache; this input only has to be there.
    const unread = this.#unreadHidden(tokens.length);
    return this.#decode(tokens, tokens.length, { past: Object.fromEntries(past), hidden: unread, cached: true });
  }

  async close(): Promise<void> {
    await this.encoder.release();
    await this.decoder.release();
  }

  async #decode(
    ids: readonly number[],
    rows: number,
    { past, hidden, cached }: { past: Record<string, OnnxTensor>; hidden: OnnxTensor; cached: boolean },
  ): Promise<DecoderAnswer> {
    const { Tensor } = this.runtime;
    const answer = await this.decoder.run({
      ...past,
      input_ids: new Tensor('int64', BigInt64Array.from(ids, BigInt), [rows, ids.length / rows]),
      encoder_hidden_states: hidden,
      use_cache_branch: new Tensor('bool', [cached], [1]),
    });
    const [, places = 1, vocabulary = 1] = answer.logits!.dims;
    const scores = floatsOf(answer.logits!.data as unknown as RowData);
    const presentOf = (name: string): string => `present.${name.slice(PAST.length)}`;
    return {
      scores: (row, place) =>
        scores.subarray((row * places + place) * vocabulary, (row * places + place + 1) * vocabulary),
      cache: new Map(this.#pastNames.map(name => [name, rowTensor(answer[presentOf(name)]!)])),
      crossAttentions: this.#crossNames.map(name => rowTensor(answer[name]!)),
    };
  }

  #unreadHidden(rows: number): OnnxTensor {
    const shape = shapeOf(this.decoder, 'encoder_hidden_states');
    const positions = typeof shape[1] === 'number' ? shape[1] : 1;
    const dims = [rows, positions, this.config.width];
    return this.#floats(this.decoder, 'encoder_hidden_states', new Float32Array(sizeOf(dims)), dims);
  }

  #tensor({ type, data, dims }: RowTensor): OnnxTensor {
    return new this.runtime.Tensor(type as 'float32', data as unknown as Float32Array, dims);
  }

  #floats(session: OnnxSession, input: string, data: Float32Array, dims: readonly number[]): OnnxTensor {
    const metadata = session.inputMetadata.find(({ name }) => name === input);
    if (metadata?.isTensor && metadata.type === 'float16')
      return this.#tensor({ type: 'float16', data: halves(data), dims });
    return this.#tensor({ type: 'float32', data, dims });
  }
}

interface HalfFloats extends RowData {
  [Symbol.iterator](): Iterator<number>;
}
interface HalfFloatArray {
  from(values: Iterable<number>): HalfFloats;
}

function halves(data: Float32Array): RowData {
  const { Float16Array } = globalThis as unknown as { readonly Float16Array?: HalfFloatArray };
  if (Float16Array === undefined) throw new Error('16 bit features need Node 24 or newer; take dtype fp32.');
  return Float16Array.from(data);
}

function floatsOf(data: RowData): Float32Array {
  return data instanceof Float32Array ? data : Float32Array.from(data as HalfFloats as Iterable<number>);
}

function rowTensor(tensor: OnnxTensor): RowTensor {
  return { type: tensor.type, dims: tensor.dims, data: tensor.data as unknown as RowData };
}

function shapeOf(session: OnnxSession, input: string): readonly (number | string)[] {
  const metadata = session.inputMetadata.find(({ name }) => name === input);
  return metadata?.isTensor ? metadata.shape : [];
}

function requireNames(file: string, session: OnnxSession, needed: { inputs: string[]; outputs: string[] }): void {
  const missing = [
    ...needed.inputs.filter(name => !session.inputNames.includes(name)).map(name => `input ${name}`),
    ...needed.outputs.filter(name => !session.outputNames.includes(name)).map(name => `output ${name}`),
  ];
  if (missing.length === 0) return;
  throw new Error(
    `${file} does not fit config.json or is no public Whisper export: it has no ${missing.join(', no ')}.`,
  );
}
