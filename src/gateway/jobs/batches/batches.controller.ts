import { type IncomingHttpHeaders } from 'node:http';
import { Body, Controller, Delete, Get, Headers, Param, Post, Query } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import {
  BatchCreateDto,
  BatchListQueryDto,
  BatchWebhookDto,
} from '../../../contracts/openai/batch.dto.js';
import { invalidField } from '../../../contracts/schema/field-problems.js';
import { type BatchJob, BATCH_ENDPOINTS, type BatchUsage } from '../../../core/jobs/batch-job.js';
import { BATCH_STATUSES } from '../../../core/jobs/batch-status.js';
import { type Principal } from '../../../platform/auth/principal.js';
import { traceparentIn } from '../../../platform/tracing/tracing.module.js';
import {
  anyField,
  choiceField,
  deletionOf,
  fieldOf,
  listField,
  nullableField,
  numberField,
  objectField,
  openAiPageOf,
  pageView,
  secondsOrNull,
  textField,
  unixSeconds,
  answer,
} from '../../http/openapi/answer.js';
import { DescribesErrors } from '../../http/openapi/errors.js';
import { Answers } from '../../http/openapi/route.decorator.js';
import { CallerPrincipal, CallerTenant } from '../../http/params.js';
import { BatchesService } from './batches.service.js';

class BatchErrorDto extends answer({
  code: String,
  message: String,
  param: nullableField(String),
  line: nullableField(numberField('From 1.')),
}) {}

class BatchErrorsDto extends answer({
  object: objectField('list'),
  data: listField(BatchErrorDto, 'At most 100.'),
}) {}

class RequestCountsDto extends answer({
  total: Number,
  completed: Number,
  failed: Number,
}) {}

class InputTokensDetailsDto extends answer({
  cached_tokens: Number,
  cache_write_tokens: Number,
}) {}

class OutputTokensDetailsDto extends answer({ reasoning_tokens: Number }) {}

class BatchUsageDto extends answer({
  input_tokens: Number,
  input_tokens_details: InputTokensDetailsDto,
  output_tokens: Number,
  output_tokens_details: OutputTokensDetailsDto,
  total_tokens: Number,
}) {}

/**
 * OpenAI's batch; what is not known or not reached is null. Ours: `eta_s`, `rate_per_s`,
 * `retry_of`, `webhook`.
 */
class BatchDto extends answer({
  id: textField({ example: 'batch_0198a1b2c3d47e5f8091a2b3c4d5e6f7' }),
  object: objectField('batch'),
  endpoint: choiceField(BATCH_ENDPOINTS),
  model: nullableField(textField('When all lines name the same.')),
  errors: nullableField(BatchErrorsDto),
  input_file_id: String,
  completion_window: textField({ example: '24h' }),
  status: choiceField(BATCH_STATUSES),
  output_file_id: nullableField(String),
  error_file_id: nullableField(String),
  created_at: numberField('Unix seconds, as all times here.'),
  in_progress_at: nullableField(Number),
  expires_at: numberField('The deadline.'),
  finalizing_at: nullableField(Number),
  completed_at: nullableField(Number),
  failed_at: nullableField(Number),
  expired_at: nullableField(Number),
  cancelling_at: nullableField(Number),
  cancelled_at: nullableField(Number),
  request_counts: fieldOf(RequestCountsDto, 'Live.'),
  usage: nullableField(BatchUsageDto),
  metadata: anyField<Readonly<Record<string, string>>>({
    type: 'object',
    additionalProperties: { type: 'string' },
  }),
  rate_per_s: nullableField(numberField('Lines per second so far, while in progress.')),
  eta_s: nullableField(numberField('Seconds until the last line, at that rate.')),
  retry_of: nullableField(textField('The batch whose failed lines these are.')),
  webhook: nullableField(BatchWebhookDto),
}) {}

class BatchListDto extends openAiPageOf(BatchDto) {}
class BatchDeletedDto extends deletionOf('batch') {}

/** With less time elapsed the rate is not reliable. */
const MIN_ELAPSED_MS = 500;

/**
 * Lines per second, failed ones included, and seconds to the last line at that rate:
 * averages over the life of the job, pauses included, computed from its row, so that all
 * replicas agree. Null unless it is in progress, and the end before the first result.
 * @param nowMs wall-clock time
 */
export function paceOf({ status, reachedAtMs, counts }: BatchJob, nowMs: number) {
  const elapsedMs = nowMs - (reachedAtMs.in_progress ?? nowMs);
  if (status !== 'in_progress' || elapsedMs < MIN_ELAPSED_MS)
    return { rate_per_s: null, eta_s: null };
  const done = counts.completed + counts.failed;
  const perS = (done * 1000) / elapsedMs;
  return {
    rate_per_s: Number(perS.toFixed(3)),
    eta_s: done === 0 ? null : Math.ceil((counts.total - done) / perS),
  };
}

/** A job as OpenAI's batch, with our extensions. */
function batchView(job: BatchJob): BatchDto {
  const { reachedAtMs: at, counts, problems } = job;
  return {
    id: job.id,
    object: 'batch',
    endpoint: job.endpoint,
    model: job.model ?? null,
    errors: problems.length === 0 ? null : { object: 'list', data: problems },
    input_file_id: job.inputFileId,
    completion_window: job.completionWindow,
    status: job.status,
    output_file_id: job.outputFileId ?? null,
    error_file_id: job.errorFileId ?? null,
    created_at: unixSeconds(job.createdAtMs),
    in_progress_at: secondsOrNull(at.in_progress),
    expires_at: unixSeconds(job.expiresAtMs),
    finalizing_at: secondsOrNull(at.finalizing),
    completed_at: secondsOrNull(at.completed),
    failed_at: secondsOrNull(at.failed),
    expired_at: secondsOrNull(at.expired),
    cancelling_at: secondsOrNull(at.cancelling),
    cancelled_at: secondsOrNull(at.cancelled),
    request_counts: counts,
    usage: job.usage ? usageView(job.usage) : null,
    metadata: job.metadata,
    ...paceOf(job, Date.now()),
    retry_of: job.retryOf ?? null,
    webhook: job.webhook ?? null,
  };
}

const usageView = ({ inputTokens, outputTokens, cachedTokens, reasoningTokens }: BatchUsage) => ({
  input_tokens: inputTokens,
  input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: 0 },
  output_tokens: outputTokens,
  output_tokens_details: { reasoning_tokens: reasoningTokens },
  total_tokens: inputTokens + outputTokens,
});

@Controller('v1/batches')
export class BatchesController {
  constructor(private readonly batches: BatchesService) {}

  @Post()
  @ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description: 'The same key again: the batch made then.',
  })
  @Answers(BatchDto)
  @DescribesErrors(
    'storage_unavailable',
    'invalid_value',
    'missing_required_parameter',
    'invalid_json',
    'webhook_refused',
    'file_not_found',
    'idempotency_key_reused',
  )
  async create(
    @CallerPrincipal() principal: Principal,
    @Body() body: BatchCreateDto,
    @Headers() headers: IncomingHttpHeaders,
  ) {
    const context = {
      ...contextOf(principal, headers),
      idempotencyKey: idempotencyKeyOf(headers),
    };
    return batchView(await this.batches.create(principal.tenant, orderOf(body), context));
  }

  @Get()
  @Answers(BatchListDto)
  @DescribesErrors('storage_unavailable', 'invalid_value')
  async list(@CallerTenant() tenant: string, @Query() query: BatchListQueryDto) {
    return pageView(await this.batches.list(tenant, query), batchView);
  }

  @Get(':id')
  @Answers(BatchDto)
  @DescribesErrors('storage_unavailable', 'batch_not_found')
  async retrieve(@CallerTenant() tenant: string, @Param('id') id: string) {
    return batchView(await this.batches.find(tenant, id));
  }

  @Post(':id/cancel')
  @Answers(BatchDto)
  @DescribesErrors('storage_unavailable', 'batch_not_found', 'batch_not_cancellable')
  async cancel(@CallerTenant() tenant: string, @Param('id') id: string) {
    return batchView(await this.batches.cancel(tenant, id));
  }

  @Post(':id/retry-failed')
  @Answers(BatchDto, { description: 'The new batch; `retry_of` names the old one.' })
  @DescribesErrors(
    'storage_unavailable',
    'batch_not_found',
    'batch_not_finished',
    'nothing_to_retry',
    'file_not_found',
  )
  async retryFailed(
    @CallerPrincipal() principal: Principal,
    @Param('id') id: string,
    @Headers() headers: IncomingHttpHeaders,
  ) {
    return batchView(
      await this.batches.retryFailed(principal.tenant, id, contextOf(principal, headers)),
    );
  }

  @Delete(':id')
  @Answers(BatchDeletedDto)
  @DescribesErrors('storage_unavailable', 'batch_not_found', 'batch_not_finished')
  async remove(@CallerTenant() tenant: string, @Param('id') id: string) {
    await this.batches.remove(tenant, id);
    return { id, object: 'batch', deleted: true };
  }
}

const orderOf = (dto: BatchCreateDto) => ({
  endpoint: dto.endpoint,
  inputFileId: dto.input_file_id,
  completionWindow: dto.completion_window,
  metadata: dto.metadata ?? {},
  outputExpiresAfterS: dto.output_expires_after?.seconds,
  webhook: dto.webhook && { url: dto.webhook.url },
});

const LONGEST_KEY = 255;

/** @throws DomainError `invalid_value` */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && key.length >= 1 && key.length <= LONGEST_KEY) return key;
  throw invalidField(
    'Idempotency-Key',
    `\`Idempotency-Key\` must have 1 to ${LONGEST_KEY} characters.`,
  );
}

const contextOf = ({ terms }: Principal, headers: IncomingHttpHeaders) => ({
  traceparent: traceparentIn(headers),
  terms,
});
