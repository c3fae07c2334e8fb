import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { DomainError } from '../../core/shared/domain-error.js';

const QUIET = ['-hide_banner', '-loglevel', 'error', '-nostdin'];

/** What to say where ffmpeg is not installed; the worker itself is healthy, so this concerns the request only. */
const MISSING =
  'ffmpeg is not installed where this worker runs: apt-get install -y --no-install-recommends ffmpeg (needed for all audio but 16 kHz mono WAV in, and WAV and PCM out)';

/**
 * Starts ffmpeg in the group of this process; killed when `signal` aborts. Never rejects: `ended` tells how it went.
 *
 * One process per item: 48 ms of the usual 64 is its start (ENGINES "ffmpeg"), paid in parallel and off the event loop.
 */
export function startFfmpeg(args: readonly string[], stdio: StdioOptions, signal: AbortSignal): FfmpegProcess {
  const child = spawn('ffmpeg', [...QUIET, ...args], { stdio });
  const kill = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) kill();
  const ended = exitOf(child).finally(() => signal.removeEventListener('abort', kill));
  return { child, ended };
}

export interface FfmpegProcess {
  readonly child: ChildProcess;
  /** When its streams are closed: its exit code, or the error of its start. Never rejects. */
  readonly ended: Promise<FfmpegEnd>;
}

export type FfmpegEnd =
  | { readonly started: true; readonly exitCode: number | null }
  | { readonly started: false; readonly error: DomainError };

async function exitOf(child: ChildProcess): Promise<FfmpegEnd> {
  try {
    // 'close' and not 'exit': stdout may still hold samples when the process is gone.
    const [exitCode] = (await once(child, 'close')) as [number | null];
    return { started: true, exitCode };
  } catch (error) {
    return { started: false, error: startFailure(error as NodeJS.ErrnoException) };
  }
}

function startFailure(error: NodeJS.ErrnoException): DomainError {
  const message = error.code === 'ENOENT' ? MISSING : `ffmpeg could not be started: ${error.message}`;
  return new DomainError('engine_failed', message, { cause: error });
}
