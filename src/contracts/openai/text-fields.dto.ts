import { isObject } from '@switchyard/engine-api/is-object.js';
import { END_USER } from './embedding.dto.js';
import {
  advice,
  anyWhole,
  byEngine,
  custom,
  foreignFields,
  honoured,
  PASSED_ON,
  type ServiceTier,
  trueOrFalse,
  whole,
} from './field-types.js';
import {
  ClassField,
  Field,
  ModelNameField,
  PassesOn,
  ServiceTierField,
  TIERS,
} from './field.decorators.js';
import { SAMPLING_TYPES } from './sampling.js';

const isStop = (value: unknown): boolean =>
  typeof value === 'string' ||
  (Array.isArray(value) && value.every(item => typeof item === 'string'));

const GUIDED = "Beyond OpenAI; vLLM's.";

/** What every request for generated text says. */
export class TextModelFields {
  @ModelNameField('gpt-4o-mini')
  model!: string;

  @ServiceTierField(`${TIERS} The answer reports the tier that was used.`)
  service_tier: ServiceTier = 'auto';

  @ClassField()
  priority?: unknown;
}

/**
 * Fields that chat and completions share. Unknown ones are accepted and forwarded,
 * because upstream engines may know them. Only fields that mean the same everywhere
 * are validated here.
 */
@PassesOn({
  response_format: byEngine(
    'Of this field and those of other servers for the form of the answer, one at most. ' +
      'Local models refuse schema keywords that no grammar can express. `json_object` may have a `schema`.',
  ),
  logit_bias: byEngine(),
  'response_format.type': byEngine(),
  'response_format.json_schema': byEngine(),
  'response_format.schema': byEngine("Beyond OpenAI; llama.cpp's place of the schema."),
  'stream_options.include_usage': honoured(),
  top_k: byEngine('Beyond OpenAI.'),
  min_p: byEngine('Beyond OpenAI.'),
  repeat_penalty: byEngine('Beyond OpenAI.'),
  repetition_penalty: byEngine('Beyond OpenAI; another name of `repeat_penalty`.'),
  grammar: byEngine('Beyond OpenAI; GBNF.'),
  guided_json: byEngine(GUIDED),
  guided_regex: byEngine(GUIDED),
  guided_choice: byEngine(GUIDED),
  guided_grammar: byEngine(`${GUIDED} GBNF.`),
  json_schema: byEngine("Beyond OpenAI; llama.cpp's."),
  regex: byEngine("Beyond OpenAI; SGLang's."),
  ebnf: byEngine("Beyond OpenAI; SGLang's. GBNF."),
  return_token_ids: byEngine('Beyond OpenAI; chunks bring the tokens that made them.'),
  clamp_max_tokens: byEngine('Beyond OpenAI; `max_tokens` is at most what the context has left.'),
  continue_token_ids: byEngine('Beyond OpenAI; tokens of an answer that is continued.'),
  structured_outputs: byEngine(
    `${GUIDED} \`json\`, \`regex\`, \`choice\`, \`grammar\`, \`json_object\`.`,
  ),
  ...foreignFields(advice(PASSED_ON, "Other servers' own.")),
  user: END_USER,
})
export class TextGenerationFields extends TextModelFields {
  @Field(trueOrFalse(), {
    default: false,
    description: 'Chunks as server-sent events, then `[DONE]`.',
  })
  stream = false;

  @Field(
    custom(
      { type: 'object', properties: { include_usage: { type: 'boolean' } } },
      isObject,
      'must be an object such as {"include_usage": true}',
    ),
    {
      description:
        'Only with `stream`. `include_usage`: one more chunk, with the usage, at the end.',
      rule: honoured('Refused without `stream`.'),
    },
  )
  stream_options?: { readonly include_usage?: unknown };

  @Field(whole(1, 128), { default: 1, description: 'Choices.' })
  n = 1;

  @Field(SAMPLING_TYPES.temperature)
  temperature?: number;

  @Field(SAMPLING_TYPES.top_p)
  top_p?: number;

  @Field(SAMPLING_TYPES.presence_penalty)
  presence_penalty?: number;

  @Field(SAMPLING_TYPES.frequency_penalty)
  frequency_penalty?: number;

  @Field(
    custom(
      { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
      isStop,
      'must be a text or a list of texts',
    ),
  )
  stop?: string | readonly string[];

  @Field(anyWhole(), { description: 'Forwarded digit by digit.' })
  seed?: number;
}
