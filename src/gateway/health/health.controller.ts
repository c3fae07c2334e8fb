import { Controller, Get, Headers, HttpStatus, Req, Res } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { Authenticator, bearerToken } from '../../platform/auth/authenticator.js';
import { OriginGuard } from '../../platform/auth/host-and-origin-guard.js';
import { demandScope } from '../../platform/auth/principal.js';
import { sessionToken } from '../../platform/auth/short-lived-tokens.js';
import { Settings } from '../../platform/config/settings.js';
import {
  DescribesLiveness,
  DescribesReadiness,
  DescribesRoot,
  DescribesSummary,
} from './health.openapi.js';
import { HealthService } from './health.service.js';

/** Where to go from the bare address of the server. */
@Controller()
export class RootController {
  constructor(private readonly settings: Settings) {}

  @Get()
  @DescribesRoot()
  index(@Headers('accept') accept: string | undefined, @Res() reply: FastifyReply): void {
    const { docs } = this.settings.server;
    void reply.header('vary', 'Accept');
    if (accept?.includes('text/html')) return void reply.redirect('/console', 302);
    const documents = docs ? { docs: '/docs', openapi: '/docs-json' } : {};
    void reply.send({
      name: 'switchyard',
      api: '/v1',
      models: '/v1/models',
      health: '/health',
      ...documents,
    });
  }
}

/** Probes need no key; models, workers and processes are named to operators only. */
@Controller()
export class HealthController {
  constructor(
    private readonly health: HealthService,
    private readonly authenticator: Authenticator,
    private readonly origins: OriginGuard,
  ) {}

  /** Always 200: for people and dashboards. Probes use the two below. */
  @Get('health')
  @DescribesSummary()
  summary(@Req() request: FastifyRequest) {
    return this.#shown(request);
  }

  @Get(['health/live', 'healthz'])
  @DescribesLiveness()
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  @Get(['health/ready', 'readyz'])
  @DescribesReadiness()
  ready(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    void reply.status(this.health.ready ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE);
    return this.#shown(request);
  }

  async #shown(request: FastifyRequest) {
    const summary = this.health.summary();
    return (await this.#seesDetails(request)) ? summary : { status: summary.status };
  }

  /**
   * True for a key with the scope `admin`; without keys, for every caller that
   * the server accepts.
   */
  async #seesDetails(request: FastifyRequest): Promise<boolean> {
    const { headers, method } = request;
    try {
      const token = bearerToken(headers) ?? sessionToken(headers);
      demandScope(await this.authenticator.authenticateRequest(token, request), 'admin');
      this.origins.demandRequest(method, headers);
      return true;
    } catch {
      return false;
    }
  }
}
