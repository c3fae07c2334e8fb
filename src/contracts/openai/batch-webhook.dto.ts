import { textWithin } from './field-types.js';
import { RequiredField } from './field.decorators.js';

export class BatchWebhookDto {
  @RequiredField(textWithin(2048), { example: 'https://example.com/hooks/batch' })
  url!: string;
}
