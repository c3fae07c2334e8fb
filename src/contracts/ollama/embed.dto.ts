import { ApiSchema } from '@nestjs/swagger';
import { EMBEDDING_INPUT, LONGEST_VECTOR } from '../openai/embedding.dto.js';
import { ignored, meaning, whole } from '../openai/field-types.js';
import { Field, RequiredField, Unlisted } from '../openai/field.decorators.js';
import { OllamaModelFields } from './text-fields.dto.js';

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
