import koffi, { type KoffiFunc } from 'koffi';
import { loadedLibrary, type Pointer } from './c-library.js';

const CHAIN_PARAMS = koffi.struct('llama_sampler_chain_params', { no_perf: 'bool' });

/**
 * The samplers of llama.h. A chain owns what is added to it, and frees what it still
 * has with itself.
 */
export interface SamplerLibrary {
  readonly newChain: (params: { readonly no_perf: boolean }) => Pointer;
  readonly add: (chain: Pointer, sampler: Pointer) => void;
  /** The one at this place, which is the caller's again. */
  readonly remove: (chain: Pointer, place: number) => Pointer;
  readonly length: (chain: Pointer) => number;
  readonly free: (sampler: Pointer) => void;
  readonly greedy: () => Pointer;
  readonly distribution: (seed: number) => Pointer;
  readonly topK: (count: number) => Pointer;
  readonly topP: (mass: number, least: number) => Pointer;
  readonly minP: (share: number, least: number) => Pointer;
  readonly temperature: (temperature: number) => Pointer;
  readonly penalties: (
    ...args: [vocabulary: number, last: number, number, number, number]
  ) => Pointer;
  /** @param biases token (int32) and bias (float) in turns */
  readonly biases: (vocabulary: number, count: number, biases: Int32Array) => Pointer;
  /** Null: the text cannot be read. */
  readonly grammar: (vocabulary: Pointer, text: string, root: string) => Pointer | null;
  readonly accept: (sampler: Pointer, token: number) => void;
  /** @param candidates a `llama_token_data_array` in native memory */
  readonly apply: (sampler: Pointer, candidates: Pointer) => void;
  /** Draws from the logits at this place of the batch, and accepts. */
  readonly sample: KoffiFunc<(chain: Pointer, context: Pointer, place: number) => number>;
}

export function openSamplerLibrary(): SamplerLibrary {
  const library = loadedLibrary();
  const sampler = 'void *';
  const as = <F>(
    name: string,
    result: string,
    args: readonly Parameters<typeof koffi.sizeof>[0][],
  ): F => library.func(`llama_sampler_${name}`, result, [...args]) as unknown as F;
  return {
    newChain: as('chain_init', sampler, [CHAIN_PARAMS]),
    add: as('chain_add', 'void', [sampler, sampler]),
    remove: as('chain_remove', sampler, [sampler, 'int32_t']),
    length: as('chain_n', 'int32_t', [sampler]),
    free: as('free', 'void', [sampler]),
    greedy: as('init_greedy', sampler, []),
    distribution: as('init_dist', sampler, ['uint32_t']),
    topK: as('init_top_k', sampler, ['int32_t']),
    topP: as('init_top_p', sampler, ['float', 'size_t']),
    minP: as('init_min_p', sampler, ['float', 'size_t']),
    temperature: as('init_temp', sampler, ['float']),
    penalties: as('init_penalties', sampler, [
      'int32_t',
      'int32_t',
      'float',
      'float',
      'float',
    ]),
    biases: as('init_logit_bias', sampler, ['int32_t', 'int32_t', 'void *']),
    grammar: as('init_grammar', sampler, ['void *', 'str', 'str']),
    accept: as('accept', 'void', [sampler, 'int32_t']),
    apply: as('apply', 'void', [sampler, 'void *']),
    sample: as('sample', 'int32_t', [sampler, 'void *', 'int32_t']),
  };
}
