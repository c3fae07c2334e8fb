import { ApiSchema } from '@nestjs/swagger';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import {
  ANY_TEXT,
  defaulted,
  filled,
  OBJECT,
  objectsUpTo,
  optional,
  textOr,
} from '@switchyard/engine-api/rules.js';
import { z } from 'zod';
import { EMBEDDING_INPUT, LONGEST_VECTOR } from '../openai/embedding.dto.js';
import {
  anything,
  anyText,
  honoured,
  ignored,
  listOfObjects,
  meaning,
  notServed,
  trueOrFalse,
  whole,
} from '../openai/field-types.js';
import { Field, ModelNameField, RequiredField, Unlisted } from '../openai/field.decorators.js';

const IMAGES = defaulted(z.array(filled(), 'must be a list of texts').max(100), []);

const MESSAGE = z.object(
  {
    role: filled(100),
    content: defaulted(ANY_TEXT, ''),
    thinking: optional(ANY_TEXT),
    images: IMAGES,
    tool_calls: defaulted(
      objectsUpTo(
        1024,
        z.object({
          function: z.object({ name: filled(), arguments: defaulted(OBJECT, {}) }),
        }),
      ),
      [],
    ),
    tool_name: optional(ANY_TEXT),
    tool_call_id: optional(ANY_TEXT),
  },
  'must be an object',
);

export type OllamaMessage = z.output<typeof MESSAGE>;

const MESSAGES = objectsUpTo(10_000, MESSAGE);

const OPTIONS = defaulted(OBJECT, {});

const FORMAT = optional(textOr(OBJECT));

const THINK = optional(z.union([z.boolean(), ANY_TEXT], 'must be true, false or a level'));

/** Of every request for a model. */
@ApiSchema({ name: 'OllamaModelDto' })
class OllamaModelFields {
  @ModelNameField('gpt-4o-mini', 'A model id or alias; `:latest` may follow it.')
  model!: string;

  @Unlisted(ignored('models stay loaded as `idle_unload_s` says'))
  keep_alive?: unknown;
}

/** What chat and generate share. */
class OllamaTextFields extends OllamaModelFields {
  @Field(trueOrFalse(), { default: true, description: 'One JSON object per line.' })
  stream = true;

  @Field(anything({ type: 'object', additionalProperties: true }, OPTIONS), {
    description:
      '`num_predict`, `stop`, `seed`, `temperature`, `top_p`, `top_k`, `min_p`, `repeat_penalty`, penalties.',
    rule: honoured('Others are reported: `options.num_ctx`.'),
  })
  options!: Fields;

  @Field(anything({ oneOf: [{ type: 'string', enum: ['json'] }, { type: 'object' }] }, FORMAT), {
    description: '`json`, or a JSON schema.',
  })
  format?: string | Fields;

  @Field(anything({ oneOf: [{ type: 'boolean' }, { type: 'string' }] }, THINK), {
    description: 'Reaches the chat template: `enable_thinking`, or `reasoning_effort`.',
  })
  think?: boolean | string;

  @Field(trueOrFalse(), {
    default: false,
    description: 'Needs a model with that capability.',
    rule: honoured('Of models with `logprobs`; with `raw` they are reported.'),
  })
  logprobs = false;

  @Field(whole(0, 20), { description: 'Only with `logprobs`.' })
  top_logprobs?: number;

  @Unlisted(notServed('the template of the model is used'))
  template?: unknown;
}

@ApiSchema({ name: 'OllamaChatDto' })
export class OllamaChatRequest extends OllamaTextFields {
  @RequiredField(listOfObjects('must be a list of messages', MESSAGES), {
    example: [{ role: 'user', content: 'What does a switchyard do?' }],
    description: 'Each with `role` and `content`; `images`, `tool_calls`, `thinking`, `tool_name`.',
  })
  messages!: readonly OllamaMessage[];

  @Field(listOfObjects('must be a list of tools'), {
    description: 'Needs a model with the capability `tools`.',
  })
  tools?: readonly unknown[];
}

@ApiSchema({ name: 'OllamaGenerateDto' })
export class OllamaGenerateRequest extends OllamaTextFields {
  @Field(anyText(), { example: 'What does a switchyard do?' })
  prompt = '';

  @Field(anyText(), { description: 'Goes before the prompt.' })
  system?: string;

  @Field(anything({ type: 'array', items: { type: 'string' } }, IMAGES), {
    description: 'In base64.',
  })
  images!: readonly string[];

  @Field(trueOrFalse(), {
    default: false,
    description: 'The prompt as it is, without a template.',
  })
  raw = false;

  @Unlisted(notServed('models only continue texts'))
  suffix?: unknown;

  @Unlisted(notServed('a conversation is sent as `messages` of `/api/chat`'))
  context?: unknown;
}

@ApiSchema({ name: 'OllamaEmbedDto' })
export class OllamaEmbedRequest extends OllamaModelFields {
  @RequiredField(
    { ...EMBEDDING_INPUT, schema: { oneOf: [{ type: 'string' }, { type: 'array', items: {} }] } },
    { example: ['on the right track'] },
  )
  input!: string | readonly unknown[];

  @Field(whole(1, LONGEST_VECTOR), {
    maximum: undefined,
    description: 'Of models with the capability `dimensions`.',
    rule: meaning('dimensions'),
  })
  dimensions?: number;

  @Unlisted(ignored('a text that is too long is refused'))
  truncate?: unknown;

  @Unlisted(ignored('vectors are not drawn'))
  options?: unknown;
}

@ApiSchema({ name: 'OllamaShowDto' })
export class OllamaShowRequest {
  @ModelNameField('gpt-4o-mini', 'A model id or alias; `:latest` may follow it.')
  model!: string;

  @Unlisted(ignored('all that is known is returned'))
  verbose?: unknown;
}

/** Of `pull` and `push`, which are refused. */
@ApiSchema({ name: 'OllamaTransferDto' })
export class OllamaTransferRequest {
  @Field(anyText(), { example: 'whisper-small' })
  model?: string;

  @Unlisted(ignored('nothing is transferred'))
  insecure?: unknown;

  @Unlisted(ignored('nothing is transferred'))
  stream?: unknown;
}
