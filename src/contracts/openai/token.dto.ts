import {
  custom,
  listOfObjects,
  anyText,
  advice,
  honoured,
  meaning,
  PASSED_ON,
} from './field-types.js';
import { Field, ModelNameField, PassesOn, RequiredField } from './field.decorators.js';

const MODEL = 'A model of kind `llm`.';
const REFUSED = meaning(PASSED_ON, 'Local models refuse `false`.');
const NO_SETTING = advice(PASSED_ON, 'Local models have no such setting.');

/** Fields of `POST /tokenize`, as vLLM and llama.cpp have it; all others pass through. */
@PassesOn({
  add_special_tokens: REFUSED,
  add_special: REFUSED,
  return_token_strs: NO_SETTING,
  with_pieces: NO_SETTING,
})
export class TokenizeDto {
  @ModelNameField('gpt-4o-mini', MODEL)
  model!: string;

  @Field(anyText(), {
    example: 'A switchyard is',
    rule: honoured('Cut as a prompt is, with the first token of the model.'),
  })
  prompt?: string;

  @Field(anyText(), {
    description: "llama.cpp's name of `prompt`.",
    rule: honoured("llama.cpp's name of `prompt`."),
  })
  content?: string;

  @Field(listOfObjects('must be a list of messages'), {
    description: 'A chat, in place of `prompt`.',
  })
  messages?: readonly unknown[];
}

const isTokens = (value: unknown): boolean =>
  Array.isArray(value) && value.every(token => Number.isSafeInteger(token) && Number(token) >= 0);

/** Fields of `POST /detokenize`. */
export class DetokenizeDto {
  @ModelNameField('gpt-4o-mini', MODEL)
  model!: string;

  @RequiredField(custom({ type: [Number] }, isTokens, 'must be a list of token ids'), {
    example: [1, 300, 301],
  })
  tokens!: readonly number[];
}
