import { ApiSchema } from '@nestjs/swagger';
import { type z } from 'zod';
import {
  anything,
  custom,
  type FieldRules,
  honoured,
  ignored,
  LARGEST_COUNT,
  listOfObjects,
  notServed,
  number,
  trueOrFalse,
  whole,
} from '../openai/field-types.js';
import {
  Field,
  ModelNameField,
  PassesOn,
  RequiredField,
  Unlisted,
} from '../openai/field.decorators.js';
import {
  FORMAT,
  INSTRUCTIONS,
  CONVERSATION,
  METADATA,
  OUTPUT,
  THINKING,
  TOOL_CHOICE,
  TOOLS,
} from './message-fields.js';

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every(item => typeof item === 'string');

/** Fields in objects. */
const INNER: FieldRules = {
  'output_config.format': honoured(),
  'output_config.effort': ignored('a model decides by itself how much it says'),
  'thinking.type': honoured(),
  'thinking.budget_tokens': ignored('models think as long as they do'),
  'thinking.display': ignored('thoughts are shown as the model writes them'),
};

/**
 * What counts as input of a message: fields of `POST /v1/messages/count_tokens`.
 */
@ApiSchema({ name: 'MessageInputDto' })
@PassesOn(INNER)
export class MessageInputRequest {
  @ModelNameField('gpt-4o-mini')
  model!: string;

  @RequiredField(listOfObjects('must be a list of messages', CONVERSATION), {
    example: [{ role: 'user', content: 'What does a switchyard do?' }],
    description:
      'Of `user`, `assistant` and `system`: a text, or blocks: `text`, `image`, `tool_use`, `tool_result`, `thinking`.',
  })
  messages!: z.output<typeof CONVERSATION>;

  @Field(
    anything(
      { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' } }] },
      INSTRUCTIONS,
    ),
    {
      description: 'Goes before the conversation: a text, or blocks of text.',
    },
  )
  system!: z.output<typeof INSTRUCTIONS>;

  @Field(listOfObjects('must be a list of tools', TOOLS), {
    description: 'Needs a model with the capability `tools`.',
    rule: honoured(
      'Of models with `tools`. Tools that Anthropic runs or defines are left out, with notice: `tools[7]`.',
    ),
  })
  tools!: z.output<typeof TOOLS>;

  @Field(anything({ type: 'object' }, TOOL_CHOICE), {
    description: '`auto`, `any`, `none`, or `tool` with its `name`.',
  })
  tool_choice?: z.output<typeof TOOL_CHOICE>;

  @Field(anything({ type: 'object' }, THINKING), {
    description:
      '`enabled` and `disabled` reach the chat template as `enable_thinking`; models think as long as they do.',
  })
  thinking?: z.output<typeof THINKING>;

  @Unlisted(ignored('common beginnings are found without it'))
  cache_control?: unknown;

  @Field(anything({ type: 'object' }, OUTPUT), {
    description: '`format`: `json_schema` with a `schema` that the answer is held to.',
    rule: honoured('`format` is the `response_format` of a chat.'),
  })
  output_config?: z.output<typeof OUTPUT>;

  @Field(anything({ type: 'object' }, FORMAT), {
    description: 'The older place of `output_config.format`.',
    rule: honoured('The older place of `output_config.format`.'),
  })
  output_format?: z.output<typeof FORMAT>;

  @Unlisted(notServed('no servers of tools are called'))
  mcp_servers?: unknown;
}

/** Fields of `POST /v1/messages`. */
@ApiSchema({ name: 'MessageDto' })
export class CreateMessageRequest extends MessageInputRequest {
  @RequiredField(whole(1, LARGEST_COUNT), {
    description: 'Most tokens of the answer.',
    example: 64,
  })
  max_tokens!: number;

  @Field(trueOrFalse(), { default: false, description: 'Server-sent events.' })
  stream = false;

  @Field(custom({ type: 'array', items: { type: 'string' } }, isTexts, 'must be a list of texts'))
  stop_sequences?: readonly string[];

  @Field(number(0, 1))
  temperature?: number;

  @Field(number(0, 1))
  top_p?: number;

  @Field(whole(0, LARGEST_COUNT))
  top_k?: number;

  @Field(anything({ type: 'object' }, METADATA), { description: '`user_id`: the end user.' })
  metadata?: z.output<typeof METADATA>;

  @Unlisted(ignored('priority comes from the `X-Priority` header and the key'))
  service_tier?: unknown;

  @Unlisted(ignored('nothing runs in a place of its own'))
  inference_geo?: unknown;

  @Unlisted(notServed('there are no containers'))
  container?: unknown;

  @Unlisted(ignored('nothing of a conversation is dropped'))
  context_management?: unknown;
}
