import { ApiSchema } from '@nestjs/swagger';
import {
  anything,
  anyText,
  custom,
  honoured,
  ignored,
  LARGEST_COUNT,
  listOfObjects,
  notServed,
  trueOrFalse,
  whole,
} from '../openai/field-types.js';
import { Field, ModelNameField, RequiredField, Unlisted } from '../openai/field.decorators.js';
import { isTextOrTokens, TEXT_OR_TOKENS } from '../openai/text-or-tokens.js';

const OBJECT = anything({ type: 'object', additionalProperties: true });

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

  @Field(OBJECT, {
    description:
      '`num_predict`, `stop`, `seed`, `temperature`, `top_p`, `top_k`, `min_p`, `repeat_penalty`, penalties.',
    rule: honoured('Others are reported: `options.num_ctx`.'),
  })
  options?: unknown;

  @Field(anything({ oneOf: [{ type: 'string', enum: ['json'] }, { type: 'object' }] }), {
    description: '`json`, or a JSON schema.',
  })
  format?: unknown;

  @Field(anything({ oneOf: [{ type: 'boolean' }, { type: 'string' }] }), {
    description: 'Reaches the chat template: `enable_thinking`, or `reasoning_effort`.',
  })
  think?: unknown;

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
  @RequiredField(listOfObjects('must be a list of messages'), {
    example: [{ role: 'user', content: 'What does a switchyard do?' }],
    description: 'Each with `role` and `content`; `images`, `tool_calls`, `thinking`, `tool_name`.',
  })
  messages!: readonly unknown[];

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

  @Field(anything({ type: 'array', items: { type: 'string' } }), {
    description: 'In base64.',
  })
  images?: unknown;

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
    custom(
      { oneOf: [{ type: 'string' }, { type: 'array', items: {} }] },
      isTextOrTokens,
      TEXT_OR_TOKENS,
    ),
    { example: ['on the right track'] },
  )
  input!: string | readonly unknown[];

  @Field(whole(1, LARGEST_COUNT), {
    description: 'Of models with the capability `dimensions`.',
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

  @Unlisted(ignored('all that is known is told'))
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
