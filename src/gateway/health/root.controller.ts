import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { summaryOf } from '../http/openapi/summary.js';

/** Where to go from the bare address of the server. */
@ApiTags('health')
@Controller()
export class RootController {
  constructor(@Inject(SETTINGS) private readonly settings: Settings) {}

  @Get()
  @ApiOperation({ summary: summaryOf('GET', '/'), description: 'Browsers are redirected to the documentation.' })
  @ApiOkResponse({ schema: { type: 'object', example: { name: 'switchyard', api: '/v1', docs: '/docs' } } })
  index(@Req() { headers }: FastifyRequest, @Res() reply: FastifyReply): void {
    const { docs } = this.settings.server;
    const page = docs ? '/docs' : '/console/realtime';
    void reply.header('vary', 'Accept');
    if (headers.accept?.includes('text/html')) return void reply.redirect(page, 302);
    const documents = docs ? { docs: '/docs', openapi: '/docs-json' } : {};
    void reply.send({ name: 'switchyard', api: '/v1', models: '/v1/models', health: '/health', ...documents });
  }
}
