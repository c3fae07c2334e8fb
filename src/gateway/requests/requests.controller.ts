import { Controller, Get, Param } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { type RequestView } from '../../core/dispatch/request-view.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { permits, type Principal } from '../../platform/auth/principal.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { CallerPrincipal } from '../http/params.js';
import { Forecasts } from '../queue/forecasts.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { ExplainedRequestDto, explainedDto } from './dto/explained-request.dto.js';
import { RequestDto, requestDto } from './dto/request.dto.js';
import { StoredRequestsService } from './stored-requests.service.js';

/**
 * The request of an id that an operator names: ids are unique within a tenant only
 * (D-31). Undefined: there is none.
 * @throws DomainError `missing_required_parameter` when several tenants have a request
 *   of that id
 */
export function oneNamed(
  views: readonly RequestView[],
  tenant: string | undefined,
): RequestView | undefined {
  const meant = tenant === undefined ? views : views.filter(view => view.tenant === tenant);
  if (meant.length <= 1) return meant[0];
  const tenants = [...new Set(meant.map(view => view.tenant))].sort().join(', ');
  throw new DomainError(
    'missing_required_parameter',
    `Several tenants have a request of that id: ${tenants}. Name one with \`?tenant=\`.`,
    { param: 'tenant' },
  );
}

@Controller('v1/requests')
export class RequestsController {
  constructor(
    private readonly scheduler: SchedulerService,
    private readonly stored: StoredRequestsService,
    private readonly forecasts: Forecasts,
  ) {}

  @Get(':id')
  @ApiParam({ name: 'id', description: 'The `x-request-id` of the request.' })
  @Answers(RequestDto)
  @DescribesErrors('request_not_found')
  async find(@CallerPrincipal() principal: Principal, @Param('id') id: string) {
    const lookup = this.stored.find(principal, id);
    // Without the database, requests that run here are still known.
    const stored = await lookup.catch(() => undefined);
    const running = await this.#running(principal, id, stored?.tenant);
    const view = running && requestDto(running, this.forecasts.ofView(running));
    if (stored) return this.stored.view(stored, view);
    if (view) return view;
    await lookup;
    const message = `There is no request \`${id}\`, or it ended too long ago.`;
    throw new DomainError('request_not_found', message, { param: 'id' });
  }

  @Get(':id/explain')
  @ApiParam({ name: 'id', description: 'The `x-request-id` of the request.' })
  @Answers(ExplainedRequestDto)
  @DescribesErrors('request_not_found')
  async explain(@CallerPrincipal() principal: Principal, @Param('id') id: string) {
    const view = await this.#running(principal, id);
    return view
      ? explainedDto(view, this.forecasts.ofView(view), await this.scheduler.explain(view))
      : this.find(principal, id);
  }

  /**
   * The request of the tenant whose answer is stored, else the caller's own, else, for an
   * admin, that of any tenant.
   */
  async #running(
    principal: Principal,
    id: string,
    tenant = principal.tenant,
  ): Promise<RequestView | undefined> {
    const found = await this.scheduler.findAnywhere({ tenant, id });
    if (found || !permits(principal, 'admin')) return found;
    return oneNamed(await this.scheduler.named(id), undefined);
  }
}
