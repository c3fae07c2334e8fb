import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { addAbortListener, once } from 'node:events';
import { type Readable } from 'node:stream';
import { installCommand } from '@switchyard/engine-api/install-command.js';
import { DomainError } from '../../core/errors/domain-error.js';

const MAX_CHARACTERS = 4096;

/**
 * Reads a child's stderr to the end, so that it never blocks, and keeps its beginning.
 */
function boundedText(stream: Readable): () => string {
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (piece: string) => {
    if (text.length < MAX_CHARACTERS) text = (text + piece).slice(0, MAX_CHARACTERS);
  });
  return () => text;
}

const QUIET = '-hide_banner -loglevel error -nostdin';

/**
 * What to say where ffmpeg is not installed; the worker itself is healthy, so this
 * concerns the request only.
 */
const MISSING =
  `ffmpeg is not installed where this worker runs: ${installCommand(['ffmpeg'])} ` +
  '(needed for all audio but 16 kHz mono WAV in, and WAV and PCM out)';

/**
 * Data that one ffmpeg may hold: ten times what decoding usually takes. A file's header
 * decides how much it wants, such as 0.8 GB for a sample rate of 1 Hz; beyond the limit
 * the file cannot be decoded.
 */
const DATA_LIMIT_KIB = 524_288;
/**
 * Limits are set by the shell, which ffmpeg then replaces. Where there is no such limit
 * it runs without.
 */
const BOUNDED = [
  '/bin/sh',
  '-c',
  `ulimit -d ${DATA_LIMIT_KIB} 2>/dev/null; exec ffmpeg "$@"`,
  'ffmpeg',
] as const;
/** The shell's exit code for a program that does not exist. */
const NOT_FOUND = 127;

/**
 * Starts ffmpeg in the group of this process; killed when `signal` aborts. `ended` tells
 * how it went, when its streams are closed, and never rejects; `complaint`, what it wrote
 * to stderr so far.
 *
 * One process per item: 48 ms of the usual 64 is its start (ENGINES "ffmpeg"), paid in
 * parallel and off the event loop.
 * @param args as on a command line, each without spaces
 */
export function startFfmpeg(args: string, stdio: StdioOptions, signal: AbortSignal) {
  const [shell, ...command] = BOUNDED;
  const child = spawn(shell, [...command, ...`${QUIET} ${args}`.split(' ')], { stdio });
  const killing = addAbortListener(signal, () => void child.kill('SIGKILL'));
  const ended = exitOf(child).finally(() => killing[Symbol.dispose]());
  return { child, ended, complaint: boundedText(child.stderr!) };
}

/** Its exit code, or the error of its start. */
async function exitOf(child: ChildProcess): Promise<number | null | DomainError> {
  try {
    // 'close' and not 'exit': stdout may still hold samples when the process is gone.
    const [exitCode] = (await once(child, 'close')) as [number | null];
    return exitCode === NOT_FOUND ? new DomainError('engine_failed', MISSING) : exitCode;
  } catch (error) {
    const message = `ffmpeg could not be started: ${(error as Error).message}`;
    return new DomainError('engine_failed', message, { cause: error });
  }
}
