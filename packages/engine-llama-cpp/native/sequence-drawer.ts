import { type DrawnProbabilities, type StepFrame, type WireSampling } from '../protocol.js';
import { type Pointer } from './c-library.js';
import { type NativeModel } from './native-model.js';
import { type TokenDraw, type TokenSampler } from './token-sampler.js';

/** Null: the text cannot be read. */
const openGrammar = ({ library, vocabulary }: NativeModel, text: string) =>
  library.grammar(vocabulary, text, 'root');

/** Grammars that are remembered as valid. */
const SOUND_GRAMMARS = 32;

/**
 * Requests of one application share a few grammars: one is read again when it was not
 * among the last ones.
 * @returns throws Error for a text that cannot be read
 */
export function grammarCheck(native: NativeModel): (text: string) => void {
  const sound = new Set<string>();
  return text => {
    if (!sound.delete(text)) {
      const grammar = openGrammar(native, text);
      if (grammar === null) throw unreadable();
      native.library.freeSampler(grammar);
    }
    sound.add(text);
    const [oldest] = sound;
    if (sound.size > SOUND_GRAMMARS) sound.delete(oldest!);
  };
}

const unreadable = (): Error => new Error('Failed to parse grammar');

/** Draws the tokens of one sequence while it is in a slot. */
export class SequenceDrawer {
  readonly #sampling: WireSampling;
  /** All but the seed, in the order of llama.cpp; penalties know the answer so far. */
  readonly #chain: Pointer;
  /** How far the answer is in it. Null: it fails alone, when its turn to draw comes. */
  readonly #grammar: Pointer | null | undefined;
  /** The token that was drawn last; undefined before the first. */
  newest: number | undefined;

  /** @param contextTokens tokens that penalties look back at most */
  constructor(
    private readonly native: NativeModel,
    { sampling, answer }: StepFrame['begins'][number],
    contextTokens: number,
  ) {
    this.#sampling = sampling;
    this.#chain = chainOf(native, sampling, contextTokens);
    const { grammar } = sampling;
    this.#grammar = grammar === undefined ? undefined : openGrammar(native, grammar);
    for (const token of answer) this.#keep(token);
  }

  /** @param position of the token that is drawn; @param place of its logits in the run */
  async draw(sampler: TokenSampler, position: number, place: number): Promise<number> {
    const grammar = this.#grammar;
    if (grammar === null) throw unreadable();
    const { temperature, seed } = this.#sampling;
    const draw: TokenDraw = {
      chain: this.#chain,
      seed: temperature > 0 ? seedAt(seed, position) : undefined,
      grammar,
    };
    const token = await sampler.draw(place, draw);
    this.#keep(token);
    return token;
  }

  /**
   * Of the token that was drawn from these logits, which are asked for where they are
   * wanted: the model's own, before temperature and cuts.
   */
  probabilities(token: number, logitsOf: () => Float32Array): DrawnProbabilities | undefined {
    const wanted = this.#sampling.logprobs;
    if (wanted === undefined) return undefined;
    const logits = logitsOf();
    const best = likeliest(logits, Math.max(1, wanted));
    const base = logSumOf(logits, logits[best[0]!]!);
    const logprobOf = (id: number): number => logits[id]! - base;
    const tokens = best.slice(0, wanted);
    return { logprob: logprobOf(token), tokens, logprobs: tokens.map(logprobOf) };
  }

  /** Frees native memory. */
  free(): void {
    const { library } = this.native;
    library.freeSampler(this.#chain);
    if (this.#grammar) library.freeSampler(this.#grammar);
  }

  #keep(token: number): void {
    const { library } = this.native;
    library.acceptToken(this.#chain, token);
    if (this.#grammar) library.acceptToken(this.#grammar, token);
    this.newest = token;
  }
}

/** llama.cpp leaves out what changes nothing, such as a `top_k` of 0. */
function chainOf(
  { library, vocabularySize }: NativeModel,
  sampling: WireSampling,
  contextTokens: number,
): Pointer {
  const { temperature, topK, topP, minP } = sampling;
  const { repeatPenalty, frequencyPenalty, presencePenalty } = sampling;
  const wanted = [...(sampling.logitBias ?? [])];
  const biases = new Int32Array(2 * wanted.length);
  const values = new Float32Array(biases.buffer);
  wanted.forEach(([token, bias], at) => {
    biases[2 * at] = token;
    values[2 * at + 1] = bias;
  });
  const chain = library.newChain({ no_perf: true });
  for (const sampler of [
    library.biases(vocabularySize, wanted.length, biases),
    library.penalties(
      vocabularySize,
      contextTokens,
      repeatPenalty,
      frequencyPenalty,
      presencePenalty,
    ),
    ...(temperature > 0
      ? [
          library.topK(topK),
          library.topP(topP, 1),
          library.minP(minP, 1),
          library.temperature(temperature),
        ]
      : [library.greedy()]),
  ])
    library.addSampler(chain, sampler);
  return chain;
}

/**
 * Natural logarithm of the denominator of the softmax over `logits`.
 * @param highest largest logit
 */
function logSumOf(logits: Float32Array, highest: number): number {
  let sum = 0;
  // eslint-disable-next-line @typescript-eslint/prefer-for-of -- takes half the time, of a whole vocabulary
  for (let token = 0; token < logits.length; token++) sum += Math.exp(logits[token]! - highest);
  return highest + Math.log(sum);
}

/** Index of the largest logit, the first of equal ones. */
function likeliest(logits: Float32Array, count: number): number[] {
  const best: number[] = [];
  let least = -Infinity;
  for (let token = 0; token < logits.length; token++) {
    const logit = logits[token]!;
    if (logit <= least) continue;
    const place = best.findIndex(other => logits[other]! < logit);
    best.splice(place < 0 ? best.length : place, 0, token);
    if (best.length > count) best.pop();
    if (best.length === count) least = logits[best.at(-1)!]!;
  }
  return best;
}

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
