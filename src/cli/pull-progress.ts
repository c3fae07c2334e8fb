import { resolve } from 'node:path';
import { stderr } from 'node:process';
import { MultiBar, type SingleBar } from 'cli-progress';
import { byteText } from './hub/disk-space.js';
import type { PullEvent, PullObserver } from './hub/file-download.js';
import { dim, MARKS, say } from './shared/terminal.js';

/** A log file does not need more than a line per tenth of a file. */
const PLAIN_STEPS = 10;

interface FileProgress {
  readonly size: number | undefined;
  readonly startedMs: number;
  readonly startedAt: number;
  readonly bar: SingleBar | undefined;
  at: number;
  step: number;
}

type EventOf<Type> = PullEvent & { readonly type: Type };

/** Shows a pull: bars on a terminal, plain lines elsewhere, nothing with `quiet`. */
export class PullProgress {
  readonly #files = new Map<string, FileProgress>();
  readonly #bars = stderr.isTTY
    ? new MultiBar({
        format: ' {bar} {percentage}% | {have} of {all} | {speed}/s | {file}',
        hideCursor: true,
        clearOnComplete: true,
        stream: stderr,
        etaBuffer: 50,
      })
    : undefined;

  constructor(private readonly quiet: boolean) {}

  readonly observe: PullObserver = event => {
    if (this.quiet) return;
    switch (event.type) {
      case 'planned':
        return this.#say(planText(event));
      case 'started':
        return this.#started(event);
      case 'received':
        return this.#received(event);
      case 'waiting': {
        const seconds = (event.ms / 1000).toFixed(1);
        return this.#say(
          `${MARKS.warn} ${event.path}: ${event.why}; again in ${seconds} s`,
        );
      }
      case 'done': {
        this.#remove(event.path);
        const already = event.already ? dim(', here already') : '';
        return this.#say(`${MARKS.ok} ${event.path}  ${byteText(event.size)}${already}`);
      }
    }
  };

  stop(): void {
    this.#bars?.stop();
  }

  #started({ path, have, size }: EventOf<'started'>): void {
    this.#remove(path);
    const all = size === undefined ? '?' : byteText(size);
    const words = { file: path, have: byteText(have), all, speed: '-' };
    const bar = this.#bars?.create(size ?? Math.max(have, 1), have, words);
    if (!bar) say(`  ${path}${have > 0 ? `  from ${byteText(have)} on` : ''}`);
    const startedMs = Date.now();
    this.#files.set(path, { size, startedMs, startedAt: have, bar, at: have, step: 0 });
  }

  #received({ path, bytes }: EventOf<'received'>): void {
    const file = this.#files.get(path);
    if (!file) return;
    file.at += bytes;
    if (file.bar) return drawBar(file, file.bar);
    const { at, size } = file;
    const step = size ? Math.floor((at / size) * PLAIN_STEPS) : 0;
    if (step <= file.step || step >= PLAIN_STEPS) return;
    file.step = step;
    say(`  ${path}  ${step * (100 / PLAIN_STEPS)} % of ${byteText(size ?? 0)}`);
  }

  #remove(path: string): void {
    const bar = this.#files.get(path)?.bar;
    if (bar) this.#bars?.remove(bar);
    this.#files.delete(path);
  }

  /** Above the bars, which stay where they are; without bars just a line. */
  #say(text: string): void {
    if (this.#bars && this.#files.size > 0) this.#bars.log(`${text}\n`);
    else say(text);
  }
}

function drawBar({ at, startedAt, startedMs }: FileProgress, bar: SingleBar): void {
  if (at > bar.getTotal()) bar.setTotal(at);
  const seconds = Math.max(0.001, (Date.now() - startedMs) / 1000);
  const speed = byteText(Math.round((at - startedAt) / seconds));
  bar.update(at, { have: byteText(at), speed });
}

function planText({ files, bytes, presentBytes, folder }: EventOf<'planned'>): string {
  const size = bytes === undefined ? '' : `, ${byteText(bytes)}`;
  const here = presentBytes > 0 ? `, of which ${byteText(presentBytes)} are here` : '';
  return `${files} file${files === 1 ? '' : 's'}${size}${here} → ${resolve(folder)}`;
}
