import { Controller, Get, HttpStatus, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiServiceUnavailableResponse, ApiTags } from '@nestjs/swagger';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { HealthAccess } from './health-access.js';
import { HealthService, type HealthSummary } from './health.service.js';

/** What everybody may know; with the details, a `HealthSummary`. */
type PublicHealth = Pick<HealthSummary, 'status'>;

@ApiTags('health')
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthService,
    private readonly access: HealthAccess,
  ) {}

  /** Always 200: for people and dashboards. Probes use the two below. */
  @Get()
  @ApiOperation({ summary: 'Summary for people: models, workers, dependencies, draining' })
  @ApiOkResponse({
    description: '`status` is ok, degraded, unavailable or draining. The rest is for keys with the scope admin.',
  })
  summary(@Req() request: FastifyRequest): PublicHealth {
    return this.#shown(request);
  }

  @Get('live')
  @ApiOperation({ summary: '200 while the process serves' })
  @ApiOkResponse({ description: 'The event loop turns; nothing else is asked.' })
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  @Get('ready')
  @ApiOperation({ summary: '200 while requests can be served, else 503' })
  @ApiOkResponse({ description: 'At least one model has a ready worker.' })
  @ApiServiceUnavailableResponse({ description: 'No worker is ready yet, or the server is draining.' })
  ready(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): PublicHealth {
    void reply.status(this.health.ready ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE);
    return this.#shown(request);
  }

  #shown(request: FastifyRequest): PublicHealth {
    const summary = this.health.summary();
    return this.access.seesDetails(request) ? summary : { status: summary.status };
  }
}
