import { custom, LARGEST_COUNT, meaning, PASSED_ON, whole } from './field-types.js';
import { Field, PassesOn, RequiredField } from './field.decorators.js';
import { TextGenerationFields } from './text-fields.dto.js';
import { isTextOrTokens, TEXT_OR_TOKENS } from './text-or-tokens.js';

/**
 * Fields of `POST /v1/completions` that mean something to the gateway; all
 * others pass through.
 */
@PassesOn({
  suffix: meaning(PASSED_ON, 'Local models only continue texts.'),
  echo: meaning(PASSED_ON, 'Local models do not repeat prompts.'),
  best_of: meaning(PASSED_ON, 'Local models return every choice, so it must equal `n`.'),
})
export class CompletionDto extends TextGenerationFields {
  @RequiredField(
    custom(
      { oneOf: [{ type: 'string' }, { type: 'array', items: {} }] },
      isTextOrTokens,
      TEXT_OR_TOKENS,
    ),
    {
      example: 'A switchyard is',
      description: 'A text, its tokens, or a list of either; at most 2048 of them times `n`.',
    },
  )
  prompt!: string | readonly unknown[];

  @Field(whole(0, LARGEST_COUNT), { description: 'Most tokens of each choice.' })
  max_tokens?: number;

  @Field(whole(0, LARGEST_COUNT), {
    description: 'Needs a model with that capability.',
    rule: meaning('logprobs'),
  })
  logprobs?: number;
}
