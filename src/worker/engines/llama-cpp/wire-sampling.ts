import { type Grammar, type Sampling } from '../../generation/text-backend.port.js';
import { anyObjectGrammar, schemaGrammar } from './json-schema-grammar.js';
import { type WireSampling } from './llama-protocol.js';

/** @throws DomainError invalid_value: a schema that cannot be held. */
export function wireSampling({ logitBias, grammar, logprobs, ...numbers }: Sampling): WireSampling {
  return {
    ...numbers,
    ...(logitBias && {
      biasTokens: Uint32Array.from(logitBias.keys()),
      biasValues: Float32Array.from(logitBias.values()),
    }),
    ...(grammar && { grammar: grammarTextOf(grammar) }),
    ...(logprobs !== undefined && { logprobs }),
  };
}

/** As GBNF. @throws DomainError invalid_value */
export function grammarTextOf(grammar: Grammar): string {
  switch (grammar.type) {
    case 'gbnf':
      return grammar.text;
    case 'json_object':
      return anyObjectGrammar();
    case 'json_schema':
      return schemaGrammar(grammar.schema);
  }
}
