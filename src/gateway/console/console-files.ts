import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Injectable } from '@nestjs/common';

export interface ConsoleFile {
  readonly contentType: string;
  readonly body: Buffer;
  readonly gzipped: Buffer;
}

/** What `npm --prefix console run build` writes. */
const FOLDER = join(projectFolder(import.meta.dirname), 'console/dist');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const NOT_BUILT = `<!doctype html><html lang="en"><title>Switchyard</title><h1>The console is not built</h1>
<p>Run <code>npm run console:build</code> and load this page again. The API is not affected.</p></html>`;

/**
 * The built console, read once when it is first asked for. Nothing but these files can
 * be asked for.
 */
@Injectable()
export class ConsoleFiles {
  #assets: ReadonlyMap<string, ConsoleFile> | undefined;
  #index: ConsoleFile | undefined;

  /** Built later, it is found at the next request. */
  index(): ConsoleFile {
    const path = join(FOLDER, 'index.html');
    if (!this.#index && !existsSync(path))
      return consoleFile('.html', Buffer.from(NOT_BUILT));
    return (this.#index ??= consoleFile('.html', readFileSync(path)));
  }

  asset(name: string): ConsoleFile | undefined {
    this.#assets ??= readAssets(join(FOLDER, 'assets'));
    return this.#assets?.get(name);
  }
}

/** Undefined while there are none. */
function readAssets(folder: string): ReadonlyMap<string, ConsoleFile> | undefined {
  if (!existsSync(folder)) return undefined;
  const names = readdirSync(folder).filter(name => extname(name) in TYPES);
  return new Map(
    names.map(name => [
      name,
      consoleFile(extname(name), readFileSync(join(folder, name))),
    ]),
  );
}

const consoleFile = (extension: string, body: Buffer): ConsoleFile => ({
  contentType: TYPES[extension] ?? 'application/octet-stream',
  body,
  gzipped: gzipSync(body, { level: 9 }),
});

function projectFolder(from: string): string {
  return existsSync(join(from, 'package.json')) || from === dirname(from)
    ? from
    : projectFolder(dirname(from));
}
