import { ApiSchema } from '@nestjs/swagger';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import {
  ANY_TEXT,
  defaulted,
  filled,
  OBJECT,
  optional,
  textOr,
} from '@switchyard/engine-api/rules.js';
import { z } from 'zod';
import {
  anything,
  honoured,
  ignored,
  notServed,
  trueOrFalse,
  whole,
} from '../openai/field-types.js';
import { Field, ModelNameField, Unlisted } from '../openai/field.decorators.js';

export const IMAGES = defaulted(z.array(filled(), 'must be a list of texts').max(100), []);

const OPTIONS = defaulted(OBJECT, {});

const FORMAT = optional(textOr(OBJECT));

const THINK = optional(z.union([z.boolean(), ANY_TEXT], 'must be true, false or a level'));

/** Of every request for a model. */
@ApiSchema({ name: 'OllamaModelDto' })
export class OllamaModelFields {
  @ModelNameField('gpt-4o-mini', 'A model id or alias; `:latest` may follow it.')
  model!: string;

  @Unlisted(ignored('models stay loaded as `idle_unload_s` says'))
  keep_alive?: unknown;
}

/** What chat and generate share. */
export class OllamaTextFields extends OllamaModelFields {
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
