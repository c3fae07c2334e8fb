import { Controller, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiParam } from '@nestjs/swagger';
import { isLive } from '../../core/dispatch/request-view.js';
import { permits, type Principal } from '../../platform/auth/principal.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { CallerPrincipal } from '../http/params.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { WorkRuns } from '../stored-work/work-runs.js';
import { CancellationDto } from './dto/cancellation.dto.js';
import { oneNamed } from './requests.controller.js';

/**
 * One id space, four routes: always 200, and idempotent. Another tenant's request is
 * answered like one that does not exist.
 */
@Controller('v1')
export class CancellationsController {
  constructor(
    private readonly scheduler: SchedulerService,
    private readonly runs: WorkRuns,
  ) {}

  @Post([
    'audio/transcriptions/:id/cancel',
    'audio/translations/:id/cancel',
    'audio/speech/:id/cancel',
    'requests/:id/cancel',
  ])
  @ApiOperation({ summary: 'Cancel a request; its caller receives 499 at once' })
  @ApiParam({ name: 'id', description: 'The `x-request-id` of the request.' })
  @Answers(CancellationDto)
  async cancel(@CallerPrincipal() principal: Principal, @Param('id') id: string) {
    const cancelled =
      (await this.runs.cancel({ tenant: principal.tenant, id }, 'client')) ||
      (permits(principal, 'admin') && (await this.#cancelOthers(id)));
    return { request_id: id, cancelled };
  }

  /** An admin may cancel another tenant's request. */
  async #cancelOthers(id: string): Promise<boolean> {
    const view = oneNamed((await this.scheduler.named(id)).filter(isLive), undefined);
    return view !== undefined && this.runs.cancel({ tenant: view.tenant, id }, 'client');
  }
}
