import { type CacheTensors, gatherRows, grows, type RowOf, type RowTensor, sizeOf } from './kv-batches.js';
import { type WhisperConfig, type WhisperFolder } from './model-files.js';
import { asFloat32, floats, integers, OnnxSession, type SessionPlace } from './onnx-session.js';

/** A prompt and the window it is about. */
export interface PromptRow {
  readonly tokens: readonly number[];
  /** The window's encoder states. */
  readonly hidden: RowOf;
}

export interface DecoderAnswer {
  /** Scores after one token of one row; a view that may be changed. */
  scores(row: number, place: number): Float32Array;
  /** After `next` the part that grows; empty if it was not asked for. */
  readonly cache: CacheTensors;
  /** By layer, [rows, heads, tokens, positions]; empty: not asked for, or the model does not show them. */
  crossAttentions(): readonly RowTensor[];
}

const PAST = 'past_key_values.';
const CROSS = 'cross_attentions.';
const CACHES = ['decoder.key', 'decoder.value', 'encoder.key', 'encoder.value'];
/** Newer exports ask for the places of the new tokens. */
const POSITIONS = 'cache_position';

interface DecoderRun {
  readonly past: Record<string, RowTensor>;
  readonly hidden: RowTensor;
  /** Places in the cache; undefined: the run takes no cache. */
  readonly from: number | undefined;
  /** What it answers beside the scores: caches, by the names they have as inputs, and attentions. */
  readonly caches: readonly string[];
  readonly attentions: readonly string[];
}

/** What is read of a run over prompts, beside its scores. */
type PrefillResult = 'cache' | 'attentions' | 'nothing';

const presentOf = (past: string): string => `present.${past.slice(PAST.length)}`;

/**
 * The two ONNX sessions of a Whisper model, with the names and shapes of the public exports. Runs block their thread.
 */
export class WhisperModel {
  readonly #pastNames: readonly string[];
  readonly #crossNames: readonly string[];
  #windowMs = 0;

  private constructor(
    private readonly config: WhisperConfig,
    private readonly encoder: OnnxSession,
    private readonly decoder: OnnxSession,
  ) {
    const layers = Array.from({ length: config.decoderLayers }, (_, layer) => layer);
    this.#pastNames = layers.flatMap(layer => CACHES.map(cache => `${PAST}${layer}.${cache}`));
    this.#crossNames = layers.map(layer => `${CROSS}${layer}`).filter(name => decoder.hasOutput(name));
  }

  /**
   * Opens both sessions and computes a silent window with two rows, as requests do. Rejects with what does not fit:
   * file, input, output, or what the graph cannot compute.
   */
  static async open(folder: WhisperFolder, place: SessionPlace & { readonly maxBatch: number }): Promise<WhisperModel> {
    const encoder = await OnnxSession.open(folder.encoderFile, place);
    const decoder = await OnnxSession.open(folder.decoderFile, place);
    const model = new WhisperModel(folder.config, encoder, decoder);
    encoder.require({ inputs: ['input_features'], outputs: ['last_hidden_state'] });
    decoder.require({
      inputs: ['input_ids', 'encoder_hidden_states', 'use_cache_branch', ...model.#pastNames],
      optional: [POSITIONS],
      outputs: ['logits', ...model.#pastNames.map(presentOf)],
    });
    const startedMs = performance.now();
    await model.#prove(Math.min(2, place.maxBatch)).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`${folder.decoderFile} and its encoder cannot compute a window: ${why}`, { cause: error });
    });
    model.#windowMs = performance.now() - startedMs;
    return model;
  }

  get showsCrossAttentions(): boolean {
    return this.#crossNames.length === this.config.decoderLayers;
  }

  /** What the first window took. */
  get windowMs(): number {
    return this.#windowMs;
  }

  /** One encoder run. `features` is [count][mels][windowFrames]. */
  async encode(features: Float32Array, count: number): Promise<RowTensor> {
    const dims = [count, this.config.mels, this.config.windowFrames];
    const output = await this.encoder.run({ input_features: floats(features, dims) }, ['last_hidden_state']);
    return output('last_hidden_state');
  }

  /**
   * One decoder run over whole prompts, without a cache. Shorter prompts are padded on the right, which no other place
   * sees.
   */
  async prefill(rows: readonly PromptRow[], wanted: PrefillResult = 'cache'): Promise<DecoderAnswer> {
    const length = Math.max(...rows.map(({ tokens }) => tokens.length));
    const ids = rows.flatMap(({ tokens }) => [
      ...tokens,
      ...Array<number>(length - tokens.length).fill(this.config.endToken),
    ]);
    const headSize = this.config.width / this.config.decoderHeads;
    const empty = floats(new Float32Array(0), [rows.length, this.config.decoderHeads, 0, headSize]);
    const past = Object.fromEntries(this.#pastNames.map(name => [name, empty]));
    const hidden = gatherRows(rows.map(row => row.hidden));
    const caches = wanted === 'cache' ? this.#pastNames : [];
    const attentions = wanted === 'attentions' ? this.#crossNames : [];
    return this.#decode(ids, rows.length, { past, hidden, from: undefined, caches, attentions });
  }

  /** One decoder run that takes one token of every row; all rows have equally long caches. */
  async next(tokens: readonly number[], cache: CacheTensors): Promise<DecoderAnswer> {
    const [, , from = 0] = cache.get(this.#pastNames[0]!)!.dims;
    // The cached branch reads the audio from its cache; this input is only required to exist.
    const hidden = this.#unreadHidden(tokens.length);
    const caches = this.#pastNames.filter(grows);
    return this.#decode(tokens, tokens.length, {
      past: Object.fromEntries(cache),
      hidden,
      from,
      caches,
      attentions: [],
    });
  }

  async close(): Promise<void> {
    await this.encoder.release();
    await this.decoder.release();
  }

  async #decode(
    ids: readonly number[],
    rows: number,
    { past, hidden, from, caches, attentions }: DecoderRun,
  ): Promise<DecoderAnswer> {
    const length = ids.length / rows;
    const places = Array.from({ length }, (_, i) => (from ?? 0) + i);
    const inputs = {
      ...past,
      input_ids: integers(ids, [rows, length]),
      encoder_hidden_states: hidden,
      use_cache_branch: { type: 'bool', data: Uint8Array.of(from === undefined ? 0 : 1), dims: [1] },
      ...(this.decoder.hasInput(POSITIONS) && { [POSITIONS]: integers(places, [length]) }),
    };
    const output = await this.decoder.run(inputs, ['logits', ...caches.map(presentOf), ...attentions]);
    const logits = asFloat32(output('logits'));
    const scores = logits.data as unknown as Float32Array;
    const size = logits.dims.at(-1) ?? 1;
    return {
      scores: (row, place) => scores.subarray((row * length + place) * size, (row * length + place + 1) * size),
      cache: new Map(caches.map(name => [name, output(presentOf(name))])),
      crossAttentions: () => attentions.map(name => asFloat32(output(name))),
    };
  }

  /** Computes what a request computes, so that a graph that cannot is found before the first one. */
  async #prove(rows: number): Promise<void> {
    const { mels, windowFrames, startToken, vocabulary } = this.config;
    const hidden = { tensor: await this.encode(new Float32Array(mels * windowFrames), 1), row: 0 };
    const prompts = Array.from({ length: rows }, () => ({ tokens: [startToken, startToken], hidden }));
    const { cache } = await this.prefill(prompts);
    const scores = (await this.next(Array<number>(rows).fill(startToken), cache)).scores(rows - 1, 0);
    if (scores.length !== vocabulary) {
      throw new Error(`it scores ${scores.length} tokens; config.json has vocab_size ${vocabulary}`);
    }
    if (!scores.every(Number.isFinite)) throw new Error('its scores are not finite numbers');
  }

  #unreadHidden(rows: number): RowTensor {
    const [, positions] = this.decoder.shapeOf('encoder_hidden_states');
    const dims = [rows, typeof positions === 'number' ? positions : 1, this.config.width];
    return floats(new Float32Array(sizeOf(dims)), dims);
  }
}
