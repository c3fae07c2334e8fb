import koffi from 'koffi';
import { type CLibrary, type Pointer } from './c-library.js';
import { type DrawConfig, type NativeSampler } from './library.js';

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

/** Where samplers find the logits of a batch. */
interface DrawnFrom {
  sample(chain: Pointer, place: number): Promise<number>;
  logits(place: number): Float32Array;
}

/** A chain of samplers on llama.h, in the order in which node-llama-cpp has them. */
class UnifiedSampler implements NativeSampler {
  readonly #chain: Pointer;
  readonly #single = new Candidates(1);

  /** @param candidates of the whole vocabulary; used by one sampler at a time */
  constructor(
    private readonly library: CLibrary,
    private readonly vocabularySize: number,
    private readonly candidates: Candidates,
    private readonly from: DrawnFrom,
  ) {
    this.#chain = library.newChain({ no_perf: true });
  }

  /** The grammar is asked about the token alone that was drawn: it nearly always allows it. */
  async draw(place: number, config: DrawConfig): Promise<number> {
    this.#build(config);
    const token = await this.from.sample(this.#chain, place);
    if (config.grammar === undefined) return token;
    const { library } = this;
    const grammar = config.grammar as Pointer;
    library.applySampler(grammar, this.#single.one(token));
    const allowed = this.#single.isFirstAllowed
      ? token
      : this.#drawAllowed(config, grammar, this.from.logits(place));
    library.acceptToken(grammar, allowed);
    return allowed;
  }

  look(
    place: number,
    tokens: readonly number[],
    top: number,
  ): ReturnType<NativeSampler['look']> {
    return Promise.resolve(looked(this.from.logits(place), tokens, top));
  }

  /**
   * The second draw of a generator that has made the refused one: the same number again
   * would favour some tokens.
   */
  #drawAllowed(config: DrawConfig, grammar: Pointer, logits: Float32Array): number {
    const { library, candidates } = this;
    // `sample` told the penalties of a token that is not said.
    this.#build(config);
    library.applySampler(this.#chain, candidates.all(logits));
    library.applySampler(grammar, candidates.all(logits));
    library.applySampler(this.#chain, candidates.array);
    const token = candidates.chosen();
    if (token === undefined) throw new Error('No token is possible here.');
    return token;
  }

  /** The chain itself stays: it has a buffer as large as the vocabulary. */
  #build(config: DrawConfig): void {
    const { library } = this;
    while (library.chainLength(this.#chain) > 0)
      library.freeSampler(library.removeSampler(this.#chain, 0));
    for (const sampler of [
      ...this.#biases(config),
      ...this.#penalties(config),
      ...this.#choice(config),
    ])
      library.addSampler(this.#chain, sampler);
  }

  #biases({ biases }: DrawConfig): Pointer[] {
    if (biases === undefined) return [];
    const { tokens, values } = biases;
    const pairs = new Int32Array(2 * tokens.length);
    const floats = new Float32Array(pairs.buffer);
    tokens.forEach((token, at) => {
      pairs[2 * at] = token;
      floats[2 * at + 1] = values[at]!;
    });
    return [this.library.biases(this.vocabularySize, tokens.length, pairs)];
  }

  #penalties({ penalties }: DrawConfig): Pointer[] {
    if (penalties === undefined || penalties.tokens.length === 0) return [];
    const { repeat, frequency, presence, tokens } = penalties;
    const sampler = this.library.penalties(
      this.vocabularySize,
      tokens.length,
      repeat,
      frequency,
      presence,
    );
    for (const token of tokens) this.library.acceptToken(sampler, token);
    return [sampler];
  }

  #choice({ temperature, seed, topK, topP, minP }: DrawConfig): Pointer[] {
    const { library } = this;
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

/** As `NativeSampler.look`. */
function looked(logits: Float32Array, tokens: readonly number[], top: number) {
  const best = likeliest(logits, Math.max(1, top));
  const [most] = best as [number];
  const highest = logits[most]!;
  const told = top > 0 ? best : [...tokens, most];
  return {
    most,
    logits: new Map(told.map(token => [token, logits[token]!])),
    weight: logits.reduce((sum, logit) => sum + Math.exp(logit - highest), 0),
  };
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

/** @returns makes samplers; second draws are synchronous, so all samplers share their memory */
export function unifiedSamplers(
  library: CLibrary,
  vocabularySize: number,
  from: DrawnFrom,
): () => NativeSampler {
  const candidates = new Candidates(vocabularySize);
  return () => new UnifiedSampler(library, vocabularySize, candidates, from);
}
