import koffi from 'koffi';
import { type Pointer } from './c-library.js';
import { type KvContext } from './kv-context.js';
import { type NativeModel } from './native-model.js';

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
export class Candidates {
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

  /** All tokens of the vocabulary as candidates: token i with the i-th logit. */
  all(logits: Float32Array): Pointer {
    for (let token = 0; token < this.most; token++) this.#set(token, token, logits[token]!);
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

  /** Whether the samplers left the first candidate possible (its logit is not -Infinity). */
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

/** How one token of a sequence is drawn. */
export interface TokenDraw {
  /** The sequence's chain of samplers; a draw does not change it. */
  readonly chain: Pointer;
  /** Undefined: the chain ends with the likeliest token. */
  readonly seed: number | undefined;
  readonly grammar: Pointer | undefined;
}

/**
 * Draws tokens, one after another, for whichever sequence. It has a buffer as large as the
 * vocabulary (1.5 MB for 128,000 tokens): one per sequence would not stay in any cache.
 */
export class TokenSampler {
  readonly #chain: Pointer;

  /**
   * @param candidates of the whole vocabulary; what is done with them is synchronous, so
   *   all samplers share them
   */
  constructor(
    private readonly native: NativeModel,
    private readonly context: KvContext,
    private readonly candidates: Candidates,
  ) {
    this.#chain = native.library.newChain({ no_perf: true });
  }

  /** The grammar is asked about the token alone that was drawn: it nearly always allows it. */
  async draw(place: number, draw: TokenDraw): Promise<number> {
    this.#begin(draw);
    const token = await this.context.sample(this.#chain, place);
    const { grammar } = draw;
    if (grammar === undefined) return token;
    this.native.library.applySampler(grammar, this.candidates.one(token));
    if (this.candidates.isFirstAllowed) return token;
    this.#begin(draw);
    return this.#drawAllowed(grammar, this.context.logits(place));
  }

  /**
   * The second draw of a generator that has made the refused one: the same number again
   * would favour some tokens.
   */
  #drawAllowed(grammar: Pointer, logits: Float32Array): number {
    const { candidates } = this;
    const { library } = this.native;
    library.applySampler(this.#chain, candidates.all(logits));
    library.applySampler(grammar, candidates.all(logits));
    library.applySampler(this.#chain, candidates.array);
    const token = candidates.chosen();
    if (token === undefined) throw new Error('No token is possible here.');
    return token;
  }

  /** The chain itself stays, with its buffer; what is in it is told of the draw. */
  #begin({ chain, seed }: TokenDraw): void {
    const { library } = this.native;
    while (library.chainLength(this.#chain) > 0)
      library.freeSampler(library.removeSampler(this.#chain, 0));
    library.addSampler(this.#chain, library.cloneSampler(chain));
    if (seed !== undefined) library.addSampler(this.#chain, library.distribution(seed));
  }
}
