import { ApiSchema } from '@nestjs/swagger';
import { anyText, ignored } from '../openai/field-types.js';
import { Field, ModelNameField, Unlisted } from '../openai/field.decorators.js';

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
