import { stdin, stdout } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { parseNumber, parseWholeNumber } from '../shared/arguments.js';
import { CliError } from '../shared/cli-error.js';
import { gatewayCommand, oneRequest } from '../shared/command.js';
import { type GatewayAnswer } from '../shared/gateway-client.js';
import { table, MARKS, dim, print, durationText, msText } from '../shared/terminal.js';
import { devicesText } from './devices.js';

type Status = GatewayAnswer<'/admin/v1/status'>;

export const statusCommand = gatewayCommand('status', {
  about:
    'what a gateway does now: models, queues, workers, rates, dependencies, and what limits it',
  examples: [
    'status',
    'status --url http://gpu-1:8000',
    'status --json | jq -r \'.bottleneck.text // "none"\'',
  ],
  ...oneRequest('get', '/admin/v1/status'),
  text: statusText,
});

function statusText({ gateway, bottleneck, models, dependencies, batches }: Status) {
  const { id, version, uptime_s: uptime, draining, keys } = gateway;
  const down = dependencies.filter(({ state }) => state !== 'up');
  return [
    `${id}  ${version}  up ${durationText(Math.round(uptime))}${draining ? '  draining' : ''}`,
    bottleneck ? `${MARKS.warn} ${bottleneck.text}` : `${MARKS.ok} nothing limits it`,
    ...down.map(({ name, state, text }) => `${MARKS.warn} ${name} ${state}${text && `: ${text}`}`),
    '',
    table(MODEL_HEAD, models, modelRow),
    '',
    `dependencies  ${dependencies.map(({ name, state }) => `${name} ${state}`).join(', ') || '-'}`,
    `batches       ${batches ? `${batches.running} running, ${batches.waiting} waiting` : 'unknown'}`,
    `keys          ${KEY_TEXTS[keys]}`,
  ].join('\n');
}

/** Whether keys are required, as text for people. */
export const KEY_TEXTS: Readonly<Record<Status['gateway']['keys'], string>> = {
  required: 'required',
  not_required: 'not required: whoever reaches the gateway may do everything',
  ignored: 'not required, and without effect: auth.allow_anonymous is true',
};

const MODEL_HEAD =
  'model,state,realtime,batch,oldest wait,in flight,workers,free slots,in/s,done/s,failed/s,refused/s'.split(
    ',',
  );

const modelRow = (model: Status['models'][number]) => [
  model.id,
  model.state,
  model.waiting.realtime,
  model.waiting.batch,
  msText(model.oldest_wait_ms || null),
  model.in_flight,
  `${model.workers.ready}/${model.workers.total}`,
  `${model.slots.free}/${model.slots.total}`,
  model.rates.arrived_per_s.toFixed(1),
  model.rates.completed_per_s.toFixed(1),
  model.rates.failed_per_s.toFixed(1),
  model.rates.refused_per_s.toFixed(1),
];

/** Escape sequences that enter the alternate screen without a cursor, and leave it. */
const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';

export const topCommand = gatewayCommand('top', {
  about: 'the status of a gateway, refreshed on a full screen; q ends it',
  examples: ['top', 'top --interval 5', 'top --count 60 --json > minute.jsonl'],
  options: {
    '-i, --interval <seconds>': ['time between refreshes', parseNumber(0.1, 3600), 1],
    '-n, --count <number>': [
      'end after so many (default: no end; 1 without a terminal)',
      parseWholeNumber(1),
    ],
  },
  json: 'one JSON document per line and refresh',
  async run({ client, signal, options: { interval, count, json } }) {
    const status = async () => {
      const now = await client.call('get', '/admin/v1/status');
      if (json) return writeJson(now);
      const { data } = await client.call('get', '/admin/v1/devices');
      return data.length > 0 ? `${statusText(now)}\n\n${devicesText(data)}` : statusText(now);
    };
    using screen = json ? undefined : openScreen();
    const stop = screen ? AbortSignal.any([signal, screen.quit]) : signal;
    try {
      for (let left = count ?? (screen ? Infinity : 1); left > 0; left--) {
        if (screen) screen.show(await status().catch(unreachable));
        else print(await status());
        if (left > 1) await sleep(interval * 1000, undefined, { signal: stop });
      }
    } catch (error) {
      if (!screen?.quit.aborted) throw error;
    }
  },
});

/** A gateway that restarts is shown as such; the next refresh may find it. */
function unreachable(error: unknown) {
  if (error instanceof CliError) return error.message;
  throw error;
}

/** Opens a full screen; undefined without a terminal. @returns `quit` is aborted by q */
function openScreen() {
  if (!stdout.isTTY || !stdin.isTTY) return undefined;
  const quit = new AbortController();
  /** A raw terminal sends Ctrl-C as a character. */
  const onKey = (chunk: Buffer) => {
    const key = chunk.toString();
    if (key === 'q') quit.abort();
    if (key === '\u0003') process.kill(process.pid, 'SIGINT');
  };
  stdout.write(ENTER);
  stdin.setRawMode(true).on('data', onKey).resume();
  return {
    quit: quit.signal,
    show(text: string): void {
      const { rows, columns } = stdout;
      const lines = [...text.split('\n').slice(0, rows - 2), '', dim('q quits')];
      const cut = lines.map(line => `${line.slice(0, columns)}\u001b[K`);
      stdout.write(`\u001b[H${cut.join('\n')}\u001b[J`);
    },
    [Symbol.dispose](): void {
      stdin.off('data', onKey).setRawMode(false).pause();
      stdout.write(LEAVE);
    },
  };
}
