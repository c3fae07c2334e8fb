import { Controller, Get, HttpStatus, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiServiceUnavailableResponse, ApiTags } from '@nestjs/swagger';
import { type FastifyReply } from 'fastify';
import { HealthService, type HealthSummary } from './health.service.js';

@ApiTags('health')
@Controller('health')
export class HealthController {
  constructor(private readonly health: HealthService) {}

  /** Always 200: for people and dashboards. Probes use the two below. */
  @Get()
  @ApiOperation({ summary: 'Summary for people: models, workers, dependencies, draining' })
  @ApiOkResponse({ description: '`status` is ok, degraded, unavailable or draining.' })
  summary(): HealthSummary {
    return this.health.summary();
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
  ready(@Res({ passthrough: true }) reply: FastifyReply): HealthSummary {
    void reply.status(this.health.ready ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE);
    return this.health.summary();
  }
}
