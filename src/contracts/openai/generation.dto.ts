import { isObject } from '@switchyard/engine-api/is-object.js';
import { END_USER } from './embedding.dto.js';
import {
  anyWhole,
  custom,
  trueOrFalse,
  LARGEST_COUNT,
  listOfObjects,
  number,
  whole,
  advice,
  byEngine,
  honoured,
  meaning,
  PASSED_ON,
  type ServiceTier,
  foreignFields,
} from './field-types.js';
import {
  ClassField,
  Field,
  ModelNameField,
  PassesOn,
  RequiredField,
  ServiceTierField,
  TIERS,
} from './field.decorators.js';
import { isTextOrTokens, TEXT_OR_TOKENS } from './text-or-tokens.js';

const isStop = (value: unknown): boolean =>
  typeof value === 'string' ||
  (Array.isArray(value) && value.every(item => typeof item === 'string'));

const GUIDED = "Beyond OpenAI; vLLM's.";

/** How text is drawn where the request does not say. */
export const USUAL_SAMPLING = {
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
};

export type SamplingRequest = {
  readonly [Name in keyof typeof USUAL_SAMPLING]?: number | undefined;
};

/** What a request says of how its text is drawn. */
export const samplingIn = (request: SamplingRequest): SamplingRequest =>
  Object.fromEntries(
    Object.keys(USUAL_SAMPLING)
      .map(name => [name, request[name as keyof SamplingRequest]])
      .filter(([, value]) => value !== undefined),
  ) as SamplingRequest;

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
class TextGenerationFields extends TextModelFields {
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

  @Field(number(0, 2))
  temperature?: number;

  @Field(number(0, 1))
  top_p?: number;

  @Field(number(-2, 2))
  presence_penalty?: number;

  @Field(number(-2, 2))
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

const TEMPLATE = 'Local models hand it to their chat template.';
const ADVICE = advice(PASSED_ON, 'Local models have no such setting.');
const KEPT = advice(PASSED_ON, 'Local models store no answers.');

/**
 * Fields of `POST /v1/chat/completions` that mean something to the gateway; all
 * others pass through.
 */
@PassesOn({
  tool_choice: byEngine(),
  parallel_tool_calls: byEngine(),
  functions: meaning(PASSED_ON, 'The older form of `tools`.'),
  audio: meaning(PASSED_ON, 'Local models answer in text.'),
  modalities: meaning(PASSED_ON, 'Local models answer in text; `text` alone always passes.'),
  web_search_options: meaning(PASSED_ON, 'Local models do not search.'),
  reasoning_effort: byEngine(TEMPLATE),
  chat_template_kwargs: byEngine(TEMPLATE),
  verbosity: ADVICE,
  prediction: ADVICE,
  prompt_cache_key: advice(PASSED_ON, 'Local models find common beginnings by themselves.'),
  safety_identifier: END_USER,
  store: KEPT,
  metadata: KEPT,
})
export class ChatCompletionDto extends TextGenerationFields {
  @RequiredField(listOfObjects('must be a list of messages'), {
    example: [{ role: 'user', content: 'What does a switchyard do?' }],
    description: 'At least one message, each with a `role`.',
  })
  messages!: readonly unknown[];

  @Field(whole(1, LARGEST_COUNT), { description: 'Most tokens of each choice.' })
  max_completion_tokens?: number;

  @Field(whole(1, LARGEST_COUNT), {
    description: 'Older name of `max_completion_tokens`.',
    rule: honoured('Older name of `max_completion_tokens`.'),
  })
  max_tokens?: number;

  @Field(trueOrFalse(), {
    default: false,
    description: 'Needs a model with that capability.',
    rule: meaning('logprobs'),
  })
  logprobs = false;

  @Field(whole(0, 20), {
    description: 'Only with `logprobs`.',
    rule: honoured('Refused without `logprobs`.'),
  })
  top_logprobs?: number;

  @Field(listOfObjects('must be a list of tools'), {
    description: 'Needs a model with that capability; calls of them pass through as they are.',
    rule: meaning(
      'tools',
      'Local models leave out what is neither function nor custom tool, with notice: `tools[7]`.',
    ),
  })
  tools?: readonly unknown[];
}

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
