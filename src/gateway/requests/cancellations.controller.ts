import { Controller, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { type FastifyRequest } from 'fastify';
import { isLive } from '../../core/dispatch/request-view.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { permits } from '../../platform/auth/principal.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { oneNamed } from './one-named.js';
import { CancellationDto } from './request.dto.js';
import { StoredRequestsService } from './stored-requests.service.js';

/**
 * One id space, four spellings: always 200, and idempotent. Another tenant's request is
 * answered like one that does not exist.
 */
@ApiTags('requests')
@Controller('v1')
export class CancellationsController {
  constructor(
    private readonly scheduler: SchedulerService,
    private readonly kept: StoredRequestsService,
  ) {}

  @Post([
    'audio/transcriptions/:id/cancel',
    'audio/translations/:id/cancel',
    'audio/speech/:id/cancel',
    'requests/:id/cancel',
  ])
  @HttpCode(200)
  @ApiOperation({ summary: 'Cancel a request; its caller receives 499 at once' })
  @ApiParam({ name: 'id', description: 'The `x-request-id` of the request.' })
  @ApiOkResponse({ type: CancellationDto })
  async cancel(@Param('id') id: string, @Req() request: FastifyRequest): Promise<CancellationDto> {
    const principal = principalOf(request);
    const cancelled =
      (await this.scheduler.cancel({ tenant: principal.tenant, id }, 'client')) ||
      (await this.kept.cancel(principal, id)) ||
      (permits(principal, 'admin') && (await this.#cancelOthers(id)));
    return { request_id: id, cancelled };
  }

  /** An admin may stop what is another tenant's. */
  async #cancelOthers(id: string): Promise<boolean> {
    const view = oneNamed((await this.scheduler.named(id)).filter(isLive), undefined);
    return view !== undefined && this.scheduler.cancel({ tenant: view.tenant, id }, 'client');
  }
}
