import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { DomainError } from '../../core/errors/domain-error.js';
import { guard } from '@switchyard/engine-api/process/child-process.js';
import {
  LastLines,
  LogLineSplitter,
} from '@switchyard/engine-api/process/output-lines.js';
import { ModelSwitch } from './model-switch.js';
import { fileURLToPath } from 'node:url';

/** The command line of this release; from the sources too it is the built one. */
const PROGRAM = fileURLToPath(new URL('../../../dist/main.cli.js', import.meta.url));
const LIMIT_MS = 60_000;
const MAX_OUTPUT = 4_194_304;

/**
 * What `switchyard ARGS --json` prints: it runs in a process of its own, with the
 * settings and folders of this gateway.
 * @throws Error when it prints no JSON within a minute
 */
export function ownCommand<T>(...args: readonly string[]): Promise<T> {
  const options = { timeout: LIMIT_MS, maxBuffer: MAX_OUTPUT };
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [PROGRAM, ...args, '--json'],
      options,
      (error, stdout, stderr) => {
        try {
          // `doctor` ends with 1 when it finds something; what it found is printed
          // all the same.
          resolve(JSON.parse(stdout) as T);
        } catch {
          new Logger(ownCommand.name).error(
            { args, stderr: stderr.slice(-1000) },
            'the own command line failed',
          );
          reject(error ?? new Error(`switchyard ${args.join(' ')} printed no JSON`));
        }
      },
    );
  });
}

/** `switchyard ARGS`, which may take hours. */
const ownProcess = (...args: readonly string[]): ChildProcess =>
  spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });

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

/** A program that fetches reports every two seconds; one that is silent has ended. */
const SILENT_MS = 30_000;

/**
 * Runs `switchyard models add`, one at a time, and serves what it added. Lists what
 * `switchyard models starter` reports beside it.
 */
@Injectable()
export class ModelAdditions implements OnApplicationShutdown {
  readonly #logger = new Logger(ModelAdditions.name);
  readonly #additions: Addition[] = [];

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
    const running = this.#additions.find(
      one => one instanceof RunningAddition && one.view.state === 'running',
    );
    if (running)
      throw new DomainError(
        'model_addition_running',
        `${running.view.name} is being added.`,
      );
    const addition = new RunningAddition(name);
    this.#keep(addition);
    void addition.ended.then(added => (added ? this.#serve(addition) : undefined));
    return addition.view;
  }

  /** What another program fetches; the answer tells it where somebody stopped it here. */
  reported(name: string, state: ModelAddition['state'], line: string): ModelAddition {
    const known = this.#additions.findLast(
      one => one.view.name === name && !(one instanceof RunningAddition),
    );
    if (known?.report(state, line)) return known.view;
    const addition = new Addition(name);
    addition.report(state, line);
    this.#keep(addition);
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

  #keep(addition: Addition): void {
    this.#additions.push(addition);
    if (this.#additions.length > KEPT) this.#additions.shift();
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

class Addition {
  readonly #startedMs = Date.now();
  readonly #lines = new LastLines(KEPT_LINES);
  #state: ModelAddition['state'] = 'running';
  #heardMs = Date.now();
  #isTold = false;

  constructor(private readonly name: string) {}

  get view(): ModelAddition {
    const { lines } = this.#lines;
    const gone = this.#state === 'running' && !this.isHeard;
    const state = gone ? 'failed' : this.#state;
    return { name: this.name, state, startedMs: this.#startedMs, lines };
  }

  /** @returns false for one that has ended and was told so: the report is of a next one */
  report(state: ModelAddition['state'], line: string): boolean {
    if (this.#isTold) return false;
    this.#heardMs = Date.now();
    if (this.#state === 'running') this.#state = state;
    this.#isTold = this.#state !== 'running';
    if (line !== '' && line !== this.#lines.lines.at(-1)) this.say(line);
    return true;
  }

  say(line: string): void {
    this.#lines.add(line.slice(0, MAX_LINE));
  }

  stop(): void {
    if (this.#state === 'running') this.#state = 'cancelled';
  }

  protected get isHeard(): boolean {
    return Date.now() - this.#heardMs < SILENT_MS;
  }
}

class RunningAddition extends Addition {
  readonly #child: ChildProcess;
  /** Whether it was added. */
  readonly ended: Promise<boolean>;

  constructor(name: string) {
    super(name);
    this.#child = ownProcess('models', 'add', name, '--yes', '--no-load');
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      const lines = new LogLineSplitter(line => this.say(line));
      stream
        ?.on('data', (chunk: Buffer) => lines.push(chunk))
        .on('end', () => lines.end());
    }
    this.ended = this.#end();
  }

  protected override get isHeard(): boolean {
    return true;
  }

  override stop(): void {
    if (this.view.state !== 'running') return;
    super.stop();
    this.#child.kill('SIGINT');
  }

  async #end(): Promise<boolean> {
    const unguard = guard(this.#child, ORPHAN_LIMIT_MS);
    const [code] = (await once(this.#child, 'close').catch((error: Error) => [
      error.message,
    ])) as [number | string];
    unguard();
    const why = typeof code === 'string' ? code : '';
    if (this.view.state === 'running') this.report(code === 0 ? 'added' : 'failed', why);
    return code === 0 && this.view.state === 'added';
  }
}
