import { type Sampling } from '../../generation/text-backend.port.js';
import { knownGrammarText } from './grammar/compiled-grammars.js';
import { type WireSampling } from './llama-protocol.js';

/** @throws DomainError invalid_value: a grammar that cannot be held. */
export function wireSampling({ logitBias, grammar, logprobs, ...numbers }: Sampling): WireSampling {
  return {
    ...numbers,
    ...(logitBias && {
      biasTokens: Uint32Array.from(logitBias.keys()),
      biasValues: Float32Array.from(logitBias.values()),
    }),
    ...(grammar && { grammar: knownGrammarText(grammar) }),
    ...(logprobs !== undefined && { logprobs }),
  };
}
