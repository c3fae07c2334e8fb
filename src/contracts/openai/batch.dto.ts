import { ApiProperty } from '@nestjs/swagger';
import { BATCH_ENDPOINTS, type BatchEndpoint } from '../../core/jobs/batch-job.js';
import { BATCH_STATUSES, type BatchStatus } from '../../core/jobs/batch-status.js';
import { COMPLETION_WINDOWS, windowSeconds } from '../../core/jobs/completion-window.js';
import { honoured } from './field-rules.js';
import {
  choiceOf,
  custom,
  filledText,
  labels,
  nested,
  textWithin,
} from './field-types.js';
import { Field, PageAfter, PageLimit, RequiredField } from './field.decorators.js';
import { ExpiresAfterDto } from './file.dto.js';

export class BatchWebhookDto {
  @RequiredField(textWithin(2048), { example: 'https://example.com/hooks/batch' })
  url!: string;
}

const isWindow = (value: unknown): boolean =>
  typeof value === 'string' && windowSeconds(value) !== undefined;

export class BatchCreateDto {
  @RequiredField(filledText('must be the id of a file'), {
    example: 'file-0198a1b2c3d47e5f8091a2b3c4d5e6f7',
    description: 'Uploaded with the purpose `batch`.',
  })
  input_file_id!: string;

  @RequiredField(choiceOf(BATCH_ENDPOINTS), { description: 'Every line goes there.' })
  endpoint!: BatchEndpoint;

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

class BatchErrorDto {
  @ApiProperty() code!: string;
  @ApiProperty() message!: string;
  @ApiProperty({ type: String, nullable: true }) param!: string | null;
  @ApiProperty({ type: Number, nullable: true, description: 'From 1.' }) line!:
    number | null;
}

class BatchErrorsDto {
  @ApiProperty({ example: 'list' }) object!: 'list';
  @ApiProperty({ type: [BatchErrorDto], description: 'At most 100.' })
  data!: readonly BatchErrorDto[];
}

class RequestCountsDto {
  @ApiProperty() total!: number;
  @ApiProperty() completed!: number;
  @ApiProperty() failed!: number;
}

class InputTokensDetailsDto {
  @ApiProperty() cached_tokens!: number;
}

class OutputTokensDetailsDto {
  @ApiProperty() reasoning_tokens!: number;
}

class BatchUsageDto {
  @ApiProperty() input_tokens!: number;
  @ApiProperty() input_tokens_details!: InputTokensDetailsDto;
  @ApiProperty() output_tokens!: number;
  @ApiProperty() output_tokens_details!: OutputTokensDetailsDto;
  @ApiProperty() total_tokens!: number;
}

const instant = (): PropertyDecorator => ApiProperty({ type: Number, nullable: true });
const fileId = (): PropertyDecorator => ApiProperty({ type: String, nullable: true });

/**
 * OpenAI's batch; what is not known or not reached is null. Ours: `eta_s`, `rate_per_s`,
 * `retry_of`, `webhook`.
 */
export class BatchDto {
  @ApiProperty({ example: 'batch_0198a1b2c3d47e5f8091a2b3c4d5e6f7' }) id!: string;
  @ApiProperty({ example: 'batch' }) object!: 'batch';
  @ApiProperty({ enum: BATCH_ENDPOINTS }) endpoint!: BatchEndpoint;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'When all lines name the same.',
  })
  model!: string | null;
  @ApiProperty({ type: BatchErrorsDto, nullable: true }) errors!: BatchErrorsDto | null;
  @ApiProperty() input_file_id!: string;
  @ApiProperty({ example: '24h' }) completion_window!: string;
  @ApiProperty({ enum: BATCH_STATUSES }) status!: BatchStatus;
  @fileId() output_file_id!: string | null;
  @fileId() error_file_id!: string | null;
  @ApiProperty({ description: 'Unix seconds, as all times here.' }) created_at!: number;
  @instant() in_progress_at!: number | null;
  @ApiProperty({ description: 'The deadline.' }) expires_at!: number;
  @instant() finalizing_at!: number | null;
  @instant() completed_at!: number | null;
  @instant() failed_at!: number | null;
  @instant() expired_at!: number | null;
  @instant() cancelling_at!: number | null;
  @instant() cancelled_at!: number | null;
  @ApiProperty({ type: RequestCountsDto, description: 'Live.' })
  request_counts!: RequestCountsDto;
  @ApiProperty({ type: BatchUsageDto, nullable: true }) usage!: BatchUsageDto | null;
  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' } })
  metadata!: Readonly<Record<string, string>>;
  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'Lines per second so far, while in progress.',
  })
  rate_per_s!: number | null;
  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'Seconds until the last line, at that rate.',
  })
  eta_s!: number | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The batch whose failed lines these are.',
  })
  retry_of!: string | null;
  @ApiProperty({ type: BatchWebhookDto, nullable: true })
  webhook!: BatchWebhookDto | null;
}

export class BatchListDto {
  @ApiProperty({ example: 'list' }) object!: 'list';
  @ApiProperty({ type: [BatchDto] }) data!: readonly BatchDto[];
  @ApiProperty({ type: String, nullable: true }) first_id!: string | null;
  @ApiProperty({ type: String, nullable: true }) last_id!: string | null;
  @ApiProperty() has_more!: boolean;
}

export class BatchDeletedDto {
  @ApiProperty() id!: string;
  @ApiProperty({ example: 'batch' }) object!: 'batch';
  @ApiProperty({ example: true }) deleted!: true;
}
