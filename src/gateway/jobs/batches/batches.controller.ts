import { type IncomingHttpHeaders } from 'node:http';
import { Body, Controller, Delete, Get, Headers, Param, Post, Query } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import { invalidField } from '@switchyard/engine-api/field-problems.js';
import { BatchCreateDto, BatchListQueryDto } from '../../../contracts/openai/batch.dto.js';
import { type Principal } from '../../../platform/auth/principal.js';
import { traceparentIn } from '../../../platform/tracing/tracing.module.js';
import { DeletionDto, pageView } from '../../http/openapi/answer.js';
import { DescribesErrors } from '../../http/openapi/errors.js';
import { Answers } from '../../http/openapi/route.decorator.js';
import { CallerPrincipal, CallerTenant } from '../../http/params.js';
import { BatchesService } from './batches.service.js';
import { BatchListDto } from './dto/batch-list.dto.js';
import { BatchDto, batchView } from './dto/batch.dto.js';

const TakesIdempotencyKey = () =>
  ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description: 'The same key again: the batch made then.',
  });

@Controller('v1/batches')
export class BatchesController {
  constructor(private readonly batches: BatchesService) {}

  @Post()
  @TakesIdempotencyKey()
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
    const context = contextOf(principal, headers);
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
  @TakesIdempotencyKey()
  @Answers(BatchDto, { description: 'The new batch; `retry_of` names the old one.' })
  @DescribesErrors(
    'storage_unavailable',
    'batch_not_found',
    'batch_not_finished',
    'nothing_to_retry',
    'file_not_found',
    'invalid_value',
    'idempotency_key_reused',
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
  @Answers(DeletionDto)
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
  idempotencyKey: idempotencyKeyOf(headers),
});
