import { type ChildSettings } from '../options.js';
import {
  type DrawnProbabilities,
  type StepFrame,
  type WireSampling,
} from '../protocol.js';
import {
  type Decoding,
  type DrawConfig,
  type NativeSampler,
  penaltiesOf,
} from './library.js';

/**
 * As many samplers as draws are under way at the same time. Each has a buffer as
 * large as the vocabulary (1.5 MB for 128,000 tokens): one per sequence would not
 * stay in any cache.
 */
function samplerPool(most: number, make: () => NativeSampler) {
  const free: NativeSampler[] = [];
  const waiting: ((sampler: NativeSampler) => void)[] = [];
  let left = most;
  const take = (): NativeSampler | Promise<NativeSampler> => {
    const idle = free.pop();
    if (idle) return idle;
    if (left === 0) return new Promise(resolve => waiting.push(resolve));
    left -= 1;
    return make();
  };
  /**
   * The sampler is the work's own until it ends; what the one before set up in
   * it is void.
   */
  return async <T>(work: (sampler: NativeSampler) => Promise<T>): Promise<T> => {
    const sampler = await take();
    try {
      return await work(sampler);
    } finally {
      const next = waiting.shift();
      if (next) next(sampler);
      else free.push(sampler);
    }
  };
}

/** @returns makes the drawer of a slot */
export function sequenceDrawers(
  decoding: Decoding,
  { drawThreads, rows }: ChildSettings,
): () => SequenceDrawer {
  // What stands in line with native runs is begun for all slots at once.
  const samplers = drawThreads === 1 ? rows : drawThreads;
  const withSampler = samplerPool(samplers, () => decoding.newSampler());
  return () => new SequenceDrawer(decoding, withSampler);
}

/** Draws the tokens of the sequence in one slot. */
export class SequenceDrawer {
  #sampling: WireSampling | undefined;
  #grammarState: ReturnType<Decoding['grammarState']> | undefined;
  /** The answer so far, with room to grow. */
  #answer = new Uint32Array(64);
  #length = 0;

  constructor(
    private readonly decoding: Decoding,
    private readonly withSampler: ReturnType<typeof samplerPool>,
  ) {}

  /**
   * A sequence takes the slot, or comes back to it. @throws Error when its grammar
   * cannot be read.
   */
  begin({ sampling, answer }: StepFrame['begins'][number]): void {
    this.#sampling = sampling;
    this.#length = 0;
    this.#grammarState?.dispose();
    this.#grammarState = undefined;
    for (const token of answer) this.#keep(token);
    if (sampling.grammar === undefined) return;
    this.#grammarState = this.decoding.grammarState(sampling.grammar);
    for (const token of answer) this.#grammarState.accept(token);
  }

  /** What was drawn last; undefined: nothing yet. */
  get newest(): number | undefined {
    return this.#answer[this.#length - 1];
  }

  /**
   * @param position of the token that is drawn; @param place of its logits in the batch
   */
  async draw(position: number, place: number): Promise<number> {
    const token = await this.withSampler(sampler =>
      sampler.draw(place, this.#config(position)),
    );
    if (token < 0) throw new Error('No token is possible here.');
    this.#keep(token);
    return token;
  }

  /** Of the token that was drawn from these logits; undefined: not asked for. */
  async probabilities(
    token: number,
    place: number,
  ): Promise<DrawnProbabilities | undefined> {
    const wanted = this.#sampling?.logprobs;
    if (wanted === undefined) return undefined;
    // Before temperature and cuts, hence not by the sampler that drew.
    const { most, logits, weight } = await this.#look(place, [token], 0);
    const base = logits.get(most)! + Math.log(weight);
    const likeliest = wanted === 0 ? [] : (await this.#look(place, [], wanted)).logits;
    const top = [...likeliest].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    return {
      logprob: logits.get(token)! - base,
      tokens: top.map(([id]) => id),
      logprobs: top.map(([, logit]) => logit - base),
    };
  }

  #look(place: number, tokens: readonly number[], top: number) {
    return this.withSampler(sampler => sampler.look(place, tokens, top));
  }

  #config(position: number): DrawConfig {
    const sampling = this.#sampling;
    if (sampling === undefined) throw new Error('No sequence is in this slot.');
    const { temperature, biasTokens, biasValues } = sampling;
    return {
      temperature,
      seed: temperature > 0 ? seedAt(sampling.seed, position) : 0,
      ...(temperature > 0 && cutsOf(sampling)),
      penalties: penaltiesOf(sampling, this.#answer.subarray(0, this.#length)),
      biases: biasTokens && biasValues && { tokens: biasTokens, values: biasValues },
      grammar: this.#grammarState?.native,
    };
  }

  #keep(token: number): void {
    if (this.#length === this.#answer.length) {
      const larger = new Uint32Array(this.#length * 2);
      larger.set(this.#answer);
      this.#answer = larger;
    }
    this.#answer[this.#length++] = token;
  }
}

const cutsOf = ({ topK, topP, minP }: WireSampling) => ({
  ...(topK > 0 && { topK }),
  ...(topP < 1 && { topP }),
  ...(minP > 0 && { minP }),
});

/**
 * The seed of one draw: the same wherever and whenever this position is drawn, so that
 * preemption and a new process give the same text. Finaliser of MurmurHash3.
 */
export function seedAt(seed: number, position: number): number {
  let hash = (seed ^ Math.imul(position + 1, 0x9e3779b1)) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
