import { ApiSchema } from '@nestjs/swagger';
import {
  anything,
  choiceOf,
  custom,
  trueOrFalse,
  labels,
  LARGEST_COUNT,
  texts,
  textWithin,
  whole,
  type FieldRules,
  honoured,
  ignored,
  notServed,
  foreignFields,
} from './field-types.js';
import { Field, PassesOn, Unlisted } from './field.decorators.js';
import { SAMPLING_TYPES } from './sampling.js';
import { TextModelFields } from './text-fields.dto.js';

/** Characters of a text. */
const LONGEST_TEXT = 10_485_760;

/**
 * Of one conversation: each is an object in every step from the parser to the template.
 */
export const MOST_ITEMS = 10_000;

const isInput = (value: unknown): boolean =>
  typeof value === 'string'
    ? value.length <= LONGEST_TEXT
    : Array.isArray(value) && value.length <= MOST_ITEMS;

/** Beside what OpenAPI says of them, which is all there is to say. */
const REPEATED = {
  description: 'Returned as it is.',
  rule: honoured('Returned as it is.'),
};

const OBJECT = anything({ type: 'object', additionalProperties: true });

/** Fields in objects. */
const INNER: FieldRules = {
  'text.format': honoured(),
  'text.verbosity': honoured('Local models ignore it, with notice.'),
  'reasoning.effort': honoured(),
  'reasoning.summary': ignored('thoughts are returned as the model writes them'),
  'reasoning.generate_summary': ignored('the older name of `reasoning.summary`'),
};

/**
 * Fields of a conversation, which are those that count as input. Those without checks are
 * read by schemas.
 */
@ApiSchema({ name: 'ResponseInputDto' })
@PassesOn(INNER)
export class ResponseInputRequest extends TextModelFields {
  @Field(
    custom(
      { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' } }] },
      isInput,
      `must be a text of at most ${LONGEST_TEXT} characters or a list of at most ${MOST_ITEMS} items`,
    ),
    {
      example: 'What does a switchyard do?',
      description:
        'A text, or items: messages (`input_text`, `input_image` by URL, `output_text`), `function_call`, ' +
        '`function_call_output`, `custom_tool_call`, `custom_tool_call_output`, `reasoning`, and `item_reference` where ' +
        'responses are stored. Items of hosted tools are left out and reported.',
      rule: honoured('Items that no model here reads are left out, with notice: `input[7]`.'),
    },
  )
  input?: string | readonly unknown[];

  @Field(textWithin(LONGEST_TEXT), {
    description: 'Goes before the conversation, as a message of the system.',
  })
  instructions: string | null = null;

  @Field(textWithin(256), {
    description: 'Continues that response; needs stored responses.',
    rule: honoured('Refused where no responses are stored.'),
  })
  previous_response_id: string | null = null;

  @Unlisted(notServed('there are no stored conversations; use `previous_response_id`'))
  conversation?: unknown;

  @Unlisted(notServed('there are no stored prompts; use `instructions`'))
  prompt?: unknown;

  @Field(anything({ type: 'array', items: { type: 'object' } }), {
    description:
      '`function`, `custom`, and `namespace` of those; needs a model with the capability `tools`. Others are left out ' +
      'and reported.',
    rule: honoured(
      'Of models with `tools`. Those that are not served are left out, with notice: `tools[7]`.',
    ),
  })
  tools?: readonly unknown[];

  @Field(
    anything({
      oneOf: [{ type: 'string', enum: ['auto', 'none', 'required'] }, { type: 'object' }],
    }),
    {
      description:
        '`auto`, `none`, `required`, `{type: "function", name}`, or `{type: "allowed_tools", mode, tools}`.',
      rule: honoured('Refused where it demands what is not served.'),
    },
  )
  tool_choice?: unknown;

  @Field(trueOrFalse(), { default: true, description: 'Several calls in one answer.' })
  parallel_tool_calls = true;

  @Field(OBJECT, {
    description: '`format`: text, json_object or json_schema.',
    rule: honoured('Local models ignore `verbosity`, with notice.'),
  })
  text?: unknown;

  @Field(OBJECT, {
    description: '`effort`: for models that know it.',
    rule: honoured('Local models hand `effort` to their chat template.'),
  })
  reasoning?: unknown;

  @Field(choiceOf(['auto', 'disabled']), {
    default: 'disabled',
    description: 'Nothing is cut: `auto` is advice.',
    rule: honoured('`auto` is ignored, with notice: nothing of a conversation is dropped.'),
  })
  truncation: 'auto' | 'disabled' = 'disabled';
}

/** Fields of `POST /v1/responses`. */
@ApiSchema({ name: 'ResponseDto' })
@PassesOn(foreignFields(ignored("other servers' own; chat and completions pass it on")))
export class CreateResponseRequest extends ResponseInputRequest {
  @Field(trueOrFalse(), {
    default: false,
    description: 'Events as the answer is made, then `[DONE]`.',
  })
  stream = false;

  @Field(OBJECT, {
    description: 'Only with `stream`.',
    rule: honoured('`include_obfuscation` is ignored, with notice.'),
  })
  stream_options?: unknown;

  @Field(trueOrFalse(), {
    description: 'Default: true where responses are stored.',
    rule: honoured('`true` is refused where no responses are stored.'),
  })
  store?: boolean;

  @Field(trueOrFalse(), {
    default: true,
    description: '`false`: nothing is generated; the next request can continue it.',
  })
  generate = true;

  @Field(trueOrFalse(), {
    default: false,
    description: 'Answers at once; the work survives restarts.',
    rule: honoured('`true` is refused where no responses are stored.'),
  })
  background = false;

  @Field(texts(20, 128), {
    description: '`message.output_text.logprobs`; others have nothing to add.',
    rule: honoured(
      '`reasoning.encrypted_content` is ignored, with notice: reasoning is in `content`.',
    ),
  })
  include: readonly string[] = [];

  @Field(whole(16, LARGEST_COUNT), { description: 'Most tokens of the answer.' })
  max_output_tokens: number | null = null;

  @Field(whole(1, LARGEST_COUNT), {
    description: 'Of hosted tools, of which there are none.',
    rule: honoured('Of hosted tools, of which there are none.'),
  })
  max_tool_calls: number | null = null;

  @Field(SAMPLING_TYPES.temperature)
  temperature?: number;

  @Field(SAMPLING_TYPES.top_p)
  top_p?: number;

  @Field(SAMPLING_TYPES.presence_penalty)
  presence_penalty?: number;

  @Field(SAMPLING_TYPES.frequency_penalty)
  frequency_penalty?: number;

  @Field(whole(0, 20), { description: 'Alternatives of each token.' })
  top_logprobs = 0;

  @Field(labels(), {
    description:
      'Labels, returned as they are: at most 16, keys of 64 and values of 512 characters.',
    rule: honoured('Returned as it is.'),
  })
  metadata: Readonly<Record<string, string>> = {};

  @Field(textWithin(512), REPEATED)
  user: string | null = null;

  @Field(textWithin(64), REPEATED)
  safety_identifier: string | null = null;

  @Field(textWithin(64), {
    description: 'Advice: equal beginnings are found without it.',
    rule: ignored('equal beginnings are found without it'),
  })
  prompt_cache_key: string | null = null;
}
