import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { DomainError } from '../../core/errors/domain-error.js';
import { guard, unguard } from '@switchyard/engine-api/process/child-process.js';
import {
  LastLines,
  LogLineSplitter,
} from '@switchyard/engine-api/process/output-lines.js';
import { ModelSwitch } from './model-switch.js';
import { ownProcess } from './own-command.js';

const KEPT_LINES = 40;
const MAX_LINE = 300;
/** Those that ended and are still listed. */
const KEPT = 8;
/** As long as a download that is cut off needs to keep what it has. */
const ORPHAN_LIMIT_MS = 3000;

/** A model of the catalogue on its way into the models file. */
export interface ModelAddition {
  readonly name: string;
  readonly state: 'running' | 'added' | 'failed' | 'cancelled';
  readonly startedMs: number;
  /** The last lines that `switchyard models add` wrote. */
  readonly lines: readonly string[];
}

/** Runs `switchyard models add`, one at a time, and serves what it added. */
@Injectable()
export class ModelAdditions implements OnApplicationShutdown {
  readonly #logger = new Logger(ModelAdditions.name);
  readonly #additions: RunningAddition[] = [];

  constructor(private readonly models: ModelSwitch) {}

  onApplicationShutdown(): void {
    for (const addition of this.#additions) addition.stop();
  }

  /** The newest first. */
  list(): ModelAddition[] {
    return this.#additions.map(({ view }) => view).reverse();
  }

  /** @throws DomainError `model_addition_running` */
  start(name: string): ModelAddition {
    const running = this.#additions.find(({ view: { state } }) => state === 'running');
    if (running)
      throw new DomainError(
        'model_addition_running',
        `${running.view.name} is being added.`,
      );
    const addition = new RunningAddition(name);
    this.#additions.push(addition);
    if (this.#additions.length > KEPT) this.#additions.shift();
    void addition.ended.then(added => (added ? this.#serve(addition) : undefined));
    return addition.view;
  }

  /**
   * What has arrived is kept: the next addition resumes. @throws
   * DomainError `model_not_found`
   */
  cancel(name: string): ModelAddition {
    const addition = this.#additions.findLast(({ view }) => view.name === name);
    if (!addition)
      throw new DomainError('model_not_found', `${name} is not being added.`);
    addition.stop();
    return addition.view;
  }

  async #serve(addition: RunningAddition): Promise<void> {
    try {
      await this.models.reload();
    } catch (error) {
      addition.say(`the models file could not be read: ${(error as Error).message}`);
      this.#logger.warn(
        { err: error, model: addition.view.name },
        'an added model could not be served',
      );
    }
  }
}

class RunningAddition {
  readonly #startedMs = Date.now();
  readonly #lines = new LastLines(KEPT_LINES);
  readonly #child: ChildProcess;
  #state: ModelAddition['state'] = 'running';
  /** Whether it was added. */
  readonly ended: Promise<boolean>;

  constructor(private readonly name: string) {
    this.#child = ownProcess('models', 'add', name, '--yes', '--no-load');
    guard(this.#child, ORPHAN_LIMIT_MS);
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      const lines = new LogLineSplitter(line => this.say(line));
      stream
        ?.on('data', (chunk: Buffer) => lines.push(chunk))
        .on('end', () => lines.end());
    }
    this.ended = this.#end();
  }

  get view(): ModelAddition {
    return {
      name: this.name,
      state: this.#state,
      startedMs: this.#startedMs,
      lines: this.#lines.lines,
    };
  }

  say(line: string): void {
    this.#lines.add(line.slice(0, MAX_LINE));
  }

  stop(): void {
    if (this.#state !== 'running') return;
    this.#state = 'cancelled';
    this.#child.kill('SIGINT');
  }

  async #end(): Promise<boolean> {
    const [code] = (await once(this.#child, 'close').catch((error: Error) => [
      error.message,
    ])) as [number | string];
    unguard(this.#child);
    if (this.#state === 'running') this.#state = code === 0 ? 'added' : 'failed';
    if (typeof code === 'string') this.say(code);
    return this.#state === 'added';
  }
}
