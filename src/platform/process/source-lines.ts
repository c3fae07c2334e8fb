import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Stack traces of the built programs name lines of the sources, `src/main.worker.ts:40:9`.
 * The build puts this before every program and thread. A map is read when a stack that
 * needs it is read: `--enable-source-maps` reads all at the start, which costs a worker
 * 0.1 s of CPU and 12 MiB.
 */
Error.prepareStackTrace = (error, frames: readonly { toString(): string }[]) =>
  [Error.prototype.toString.call(error), ...frames.map(frame => inSources(frame.toString()))].join(
    '\n    at ',
  );

const inSources = (frame: string): string =>
  frame.replace(BUILT, (built, file: string, line: string, column: string) => {
    const origin = mapOf(file)?.findOrigin(Number(line), Number(column));
    if (origin === undefined || !('fileName' in origin)) return built;
    const path = origin.fileName.replace(/^(?:\.\.\/)+/, '');
    return `${path}:${origin.lineNumber}:${origin.columnNumber}`;
  });

const BUILT = /(file:\/\/[^\s()]+\.js):(\d+):(\d+)/;

const maps = new Map<string, SourceMap | undefined>();

function mapOf(url: string): SourceMap | undefined {
  if (!maps.has(url)) maps.set(url, readMap(url));
  return maps.get(url);
}

/** Without one, or without a file descriptor left, lines are those of the built file. */
function readMap(url: string): SourceMap | undefined {
  try {
    const payload = JSON.parse(
      readFileSync(fileURLToPath(`${url}.map`), 'utf8'),
    ) as SourceMapPayload;
    return new SourceMap(payload);
  } catch {
    return undefined;
  }
}
