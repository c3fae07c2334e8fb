import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiOkResponse, ApiParam, ApiProduces } from '@nestjs/swagger';
import { type FastifyReply } from 'fastify';
import { DomainError } from '../../core/errors/domain-error.js';
import { type ConsoleFile, ConsoleFiles } from './console-files.js';

/**
 * Its own scripts, styles and sockets; nothing from elsewhere, nowhere
 * inside another page.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  'media-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'permissions-policy': 'microphone=(self)',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  vary: 'Accept-Encoding',
};

/** The index is asked for again each time; assets carry a hash in their name. */
const FRESH = 'no-cache';
const FOREVER = 'public, max-age=31536000, immutable';

/**
 * The browser console (`console/`): files without data. Every view is the same page,
 * which reads its address.
 */
@Controller('console')
export class ConsoleController {
  constructor(private readonly files: ConsoleFiles) {}

  @Get()
  @ApiProduces('text/html')
  @ApiOkResponse({ description: 'Open it in a browser.' })
  index(@Res() reply: FastifyReply): void {
    send(this.files.index(), FRESH, reply);
  }

  @Get('assets/:file')
  @ApiParam({ name: 'file', example: 'index.js' })
  @ApiOkResponse()
  asset(@Param('file') name: string, @Res() reply: FastifyReply): void {
    const file = this.files.asset(name);
    if (!file) throw new DomainError('unknown_url', `The console has no file ${name}.`);
    send(file, FOREVER, reply);
  }

  @Get(':view')
  @ApiParam({ name: 'view', example: 'requests' })
  @ApiProduces('text/html')
  @ApiOkResponse({ description: 'The same page.' })
  view(@Res() reply: FastifyReply): void {
    this.index(reply);
  }

  @Get(':view/:id')
  @ApiParam({ name: 'view', example: 'requests' })
  @ApiParam({ name: 'id', example: 'req_0198a1b2c3d4' })
  @ApiProduces('text/html')
  @ApiOkResponse({ description: 'The same page.' })
  detail(@Res() reply: FastifyReply): void {
    this.index(reply);
  }
}

function send(file: ConsoleFile, caching: string, reply: FastifyReply): void {
  const compressed = /\bgzip\b/.test(
    reply.request.headers['accept-encoding']?.toString() ?? '',
  );
  void reply.headers({ ...HEADERS, 'cache-control': caching }).type(file.contentType);
  if (compressed) void reply.header('content-encoding', 'gzip');
  void reply.send(compressed ? file.gzipped : file.body);
}
