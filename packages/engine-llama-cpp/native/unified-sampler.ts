import koffi from 'koffi';
import { type CLibrary, type Pointer } from './c-library.js';
import { type NativeSampler } from './library.js';

const TOKEN_DATA = koffi.struct('llama_token_data', {
  id: 'int32_t',
  logit: 'float',
  p: 'float',
});
const TOKEN_DATA_NUMBERS = 3;
const CANDIDATES = koffi.struct('llama_token_data_array', {
  data: 'void *',
  size: 'size_t',
  selected: 'int64_t',
  sorted: 'bool',
});

/** As `SequenceDrawer` sets it up: what is not there is off. */
interface SamplerConfig {
  readonly temperature: number;
  readonly seed: number;
  readonly topK?: number;
  readonly topP?: number;
  readonly minP?: number;
  readonly repeatPenalty?: number;
  readonly repeatPenaltyFrequencyPenalty?: number;
  readonly repeatPenaltyPresencePenalty?: number;
  readonly repeatPenaltyTokens?: Uint32Array;
  readonly tokenBiasKeys?: Uint32Array;
  readonly tokenBiasValues?: Float32Array;
  readonly grammarEvaluationState?: Pointer;
}

/** Tokens and their logits in native memory, for samplers to choose from. */
class Candidates {
  readonly #data: Pointer;
  /** `llama_token_data_array` */
  readonly array = koffi.alloc(CANDIDATES, 1) as Pointer;
  readonly #ids: Int32Array;
  readonly #logits: Float32Array;

  constructor(private readonly most: number) {
    this.#data = koffi.alloc('int32_t', TOKEN_DATA_NUMBERS * most) as Pointer;
    const memory = koffi.view(this.#data, koffi.sizeof(TOKEN_DATA) * most);
    this.#ids = new Int32Array(memory);
    this.#logits = new Float32Array(memory);
  }

  /** Token i has the i-th logit. */
  all(logits: Float32Array): Pointer {
    for (let token = 0; token < this.most; token++)
      this.#set(token, token, logits[token]!);
    return this.#filled(this.most);
  }

  one(token: number): Pointer {
    this.#set(0, token, 1);
    return this.#filled(1);
  }

  /** What the samplers chose; undefined: nothing is possible. */
  chosen(): number | undefined {
    const { data, selected } = koffi.decode(this.array, CANDIDATES) as {
      data: Pointer;
      selected: number;
    };
    if (selected < 0) return undefined;
    const { id, logit } = koffi.decode(
      data,
      Number(selected) * koffi.sizeof(TOKEN_DATA),
      TOKEN_DATA,
    ) as { id: number; logit: number };
    return logit === -Infinity ? undefined : id;
  }

  /** No sampler has ruled the first one out. */
  get isFirstAllowed(): boolean {
    return this.#logits[1] !== -Infinity;
  }

  #set(at: number, token: number, logit: number): void {
    this.#ids[TOKEN_DATA_NUMBERS * at] = token;
    this.#logits[TOKEN_DATA_NUMBERS * at + 1] = logit;
  }

  #filled(size: number): Pointer {
    koffi.encode(this.array, CANDIDATES, {
      data: this.#data,
      size,
      selected: -1,
      sorted: false,
    });
    return this.array;
  }
}

/** A chain of samplers on llama.h, in the order in which node-llama-cpp has them. */
export class UnifiedSampler implements NativeSampler {
  readonly #chain: Pointer;
  readonly #single = new Candidates(1);
  #config: SamplerConfig = { temperature: 0, seed: 0 };

  /** @param candidates of the whole vocabulary; used by one sampler at a time */
  constructor(
    private readonly library: CLibrary,
    private readonly vocabularySize: number,
    private readonly candidates: Candidates,
  ) {
    this.#chain = library.newChain({ no_perf: true });
  }

  applyConfig(config: SamplerConfig): void {
    this.#config = config;
    this.#build();
  }

  /**
   * @param sample draws with this chain; the grammar is asked about that token alone,
   *   which it nearly always allows
   * @param logits of the same place
   */
  async draw(
    sample: (chain: Pointer) => Promise<number>,
    logits: () => Float32Array,
  ): Promise<number> {
    const { library } = this;
    const token = await sample(this.#chain);
    const grammar = this.#config.grammarEvaluationState;
    if (grammar === undefined) return token;
    library.applySampler(grammar, this.#single.one(token));
    const allowed = this.#single.isFirstAllowed
      ? token
      : this.#drawAllowed(grammar, logits());
    library.acceptToken(grammar, allowed);
    return allowed;
  }

  dispose(): void {
    this.library.freeSampler(this.#chain);
  }

  /**
   * The second draw of a generator that has made the refused one: the same number again
   * would favour some tokens.
   */
  #drawAllowed(grammar: Pointer, logits: Float32Array): number {
    const { library, candidates } = this;
    // `sample` told the penalties of a token that is not said.
    this.#build();
    library.applySampler(this.#chain, candidates.all(logits));
    library.applySampler(grammar, candidates.all(logits));
    library.applySampler(this.#chain, candidates.array);
    const token = candidates.chosen();
    if (token === undefined) throw new Error('No token is possible here.');
    return token;
  }

  /** The chain itself stays: it has a buffer as large as the vocabulary. */
  #build(): void {
    const { library } = this;
    while (library.chainLength(this.#chain) > 0)
      library.freeSampler(library.removeSampler(this.#chain, 0));
    for (const sampler of [...this.#biases(), ...this.#penalties(), ...this.#choice()])
      library.addSampler(this.#chain, sampler);
  }

  #biases(): Pointer[] {
    const { tokenBiasKeys: tokens, tokenBiasValues: values } = this.#config;
    if (tokens === undefined || values === undefined) return [];
    const pairs = new Int32Array(2 * tokens.length);
    const floats = new Float32Array(pairs.buffer);
    tokens.forEach((token, at) => {
      pairs[2 * at] = token;
      floats[2 * at + 1] = values[at]!;
    });
    return [this.library.biases(this.vocabularySize, tokens.length, pairs)];
  }

  #penalties(): Pointer[] {
    const { repeatPenalty = 1, repeatPenaltyTokens: tokens, ...config } = this.#config;
    if (tokens === undefined || tokens.length === 0) return [];
    const {
      repeatPenaltyFrequencyPenalty: frequency = 0,
      repeatPenaltyPresencePenalty: presence = 0,
    } = config;
    const sampler = this.library.penalties(
      this.vocabularySize,
      tokens.length,
      repeatPenalty,
      frequency,
      presence,
    );
    for (const token of tokens) this.library.acceptToken(sampler, token);
    return [sampler];
  }

  #choice(): Pointer[] {
    const { library } = this;
    const { temperature, seed, topK, topP, minP } = this.#config;
    if (temperature <= 0) return [library.greedy()];
    return [
      ...(topK === undefined ? [] : [library.topK(topK)]),
      ...(topP === undefined ? [] : [library.topP(topP, 1)]),
      ...(minP === undefined ? [] : [library.minP(minP, 1)]),
      library.temperature(temperature),
      library.distribution(seed),
    ];
  }
}

/** @returns makes samplers, which share the memory for second draws: those block */
export function unifiedSamplers(
  library: CLibrary,
  vocabularySize: number,
): () => UnifiedSampler {
  const candidates = new Candidates(vocabularySize);
  return () => new UnifiedSampler(library, vocabularySize, candidates);
}
