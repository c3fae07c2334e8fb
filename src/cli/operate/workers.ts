import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { parseWholeNumber } from '../shared/arguments.js';
import { gatewayCommand, commandGroup, oneRequest } from '../shared/command.js';
import { type GatewayAnswer, serverEvents } from '../shared/gateway-client.js';
import { table, print } from '../shared/terminal.js';

type Log = GatewayAnswer<'/admin/v1/logs'>;

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
const LINES = {
  '-n, --lines <count>': ['how many of the last lines', parseWholeNumber(1), 200],
} as const;

export const logsCommand = gatewayCommand('logs', {
  about: 'the last lines of the gateway’s own log; -f follows it',
  examples: ['logs', 'logs -f --level warn', 'logs --lines 50 --json'],
  options: {
    ...LINES,
    '--level <level>': ['this level and above', LEVELS, 'info'],
    '-f, --follow': 'print new lines until Ctrl-C',
  },
  json: 'one JSON document; with --follow one per line',
  async run({ client, options: { lines, level, follow, json } }) {
    const query = { lines, level };
    if (!follow) return client.call('get', '/admin/v1/logs', { query });
    const headers = { accept: 'text/event-stream' };
    const response = await client.request('get', '/admin/v1/logs', { query, headers });
    for await (const event of serverEvents<Log['data'][number]>(response))
      print(json ? writeJson(event) : lineOf(event));
    return undefined;
  },
  text: textOf,
});

const workerLogsCommand = gatewayCommand('logs <id>', {
  about: 'the last lines that a worker of this gateway wrote',
  examples: ['workers logs whisper-0', 'workers logs whisper-0 --lines 20'],
  options: LINES,
  ...oneRequest('get', '/admin/v1/workers/{id}/log', 'lines'),
  text: textOf,
});

function textOf({ data }: Log) {
  return data.length === 0 ? 'no lines' : data.map(lineOf).join('\n');
}

/** A line of a log without control characters, which could change this terminal. */
const lineOf = ({ at, level, text }: Log['data'][number]) =>
  `${new Date(at * 1000).toISOString()} ${level.padEnd(5)} ${text.replaceAll(/\p{Cc}/gu, ' ')}`;

const list = gatewayCommand('list', {
  about: 'every worker: state, device, slots, restarts and what is wrong with it',
  examples: [
    'workers list',
    'workers list --json | jq -r \'.data[] | select(.state != "ready") | .id\'',
  ],
  ...oneRequest('get', '/admin/v1/workers'),
  text: ({ data }) => workerTable(data),
});

const act = (name: 'drain' | 'resume' | 'restart', about: string, notes = '') =>
  gatewayCommand(`${name} <id>`, {
    about,
    notes,
    examples: [`workers ${name} whisper-0`],
    ...oneRequest('post', `/admin/v1/workers/{id}/${name}`),
    text: worker => workerTable([worker]),
  });

export const workersCommand = commandGroup(
  'workers',
  'workers of the gateway: list, logs, drain, resume, restart',
  [
    list,
    act(
      'drain',
      'give a worker no more requests; those that it runs finish',
      '`workers resume` ends it.',
    ),
    act('resume', 'give a drained worker requests again'),
    workerLogsCommand,
    act(
      'restart',
      'drain a worker, end its process and start a new one',
      'Only of workers that the gateway starts.',
    ),
  ],
);

function workerTable(workers: GatewayAnswer<'/admin/v1/workers'>['data']) {
  return table(
    ['worker', 'model', 'state', 'device', 'slots', 'restarts', 'address', 'problem'],
    workers,
    worker => [
      worker.id,
      worker.model,
      worker.drained ? `${worker.state}, drained` : worker.state,
      worker.device,
      `${worker.slots.in_use}/${worker.slots.total}`,
      worker.restarts,
      worker.address,
      worker.problem ?? '',
    ],
    'no workers',
  );
}
