import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Controller, Get, Inject, Param, Res } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { DomainError } from '../../core/errors/domain-error.js';
import { DescribesAsset, DescribesPage } from './console.openapi.js';

/** The folder that `npm --prefix console run build` writes. */
export const CONSOLE_FOLDER = Symbol('CONSOLE_FOLDER');

export const builtConsole = (): string => join(projectFolder(import.meta.dirname), 'console/dist');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const NOT_BUILT = `<!doctype html><html lang="en"><title>Switchyard</title><h1>The console is not built</h1>
<p>Run <code>npm run console:build</code> and load this page again. The API is not affected.</p></html>`;

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
 * The browser console (`console/`): files without data, read once when they are first
 * asked for. Every view is the same page, which reads its address.
 */
@Controller('console')
export class ConsoleController {
  #assets: ReturnType<typeof readAssets>;
  #index: ReturnType<typeof consoleFile> | undefined;

  constructor(@Inject(CONSOLE_FOLDER) private readonly folder: string) {}

  @Get()
  @DescribesPage('Open it in a browser.')
  index(@Res() reply: FastifyReply): void {
    send(this.#page(), FRESH, reply);
  }

  @Get('assets/:file')
  @DescribesAsset()
  asset(@Param('file') name: string, @Res() reply: FastifyReply): void {
    this.#assets ??= readAssets(join(this.folder, 'assets'));
    const file = this.#assets?.get(name);
    if (!file) throw new DomainError('unknown_url', `The console has no file ${name}.`);
    send(file, FOREVER, reply);
  }

  @Get(':view')
  @DescribesPage('The same page.', { view: 'requests' })
  view(@Res() reply: FastifyReply): void {
    this.index(reply);
  }

  @Get(':view/:id')
  @DescribesPage('The same page.', { id: 'req_0198a1b2c3d4', view: 'requests' })
  detail(@Res() reply: FastifyReply): void {
    this.index(reply);
  }

  /** Built later, it is found at the next request. */
  #page() {
    const path = join(this.folder, 'index.html');
    if (!this.#index && !existsSync(path)) return consoleFile('.html', Buffer.from(NOT_BUILT));
    return (this.#index ??= consoleFile('.html', readFileSync(path)));
  }
}

function send(file: ReturnType<typeof consoleFile>, caching: string, reply: FastifyReply): void {
  const compressed = /\bgzip\b/.test(reply.request.headers['accept-encoding']?.toString() ?? '');
  void reply.headers({ ...HEADERS, 'cache-control': caching }).type(file.contentType);
  if (compressed) void reply.header('content-encoding', 'gzip');
  void reply.send(compressed ? file.gzipped : file.body);
}

/** Undefined while there are none. */
function readAssets(folder: string) {
  if (!existsSync(folder)) return undefined;
  const names = readdirSync(folder).filter(name => extname(name) in TYPES);
  return new Map(
    names.map(name => [name, consoleFile(extname(name), readFileSync(join(folder, name)))]),
  );
}

const consoleFile = (extension: string, body: Buffer) => ({
  contentType: TYPES[extension] ?? 'application/octet-stream',
  body,
  gzipped: gzipSync(body, { level: 9 }),
});

function projectFolder(from: string): string {
  return existsSync(join(from, 'package.json')) || from === dirname(from)
    ? from
    : projectFolder(dirname(from));
}
