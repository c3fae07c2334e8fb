import { ApiSchema } from '@nestjs/swagger';
import { anything, anyText, notServed, trueOrFalse } from '../openai/field-types.js';
import { Field, Unlisted } from '../openai/field.decorators.js';
import { OllamaTextFields, IMAGES } from './text-fields.dto.js';

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
