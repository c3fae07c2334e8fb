import { type IncomingHttpHeaders } from 'node:http';
import {
  Body,
  Controller,
  Delete,
  Get,
  Headers,
  Param,
  Post,
  Query,
  UseInterceptors,
} from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import { Answers } from '../../http/openapi/route.decorator.js';
import {
  BatchCreateDto,
  BatchListQueryDto,
} from '../../../contracts/openai/batch.dto.js';
import { type BatchJob } from '../../../core/jobs/batch-job.js';
import { type Principal } from '../../../platform/auth/principal.js';
import { traceparentIn } from '../../../platform/tracing/tracing.module.js';
import { CallerPrincipal, CallerTenant } from '../../http/params.js';
import { DescribesErrors } from '../../http/openapi/errors.js';
import { OutageInterceptor } from '../shared/outage.interceptor.js';
import { pageView } from '../shared/page-view.js';
import { idempotencyKeyOf, orderOf } from './batch-params.js';
import { BatchDeletedDto, BatchDto, BatchListDto, batchView } from './batch-view.js';
import { BatchesService } from './batches.service.js';

@UseInterceptors(OutageInterceptor)
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
    return view(await this.batches.create(principal.tenant, orderOf(body), context));
  }

  @Get()
  @Answers(BatchListDto)
  @DescribesErrors('storage_unavailable', 'invalid_value')
  async list(@CallerTenant() tenant: string, @Query() query: BatchListQueryDto) {
    return pageView(await this.batches.list(tenant, query), view);
  }

  @Get(':id')
  @Answers(BatchDto)
  @DescribesErrors('storage_unavailable', 'batch_not_found')
  async retrieve(@CallerTenant() tenant: string, @Param('id') id: string) {
    return view(await this.batches.find(tenant, id));
  }

  @Post(':id/cancel')
  @Answers(BatchDto)
  @DescribesErrors('storage_unavailable', 'batch_not_found', 'batch_not_cancellable')
  async cancel(@CallerTenant() tenant: string, @Param('id') id: string) {
    return view(await this.batches.cancel(tenant, id));
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
    return view(
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

const contextOf = ({ terms }: Principal, headers: IncomingHttpHeaders) => ({
  traceparent: traceparentIn(headers),
  terms,
});

const view = (job: BatchJob) => batchView(job, Date.now());
