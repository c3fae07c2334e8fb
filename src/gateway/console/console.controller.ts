import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiProduces, ApiTags } from '@nestjs/swagger';
import { type FastifyReply } from 'fastify';
import { DomainError } from '../../core/shared/domain-error.js';
import { ConsolePage, type PageFile } from './console-page.js';

/** Its own scripts, styles and sockets; nothing from elsewhere, nowhere inside another page. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'permissions-policy': 'microphone=(self)',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-cache',
};

/** A page that records the microphone and shows what is heard, beside the live queue. It holds no data; it asks for the key. */
@ApiTags('console')
@Controller('console/realtime')
export class ConsoleController {
  constructor(private readonly page: ConsolePage) {}

  @Get()
  @ApiOperation({ summary: 'Page: microphone to text, live queue and workers' })
  @ApiProduces('text/html')
  @ApiOkResponse({ description: 'Open it in a browser.' })
  index(@Res() reply: FastifyReply): void {
    send(this.page.index, reply);
  }

  @Get(':file')
  @ApiOperation({ summary: 'Scripts and styles of the page' })
  @ApiParam({ name: 'file', example: 'main.js' })
  @ApiOkResponse()
  file(@Param('file') name: string, @Res() reply: FastifyReply): void {
    const file = this.page.file(name);
    if (!file) throw new DomainError('unknown_url', `The page has no ${name}.`);
    send(file, reply);
  }
}

function send({ contentType, body }: PageFile, reply: FastifyReply): void {
  void reply.headers(HEADERS).type(contentType).send(body);
}
