import { type Command, Option } from 'commander';
import { parseWholeNumber } from '../shared/arguments.js';
import { CliError, EXIT } from '../shared/cli-error.js';
import { msText } from '../shared/durations.js';
import { type GatewayClient } from '../shared/gateway-client.js';
import {
  gatewayCommand,
  commandGroup,
  type OptionValues,
  queryOf,
} from '../shared/gateway-command.js';
import { columns } from '../shared/terminal.js';

interface RequestAnswer {
  readonly request_id: string;
  readonly model?: string;
  readonly tenant?: string;
  readonly priority: string;
  readonly state: string;
  readonly position?: number;
  readonly waited_ms: number;
  readonly worker?: string;
  readonly code?: string;
  readonly explanation: string;
  readonly phases: Readonly<Record<string, number | undefined>>;
  readonly ahead?: readonly { readonly tenant: string; readonly requests: number }[];
}

interface RequestPage {
  readonly total: number;
  readonly data: readonly RequestAnswer[];
}

interface QueueAnswer {
  readonly accepting: boolean;
  readonly total: QueueDepth;
  readonly bounds: {
    readonly max_requests: number;
    readonly max_requests_per_model: number;
  };
  readonly models: readonly (QueueDepth & {
    readonly model: string;
    readonly oldest_wait_ms?: number;
  })[];
}

interface QueueDepth {
  readonly realtime: number;
  readonly batch: number;
  readonly running: number;
}

const CHOICE = ['model', 'tenant', 'state', 'priority'] as const;
const choiceOptions = (states: readonly string[]): Option[] => [
  new Option('-m, --model <id>', 'of this model'),
  new Option('--tenant <name>', 'of this tenant'),
  new Option('--state <state>', 'in this state').choices(states),
  new Option('--priority <class>', 'of this priority').choices(['realtime', 'batch']),
];

const adminPath = (id: string, tenant: unknown, action = ''): string =>
  `/admin/v1/requests/${encodeURIComponent(id)}${action}${queryOf({ tenant: tenant as string }, ['tenant'])}`;

const list = (): Command =>
  gatewayCommand<RequestPage>({
    name: 'list',
    about: 'queued requests in dispatch order, then running ones',
    examples: [
      'requests list',
      'requests list --model whisper --state queued',
      'requests list --json | jq .total',
    ],
    options: [
      ...choiceOptions(['queued', 'running', 'completed', 'failed', 'cancelled']),
      new Option('-n, --limit <count>', 'how many, 1 to 1000')
        .argParser(parseWholeNumber(1, 1000))
        .default(100),
    ],
    ask: (client, _, options) =>
      client.json(`/admin/v1/requests${queryOf(options, [...CHOICE, 'limit'])}`),
    text: page => (page.data.length === 0 ? 'no requests' : requestTable(page)),
  });

function requestTable({ total, data }: RequestPage): string {
  const rows = data.map(
    ({
      request_id: id,
      model,
      tenant,
      priority,
      state,
      position,
      worker,
      ...request
    }) => [
      ...[
        id,
        model ?? '-',
        tenant ?? '-',
        priority,
        state,
        position === undefined ? '-' : String(position),
      ],
      ...[msText(request.waited_ms), worker ?? '-', request.code ?? '-'],
    ],
  );
  const table = columns([
    ['id', 'model', 'tenant', 'priority', 'state', 'place', 'waited', 'worker', 'error'],
    ...rows,
  ]);
  return total > data.length
    ? `${table}\n${total - data.length} more; see --limit`
    : table;
}

const whose = (): Option =>
  new Option('--tenant <name>', 'whose, where several tenants have a request of that id');

const show = (): Command =>
  gatewayCommand<RequestAnswer>({
    name: 'show',
    args: '<id>',
    about: 'one request: state, place, worker, time per phase',
    examples: ['requests show req_0198a1b2c3d4', 'requests show req_0198a1b2c3d4 --json'],
    options: [whose()],
    ask: (client, [id = ''], { tenant }) => client.json(adminPath(id, tenant)),
    text: request =>
      `${requestTable({ total: 1, data: [request] })}\n${explained(request)}`,
  });

/** The sentence of the gateway, who is ahead, and the time per phase. */
function explained({ explanation, ahead = [], phases }: RequestAnswer): string {
  const before = ahead.map(({ tenant, requests }) => `${tenant} ${requests}`).join(', ');
  const times = Object.entries(phases).map(
    ([name, ms]) => `${name.replace(/_ms$/, '')} ${msText(ms)}`,
  );
  return [explanation, before && `ahead: ${before}`, times.join(', ')]
    .filter(Boolean)
    .join('\n');
}

interface Explained extends Omit<RequestAnswer, 'ahead'> {
  readonly ahead?: CountsAhead;
  readonly passed?: CountsAhead;
  readonly changes?: readonly {
    readonly change: keyof typeof CHANGES;
    readonly start_in_ms: { readonly p50: number };
  }[];
}

interface CountsAhead {
  readonly requests: number;
  readonly own: number;
  readonly by: Readonly<Record<string, number>>;
}

const CHANGES = {
  realtime_priority: 'with realtime priority',
  one_more_worker: 'with one more worker',
};

function whyText({ ahead, passed, changes = [], ...request }: Explained): string {
  return [
    explained(request),
    ahead && `ahead: ${countsText(ahead)}`,
    passed && `went before it while it waited: ${countsText(passed)}`,
    ...changes.map(
      ({ change, start_in_ms: { p50 } }) =>
        `${CHANGES[change]} it would start in ${msText(p50)}`,
    ),
  ]
    .filter(Boolean)
    .join('\n');
}

const countsText = ({ requests, own, by }: CountsAhead): string =>
  requests === 0
    ? '0'
    : `${requests}, ${own} of its tenant; by ${Object.entries(by)
        .map(([reason, count]) => `${reason} ${count}`)
        .join(', ')}`;

export const whyCommand = (): Command =>
  gatewayCommand<Explained>({
    name: 'why',
    args: '<id>',
    about: 'why a request waits and how long it will, or how it ended',
    examples: [
      'why req_0198a1b2c3d4',
      'why req_0198a1b2c3d4 --json | jq -r .explanation',
    ],
    notes:
      'The id is the `x-request-id` of the request. Without the scope admin you see your own requests.',
    options: [whose()],
    ask: (client, [id = ''], { tenant }) => asked(client, id, tenant),
    text: whyText,
  });

/** An operator asks for any request; any other caller for its own. */
async function asked(
  client: GatewayClient,
  id: string,
  tenant: unknown,
): Promise<Explained> {
  try {
    return await client.json(adminPath(id, tenant, '/explain'));
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.denied) throw error;
    return client.json(`/v1/requests/${encodeURIComponent(id)}/explain`);
  }
}

const cancel = (): Command =>
  gatewayCommand<{ readonly cancelled: readonly string[] }>({
    name: 'cancel',
    args: '[id]',
    about: 'cancel one request, or all that match; callers receive 499 at once',
    examples: [
      'requests cancel req_0198a1b2c3d4',
      'requests cancel --model whisper --state queued',
    ],
    notes:
      'Exit code 5: nothing was cancelled, because there is no such request or it ended before.',
    options: [
      ...choiceOptions(['queued', 'running']),
      new Option('--all', 'every request of the gateway'),
    ],
    ask: async (client, [id], options) => {
      const answer =
        id === undefined
          ? await cancelMany(client, options)
          : await cancelOne(client, id, options);
      if (answer.cancelled.length > 0) return answer;
      throw new CliError(
        'nothing was cancelled: no queued or running request matches',
        EXIT.notFound,
      );
    },
    text: ({ cancelled }) => cancelled.map(id => `${id} cancelled`).join('\n'),
  });

async function cancelOne(client: GatewayClient, id: string, { tenant }: OptionValues) {
  const { cancelled } = await client.post<{ cancelled: boolean }>(
    adminPath(id, tenant, '/cancel'),
  );
  return { cancelled: cancelled ? [id] : [] };
}

function cancelMany(
  client: GatewayClient,
  options: OptionValues,
): Promise<{ cancelled: readonly string[] }> {
  const body = Object.fromEntries([...CHOICE, 'all'].map(name => [name, options[name]]));
  if (Object.values(body).every(value => value === undefined))
    throw new CliError(
      'name a request, choose with --model, --tenant, --state or --priority, or say --all',
      EXIT.usage,
    );
  return client.post('/admin/v1/requests/cancel', body);
}

const PRIORITIES = ['realtime', 'batch'];

const priority = (): Command =>
  gatewayCommand<RequestPage>({
    name: 'priority',
    args: '<ids-and-priority...>',
    usage: '[options] <id...> realtime|batch',
    about:
      'give waiting requests another priority; each keeps its age, which decides its place',
    examples: [
      'requests priority req_0198a1b2c3d4 realtime',
      'requests priority req_1 req_2 batch',
    ],
    notes:
      'A request that does not wait any more is an error; those named before it are changed.',
    options: [whose()],
    ask: async (client, args, { tenant }) => {
      const [ids, wanted = ''] = [args.slice(0, -1), args.at(-1)];
      if (ids.length === 0 || !PRIORITIES.includes(wanted))
        throw new CliError(
          'name at least one request, and then realtime or batch',
          EXIT.usage,
        );
      const data: RequestAnswer[] = [];
      for (const id of ids)
        data.push(
          await client.post(adminPath(id, tenant, '/priority'), { priority: wanted }),
        );
      return { total: data.length, data };
    },
    text: requestTable,
  });

export const requestsCommand = (): Command =>
  commandGroup(
    'requests',
    'requests of the gateway: list, show, cancel, change their priority',
    [...[list(), show(), cancel(), priority()]],
  );

export const queueCommand = (): Command =>
  gatewayCommand<QueueAnswer>({
    name: 'queue',
    about: 'depth of the queue by model and priority, its bounds and the longest wait',
    examples: ['queue', "queue --json | jq '.models[] | {model, oldest_wait_ms}'"],
    ask: client => client.json('/admin/v1/queue'),
    text: queueText,
  });

function queueText({ models, total, bounds, accepting }: QueueAnswer): string {
  const rows = models.map(
    ({ model, realtime, batch, running, oldest_wait_ms: oldest }) => [
      ...[model, ...[realtime, batch, running].map(String), msText(oldest)],
    ],
  );
  const used = `${total.realtime + total.batch} of ${bounds.max_requests} places are taken`;
  const each = `${bounds.max_requests_per_model} per model`;
  return [
    columns([['model', 'realtime', 'batch', 'running', 'oldest wait'], ...rows]),
    `${used} (${each})${accepting ? '' : '; the gateway drains and accepts no requests'}`,
  ].join('\n');
}
