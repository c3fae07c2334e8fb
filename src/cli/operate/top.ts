import { stdin, stdout } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { parseNumber, parseWholeNumber } from '../shared/arguments.js';
import { CliError, interruptible } from '../shared/cli-error.js';
import { examples } from '../shared/examples.js';
import {
  GatewayClient,
  type GatewayClientOptions,
  withGatewayOptions,
} from '../shared/gateway-client.js';
import { dim, print } from '../shared/terminal.js';
import { statusOf, statusText } from './status.js';

interface TopOptions extends GatewayClientOptions {
  readonly interval: number;
  readonly count?: number;
  readonly json?: boolean;
}

/** The alternate screen without a cursor, and back. */
const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';

export const topCommand = (): Command =>
  withGatewayOptions(new Command('top'))
    .description('the status of a gateway, refreshed on a full screen; q ends it')
    .option(
      '-i, --interval <seconds>',
      'time between refreshes',
      parseNumber(0.1, 3600),
      1,
    )
    .option(
      '-n, --count <number>',
      'end after so many (default: no end; 1 without a terminal)',
      parseWholeNumber(1),
    )
    .option('--json', 'one JSON document per line and refresh')
    .addHelpText(
      'after',
      examples(['top', 'top --interval 5', 'top --count 60 --json > minute.jsonl']),
    )
    .action((options: TopOptions) =>
      interruptible(signal => top(new GatewayClient(options), options, signal)),
    );

async function top(
  client: GatewayClient,
  { json, interval, count }: TopOptions,
  signal: AbortSignal,
): Promise<void> {
  const full = Boolean(stdout.isTTY && stdin.isTTY && !json);
  const screen = full ? new Screen() : undefined;
  const stop = screen ? AbortSignal.any([signal, screen.quit]) : signal;
  try {
    for (let left = count ?? (full ? Infinity : 1); left > 0; left--) {
      if (screen) screen.show(await textOf(client));
      else
        print(
          json
            ? JSON.stringify(await statusOf(client))
            : statusText(await statusOf(client)),
        );
      if (left > 1) await sleep(interval * 1000, undefined, { signal: stop });
    }
  } catch (error) {
    if (!screen?.quit.aborted) throw error;
  } finally {
    screen?.close();
  }
}

/** A gateway that restarts is shown as such; the next refresh may find it. */
const textOf = async (client: GatewayClient): Promise<string> =>
  statusOf(client).then(statusText, (error: unknown) => {
    if (error instanceof CliError) return error.message;
    throw error;
  });

class Screen {
  readonly #quit = new AbortController();

  constructor() {
    stdout.write(ENTER);
    stdin.setRawMode(true).on('data', this.#key).resume();
  }

  /** Aborted by q. */
  get quit(): AbortSignal {
    return this.#quit.signal;
  }

  show(text: string): void {
    const lines = [...text.split('\n').slice(0, stdout.rows - 2), '', dim('q quits')];
    const cut = lines.map(line =>
      line.length > stdout.columns ? line.slice(0, stdout.columns) : line,
    );
    stdout.write(`\u001b[H${cut.map(line => `${line}\u001b[K`).join('\n')}\u001b[J`);
  }

  close(): void {
    stdin.off('data', this.#key).setRawMode(false).pause();
    stdout.write(LEAVE);
  }

  /** A raw terminal sends Ctrl-C as a character. */
  readonly #key = (chunk: Buffer): void => {
    const key = chunk.toString();
    if (key === 'q') this.#quit.abort();
    if (key === '\u0003') process.kill(process.pid, 'SIGINT');
  };
}
