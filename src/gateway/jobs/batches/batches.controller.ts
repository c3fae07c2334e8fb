import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req, UseInterceptors } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { type FastifyRequest } from 'fastify';
import {
  BatchCreateDto,
  BatchDeletedDto,
  BatchDto,
  BatchListDto,
  BatchListQueryDto,
} from '../../../contracts/openai/batch.dto.js';
import { type BatchJob } from '../../../core/jobs/batch-job.js';
import { principalOf, tenantOf } from '../../../platform/auth/access-hooks.js';
import { traceparentIn } from '../../../platform/tracing/tracing.module.js';
import { parseDto } from '../../http/dto-validation.js';
import { bodyFields } from '../../http/json-body.js';
import { DescribesErrors } from '../../http/openapi/errors.js';
import { summaryOf } from '../../http/openapi/route.decorator.js';
import { OutageInterceptor } from '../shared/outage.interceptor.js';
import { pageView } from '../shared/page-view.js';
import { idempotencyKeyOf, orderOf } from './batch-params.js';
import { batchView } from './batch-view.js';
import { BatchesService, type CreateContext } from './batches.service.js';

@ApiTags('batches')
@UseInterceptors(OutageInterceptor)
@Controller('v1/batches')
export class BatchesController {
  constructor(private readonly batches: BatchesService) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({ summary: summaryOf('POST', '/v1/batches') })
  @ApiBody({ type: BatchCreateDto })
  @ApiHeader({ name: 'Idempotency-Key', required: false, description: 'The same key again: the batch made then.' })
  @ApiOkResponse({ type: BatchDto })
  @DescribesErrors(
    'storage_unavailable',
    ...(['invalid_value', 'missing_required_parameter', 'invalid_json', 'webhook_refused'] as const),
    ...(['file_not_found', 'idempotency_key_reused'] as const),
  )
  async create(@Req() request: FastifyRequest, @Body() body: unknown): Promise<BatchDto> {
    const order = orderOf(parseDto(BatchCreateDto, bodyFields(body)));
    return view(await this.batches.create(tenantOf(request), order, contextOf(request)));
  }

  @Get()
  @ApiOperation({ summary: summaryOf('GET', '/v1/batches') })
  @ApiOkResponse({ type: BatchListDto })
  @DescribesErrors('storage_unavailable', 'invalid_value')
  async list(@Req() request: FastifyRequest, @Query() query: BatchListQueryDto): Promise<BatchListDto> {
    return pageView(await this.batches.list(tenantOf(request), parseDto(BatchListQueryDto, { ...query })), view);
  }

  @Get(':id')
  @ApiOperation({ summary: summaryOf('GET', '/v1/batches/{id}') })
  @ApiParam({ name: 'id' })
  @ApiOkResponse({ type: BatchDto })
  @DescribesErrors('storage_unavailable', 'batch_not_found')
  async retrieve(@Req() request: FastifyRequest, @Param('id') id: string): Promise<BatchDto> {
    return view(await this.batches.find(tenantOf(request), id));
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @ApiOperation({ summary: summaryOf('POST', '/v1/batches/{id}/cancel') })
  @ApiParam({ name: 'id' })
  @ApiOkResponse({ type: BatchDto })
  @DescribesErrors('storage_unavailable', 'batch_not_found', 'batch_not_cancellable')
  async cancel(@Req() request: FastifyRequest, @Param('id') id: string): Promise<BatchDto> {
    return view(await this.batches.cancel(tenantOf(request), id));
  }

  @Post(':id/retry-failed')
  @HttpCode(200)
  @ApiOperation({ summary: summaryOf('POST', '/v1/batches/{id}/retry-failed') })
  @ApiParam({ name: 'id' })
  @ApiOkResponse({ type: BatchDto, description: 'The new batch; `retry_of` names the old one.' })
  @DescribesErrors('storage_unavailable', 'batch_not_found', 'batch_not_finished', 'nothing_to_retry', 'file_not_found')
  async retryFailed(@Req() request: FastifyRequest, @Param('id') id: string): Promise<BatchDto> {
    return view(await this.batches.retryFailed(tenantOf(request), id, contextOf(request)));
  }

  @Delete(':id')
  @ApiOperation({ summary: summaryOf('DELETE', '/v1/batches/{id}') })
  @ApiParam({ name: 'id' })
  @ApiOkResponse({ type: BatchDeletedDto })
  @DescribesErrors('storage_unavailable', 'batch_not_found', 'batch_not_finished')
  async remove(@Req() request: FastifyRequest, @Param('id') id: string): Promise<BatchDeletedDto> {
    await this.batches.remove(tenantOf(request), id);
    return { id, object: 'batch', deleted: true };
  }
}

const contextOf = (request: FastifyRequest): CreateContext => ({
  traceparent: traceparentIn(request.headers),
  idempotencyKey: idempotencyKeyOf(request.headers),
  terms: principalOf(request).terms,
});

const view = (job: BatchJob): BatchDto => batchView(job, Date.now());
