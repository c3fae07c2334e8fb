import {
  choiceOf,
  custom,
  whole,
  advice,
  meaning,
  PASSED_ON,
  type FieldType,
  type ServiceTier,
} from './field-types.js';
import {
  ClassField,
  Field,
  ModelNameField,
  RequiredField,
  ServiceTierField,
  Unlisted,
} from './field.decorators.js';
import { countInputs, isTextOrTokens, TEXT_OR_TOKENS } from './text-or-tokens.js';

const EMBEDDING_ENCODINGS = ['float', 'base64'] as const;

const MOST_INPUTS = 2048;

export const LONGEST_VECTOR = 16_384;

/** Of all text routes: who asks, in the caller's own terms. */
export const END_USER = advice(PASSED_ON, 'Local models do not tell end users apart.');

const isFew = (value: unknown): boolean => countInputs(value as string) <= MOST_INPUTS;

const INPUT = custom(
  { oneOf: [{ type: 'string' }, { type: 'array', items: {}, maxItems: MOST_INPUTS }] },
  isTextOrTokens,
  TEXT_OR_TOKENS,
);

/** Texts or tokens that vectors are made of. */
export const EMBEDDING_INPUT: FieldType = {
  ...INPUT,
  checks: [...INPUT.checks, [isFew, `must hold at most ${MOST_INPUTS} inputs`]],
};

/**
 * Fields of `POST /v1/embeddings` that mean something to the gateway; all
 * others pass through.
 */
export class EmbeddingDto {
  @ModelNameField('text-embedding-3-small')
  model!: string;

  @RequiredField(EMBEDDING_INPUT, {
    example: ['The train is on the right track.', 'Every request has a place in the queue.'],
  })
  input!: string | readonly unknown[];

  @Field(choiceOf(EMBEDDING_ENCODINGS), {
    default: 'float',
    description: '`base64`: 32-bit floats, little endian; SDKs ask for it by themselves.',
  })
  encoding_format: (typeof EMBEDDING_ENCODINGS)[number] = 'float';

  @Field(whole(1, LONGEST_VECTOR), {
    maximum: undefined,
    description: 'Needs a model with that capability.',
    rule: meaning('dimensions'),
  })
  dimensions?: number;

  @Unlisted(END_USER)
  user?: unknown;

  @ClassField()
  priority?: unknown;

  @ServiceTierField()
  service_tier: ServiceTier = 'auto';
}
