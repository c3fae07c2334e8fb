import { Controller, Get, Param, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { type FastifyRequest } from 'fastify';
import { type StoredRequest } from '../../core/request/stored-request.port.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { permits, type Principal } from '../../platform/auth/principal.js';
import { oneNamed } from './one-named.js';
import { RequestDto, requestDto } from './request.dto.js';
import { StoredRequestsService } from './stored-requests.service.js';
import { type RequestView } from '../../core/dispatch/request-view.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { DescribesErrors } from '../http/openapi/errors.js';

@ApiTags('requests')
@Controller('v1/requests')
export class RequestsController {
  constructor(
    private readonly scheduler: SchedulerService,
    private readonly kept: StoredRequestsService,
  ) {}

  @Get(':id')
  @ApiOperation({ summary: 'Where a request is and why it waits' })
  @ApiParam({ name: 'id', description: 'The `x-request-id` of the request.' })
  @ApiOkResponse({ type: RequestDto })
  @DescribesErrors('request_not_found')
  async find(@Param('id') id: string, @Req() request: FastifyRequest): Promise<RequestDto> {
    const principal = principalOf(request);
    const stored = this.kept.find(principal, id);
    // Without the database what runs here is still known.
    const kept = await stored.catch(() => undefined);
    const running = await this.#running(principal, id, kept?.tenant);
    const view = running && requestDto(running);
    if (kept) return { ...(view ?? elsewhere(kept)), ...(await this.kept.view(kept, view?.state === 'queued')) };
    if (view) return view;
    await stored;
    throw new DomainError('request_not_found', `There is no request \`${id}\`, or it ended too long ago.`, {
      param: 'id',
    });
  }

  /** That of the tenant whose answer is kept, else the caller's own, else for an admin anybody's. */
  async #running(principal: Principal, id: string, tenant = principal.tenant): Promise<RequestView | undefined> {
    const found = await this.scheduler.findAnywhere({ tenant, id });
    if (found || !permits(principal, 'admin')) return found;
    return oneNamed(await this.scheduler.named(id), undefined);
  }
}

/** What is known of a request that another gateway has, or that ended there. */
function elsewhere({ requestId, tenant, status, headers, attempts, answer }: StoredRequest): RequestDto {
  const told = answer?.headers ?? {};
  const state = answer ? (status as RequestDto['state']) : 'running';
  return {
    ...{ request_id: requestId, tenant, state, aged: false, phases: {} },
    model: told['x-switchyard-model'],
    priority: headers['x-priority'] === 'realtime' ? 'realtime' : 'batch',
    waited_ms: Number(told['x-switchyard-queue-ms'] ?? 0),
    attempts: Number(told['x-switchyard-attempts'] ?? attempts),
    explanation: answer ? `It is ${status}; its answer is kept.` : 'Another gateway has it.',
  };
}
