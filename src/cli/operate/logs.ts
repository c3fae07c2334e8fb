import { Command, Option } from 'commander';
import { parseWholeNumber } from '../shared/arguments.js';
import { interruptible } from '../shared/cli-error.js';
import { examples } from '../shared/examples.js';
import {
  GatewayClient,
  type GatewayClientOptions,
  withGatewayOptions,
} from '../shared/gateway-client.js';
import { gatewayCommand, type OptionValues, queryOf } from '../shared/gateway-command.js';
import { serverEvents } from '../shared/server-events.js';
import { print, printJson } from '../shared/terminal.js';

interface LogLine {
  readonly at: number;
  readonly level: string;
  readonly text: string;
}

interface LogPage {
  readonly data: readonly LogLine[];
}

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];
const lines = (): Option =>
  new Option('-n, --lines <count>', 'how many of the last lines')
    .argParser(parseWholeNumber(1))
    .default(200);

export const logsCommand = (): Command =>
  withGatewayOptions(new Command('logs'))
    .description('the last lines of the gateway’s own log; -f follows it')
    .addOption(lines())
    .addOption(
      new Option('--level <level>', 'this level and above')
        .choices(LEVELS)
        .default('info'),
    )
    .option('-f, --follow', 'go on with new lines until Ctrl-C')
    .option('--json', 'one JSON document; with --follow one per line')
    .addHelpText(
      'after',
      examples(['logs', 'logs -f --level warn', 'logs --lines 50 --json']),
    )
    .action((options: GatewayClientOptions & OptionValues) =>
      interruptible(signal => logs(options, signal)),
    );

async function logs(
  options: GatewayClientOptions & OptionValues,
  signal: AbortSignal,
): Promise<void> {
  const client = new GatewayClient(options);
  const path = `/admin/v1/logs${queryOf(options, ['lines', 'level'])}`;
  if (!options.follow) {
    const page = await client.json<LogPage>(path, { signal });
    return options.json ? printJson(page) : print(textOf(page));
  }
  const response = await client.request(path, {
    headers: { accept: 'text/event-stream' },
    signal,
  });
  for await (const event of serverEvents(response))
    print(options.json ? JSON.stringify(event) : lineOf(event as unknown as LogLine));
}

export const workerLogsCommand = (): Command =>
  gatewayCommand<LogPage>({
    name: 'logs',
    args: '<id>',
    about: 'the last lines that a worker of this gateway wrote',
    examples: ['workers logs whisper-0', 'workers logs whisper-0 --lines 20'],
    options: [lines()],
    ask: (client, [id = ''], options) =>
      client.json(
        `/admin/v1/workers/${encodeURIComponent(id)}/log${queryOf(options, ['lines'])}`,
      ),
    text: textOf,
  });

const textOf = ({ data }: LogPage): string =>
  data.length === 0 ? 'no lines' : data.map(lineOf).join('\n');

/** Control characters of other programs stay out of this terminal. */
const lineOf = ({ at, level, text }: LogLine): string =>
  `${new Date(at * 1000).toISOString()} ${level.padEnd(5)} ${text.replaceAll(/\p{Cc}/gu, ' ')}`;
