import { resolve } from 'node:path';
import { stderr } from 'node:process';
import { MultiBar, type SingleBar } from 'cli-progress';
import { byteText } from './hub/disk-space.js';
import type { PullEvent, PullObserver } from './hub/file-download.js';
import { dim, MARKS, say } from './shared/terminal.js';

/** A log file does not need more than a line per tenth of a file. */
const PLAIN_STEPS = 10;

/** Shows a pull: bars on a terminal, plain lines elsewhere, nothing with `quiet`. */
export interface PullProgress {
  readonly observe: PullObserver;
  stop(): void;
}

export function pullProgress(quiet: boolean): PullProgress {
  if (quiet) return { observe: () => undefined, stop: () => undefined };
  return stderr.isTTY ? new PullBars() : new PullLines();
}

function planText({
  files,
  bytes,
  presentBytes,
  folder,
}: PullEvent & { type: 'planned' }): string {
  const size = bytes === undefined ? '' : `, ${byteText(bytes)}`;
  const here = presentBytes > 0 ? `, of which ${byteText(presentBytes)} are here` : '';
  return `${files} file${files === 1 ? '' : 's'}${size}${here} → ${resolve(folder)}`;
}

const waitText = ({ path, ms, why }: PullEvent & { type: 'waiting' }): string =>
  `${path}: ${why}; again in ${(ms / 1000).toFixed(1)} s`;

class PullLines implements PullProgress {
  readonly #files = new Map<
    string,
    { have: number; size: number | undefined; step: number }
  >();

  readonly observe = (event: PullEvent): void => {
    if (event.type === 'planned') say(planText(event));
    else if (event.type === 'waiting') say(`${MARKS.warn} ${waitText(event)}`);
    else if (event.type === 'done')
      say(
        `${MARKS.ok} ${event.path}  ${byteText(event.size)}${event.already ? ', here already' : ''}`,
      );
    else if (event.type === 'started') {
      this.#files.set(event.path, { have: event.have, size: event.size, step: 0 });
      say(`  ${event.path}${event.have > 0 ? `  from ${byteText(event.have)} on` : ''}`);
    } else this.#received(event);
  };

  stop(): void {
    this.#files.clear();
  }

  #received({ path, bytes }: PullEvent & { type: 'received' }): void {
    const file = this.#files.get(path);
    if (!file) return;
    file.have += bytes;
    const step = file.size ? Math.floor((file.have / file.size) * PLAIN_STEPS) : 0;
    if (step <= file.step || step >= PLAIN_STEPS) return;
    file.step = step;
    say(`  ${path}  ${step * (100 / PLAIN_STEPS)} % of ${byteText(file.size ?? 0)}`);
  }
}

class PullBars implements PullProgress {
  readonly #bars = new Map<string, SingleBar>();
  readonly #multi = new MultiBar({
    format: ' {bar} {percentage}% | {have} of {all} | {speed}/s | {file}',
    hideCursor: true,
    clearOnComplete: true,
    stream: stderr,
    etaBuffer: 50,
  });

  readonly observe = (event: PullEvent): void => {
    if (event.type === 'planned') this.#log(planText(event));
    else if (event.type === 'waiting') this.#log(`${MARKS.warn} ${waitText(event)}`);
    else if (event.type === 'started') this.#started(event);
    else if (event.type === 'received') this.#received(event);
    else this.#done(event);
  };

  stop(): void {
    this.#multi.stop();
  }

  #started({ path, have, size }: PullEvent & { type: 'started' }): void {
    this.#remove(path);
    const all = size === undefined ? '?' : byteText(size);
    const bar = this.#multi.create(size ?? Math.max(have, 1), have, {
      file: path,
      have: byteText(have),
      all,
      speed: '-',
    });
    this.#bars.set(
      path,
      Object.assign(bar, { startedMs: Date.now(), startedAt: have, at: have }),
    );
  }

  #received({ path, bytes }: PullEvent & { type: 'received' }): void {
    const bar = this.#bars.get(path) as
      (SingleBar & { startedMs: number; startedAt: number; at: number }) | undefined;
    if (!bar) return;
    bar.at += bytes;
    if (bar.at > bar.getTotal()) bar.setTotal(bar.at);
    const seconds = Math.max(0.001, (Date.now() - bar.startedMs) / 1000);
    bar.update(bar.at, {
      have: byteText(bar.at),
      speed: byteText(Math.round((bar.at - bar.startedAt) / seconds)),
    });
  }

  #done({ path, size, already }: PullEvent & { type: 'done' }): void {
    this.#remove(path);
    this.#log(
      `${MARKS.ok} ${path}  ${byteText(size)}${already ? dim(', here already') : ''}`,
    );
  }

  #remove(path: string): void {
    const bar = this.#bars.get(path);
    if (bar) this.#multi.remove(bar);
    this.#bars.delete(path);
  }

  /** Above the bars, which stay where they are; without bars just a line. */
  #log(text: string): void {
    if (this.#bars.size > 0) this.#multi.log(`${text}\n`);
    else say(text);
  }
}
