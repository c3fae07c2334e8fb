import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { guard, start } from '@switchyard/engine-api/process/child-process.js';
import { LastLines } from '@switchyard/engine-api/process/last-lines.js';
import { LogLineSplitter } from '@switchyard/engine-api/process/output-lines.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { unixSeconds } from '../http/openapi/answer.js';
import { ModelSwitch } from './model-switch.js';

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
    execFile(process.execPath, [PROGRAM, ...args, '--json'], options, (error, stdout, stderr) => {
      try {
        // `doctor` ends with 1 when it finds something; what it found is printed
        // all the same.
        resolve(parseBoundedJson(stdout) as T);
      } catch {
        new Logger(ownCommand.name).error(
          { args, stderr: stderr.slice(-1000) },
          'the own command line failed',
        );
        reject(error ?? new Error(`switchyard ${args.join(' ')} printed no JSON`));
      }
    });
  });
}

/** `switchyard ARGS`, which may take hours. */
const ownProcess = (...args: readonly string[]): ChildProcess =>
  start(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });

const KEPT_LINES = 40;
const MAX_LINE = 300;
/** Additions that ended and are still listed. */
const KEPT = 8;
/** As long as a download that is cut off needs to keep what it has. */
const ORPHAN_LIMIT_MS = 3000;

export const ADDITION_STATES = ['running', 'added', 'failed', 'cancelled'] as const;
type AdditionState = (typeof ADDITION_STATES)[number];

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
  list() {
    return this.#additions.map(({ view }) => view).reverse();
  }

  /** @throws DomainError `model_addition_running` */
  start(name: string) {
    const running = this.#additions.find(({ child, view }) => child && view.state === 'running');
    if (running)
      throw new DomainError('model_addition_running', `${running.view.name} is being added.`);
    const child = ownProcess('models', 'add', name, '--yes', '--no-load');
    const addition = new Addition(name, child);
    this.#keep(addition);
    void this.#follow(addition, child);
    return addition.view;
  }

  /** What another program fetches; the answer tells it where somebody stopped it here. */
  reported(name: string, state: AdditionState, line: string) {
    const known = this.#additions.findLast(({ child, view }) => view.name === name && !child);
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
  cancel(name: string) {
    const addition = this.#additions.findLast(({ view }) => view.name === name);
    if (!addition) throw new DomainError('model_not_found', `${name} is not being added.`);
    addition.stop();
    return addition.view;
  }

  #keep(addition: Addition): void {
    this.#additions.push(addition);
    if (this.#additions.length > KEPT) this.#additions.shift();
  }

  async #follow(addition: Addition, child: ChildProcess): Promise<void> {
    const unguard = guard(child, ORPHAN_LIMIT_MS);
    for (const stream of [child.stdout, child.stderr]) {
      const lines = new LogLineSplitter(line => addition.say(line));
      stream?.on('data', (chunk: Buffer) => lines.push(chunk)).on('end', () => lines.end());
    }
    const [code] = (await once(child, 'close').catch((error: Error) => [error.message])) as [
      number | string,
    ];
    unguard();
    const why = typeof code === 'string' ? code : '';
    if (addition.view.state === 'running') addition.report(code === 0 ? 'added' : 'failed', why);
    if (code === 0 && addition.view.state === 'added') await this.#serve(addition);
  }

  async #serve(addition: Addition): Promise<void> {
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

/** A model of the catalogue on its way into the models file. */
class Addition {
  readonly #startedMs = Date.now();
  readonly #lines = new LastLines(KEPT_LINES);
  #state: AdditionState = 'running';
  #heardMs = Date.now();
  #isTold = false;

  /** @param child fetches it; absent: a program that reports does */
  constructor(
    private readonly name: string,
    readonly child?: ChildProcess,
  ) {}

  /** `lines`: the last ones that `switchyard models add` wrote. */
  get view() {
    const { lines } = this.#lines;
    const isSilent = !this.child && Date.now() - this.#heardMs >= SILENT_MS;
    const state = this.#state === 'running' && isSilent ? 'failed' : this.#state;
    return { name: this.name, state, lines, started_at: unixSeconds(this.#startedMs) };
  }

  /** @returns false for one that has ended and was told so: the report is of a next one */
  report(state: AdditionState, line: string): boolean {
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
    if (this.#state !== 'running') return;
    this.#state = 'cancelled';
    this.child?.kill('SIGINT');
  }
}
