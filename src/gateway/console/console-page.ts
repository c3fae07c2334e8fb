import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Injectable } from '@nestjs/common';

export interface PageFile {
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
