import { BATCH_ENDPOINTS, type BatchJob } from '../../core/jobs/batch-job.js';
import { COMPLETION_WINDOWS, windowSeconds } from '../../core/jobs/completion-window.js';
import { BatchWebhookDto } from './batch-webhook.dto.js';
import { ExpiresAfterDto } from './expires-after.dto.js';
import { choiceOf, custom, filledText, labels, nested, honoured } from './field-types.js';
import { Field, PageAfter, PageLimit, RequiredField } from './field.decorators.js';

const isWindow = (value: unknown): boolean =>
  typeof value === 'string' && windowSeconds(value) !== undefined;

export class BatchCreateDto {
  @RequiredField(filledText('must be the id of a file'), {
    example: 'file-0198a1b2c3d47e5f8091a2b3c4d5e6f7',
    description: 'Uploaded with the purpose `batch`.',
  })
  input_file_id!: string;

  @RequiredField(choiceOf(BATCH_ENDPOINTS), { description: 'Every line goes there.' })
  endpoint!: BatchJob['endpoint'];

  @RequiredField(custom({ type: String }, isWindow, `must be ${COMPLETION_WINDOWS}`), {
    example: '24h',
    description: `${COMPLETION_WINDOWS}. OpenAI knows 24h only.`,
    rule: honoured('Shorter and longer windows than 24h are ours.'),
  })
  completion_window!: string;

  @Field(labels(), {
    description:
      '`validation: lenient` sends bad lines to the error file; else they fail the batch.',
  })
  metadata?: Readonly<Record<string, string>>;

  @Field(nested(ExpiresAfterDto, '{anchor, seconds}'), {
    description: 'Of the result files; 30 days unless told otherwise.',
  })
  output_expires_after?: ExpiresAfterDto;

  @Field(nested(BatchWebhookDto, '{url}'), {
    description: 'Ours: told when the batch ends, signed.',
    rule: honoured('Ours.'),
  })
  webhook?: BatchWebhookDto;
}

export class BatchListQueryDto {
  @PageLimit(100, 20)
  limit = 20;

  @PageAfter('batch')
  after?: string;
}
