import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Controller, Get, Injectable, Param, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiProduces, ApiTags } from '@nestjs/swagger';
import { type FastifyReply } from 'fastify';
import { DomainError } from '../../core/shared/domain-error.js';

interface PageFile {
  readonly contentType: string;
  readonly body: Buffer;
}

const SCRIPT = 'text/javascript; charset=utf-8';
/** Browsers get the files as they were written: they stay in `src`, whatever this module was compiled into. */
const FOLDER = join(projectFolder(import.meta.dirname), 'src/gateway/console/page');
const SCRIPTS = ['main.js', 'feed.js', 'microphone.js', 'pcm-worklet.js', 'transcription.js'];

/** The files of the page, by name, read once. Nothing but these can be asked for. */
@Injectable()
export class ConsolePage {
  readonly index = page('index.html', 'text/html; charset=utf-8');
  readonly #files = new Map<string, PageFile>([
    ['style.css', page('style.css', 'text/css; charset=utf-8')],
    ['socket.io.js', { contentType: SCRIPT, body: readFileSync(socketIoClient()) }],
    ...SCRIPTS.map((name): [string, PageFile] => [name, page(name, SCRIPT)]),
  ]);

  file(name: string): PageFile | undefined {
    return this.#files.get(name);
  }
}

const page = (name: string, contentType: string): PageFile => ({
  contentType,
  body: readFileSync(join(FOLDER, name)),
});

function projectFolder(from: string): string {
  return existsSync(join(from, 'package.json')) || from === dirname(from) ? from : projectFolder(dirname(from));
}

/** The browser's half of the very Socket.IO that serves it. */
function socketIoClient(): string {
  const manifest = createRequire(import.meta.url).resolve('socket.io/package.json');
  return join(dirname(manifest), 'client-dist', 'socket.io.esm.min.js');
}

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

/**
 * A page that records the microphone and shows the transcript beside the live queue. It holds no data and asks for the
 * key.
 */
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
