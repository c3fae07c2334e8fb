import { PRIORITY_LABELS } from '../../core/request/request-priority.js';
import { parseWholeNumber } from '../shared/arguments.js';
import { CliError, EXIT, usageError } from '../shared/cli-error.js';
import { gatewayCommand, commandGroup, oneRequest } from '../shared/command.js';
import { type GatewayAnswer } from '../shared/gateway-client.js';
import { table, msText } from '../shared/terminal.js';

type RequestPage = GatewayAnswer<'/admin/v1/requests'>;
type ExplainedRequest = GatewayAnswer<'/admin/v1/requests/{id}/explain'>;

const WHOSE = {
  '--tenant <name>': 'whose, where several tenants have a request of that id',
} as const;

const choice = <const State extends string>(states: readonly State[]) =>
  ({
    '-m, --model <id>': 'of this model',
    '--tenant <name>': 'of this tenant',
    '--state <state>': ['in this state', states],
    '--priority <class>': ['of this priority', PRIORITY_LABELS],
  }) as const;

const list = gatewayCommand('list', {
  about: 'queued requests in dispatch order, then running ones',
  examples: [
    'requests list',
    'requests list --model whisper --state queued',
    'requests list --json | jq .total',
  ],
  options: {
    ...choice(['queued', 'running', 'completed', 'failed', 'cancelled']),
    '-n, --limit <count>': ['how many, 1 to 1000', parseWholeNumber(1, 1000), 100],
  },
  ...oneRequest('get', '/admin/v1/requests', 'model', 'tenant', 'state', 'priority', 'limit'),
  text: requestTable,
});

function requestTable({ total, data }: RequestPage) {
  const rows = table(
    ['id', 'model', 'tenant', 'priority', 'state', 'place', 'waited', 'worker', 'error'],
    data,
    request => [
      request.request_id,
      request.model,
      request.tenant,
      request.priority,
      request.state,
      request.position,
      msText(request.waited_ms),
      request.worker,
      request.code,
    ],
    'no requests',
  );
  const more = total - data.length;
  return more > 0 ? `${rows}\n${more} more; see --limit` : rows;
}

const show = gatewayCommand('show <id>', {
  about: 'one request: state, place, worker, time per phase',
  examples: ['requests show req_0198a1b2c3d4', 'requests show req_0198a1b2c3d4 --json'],
  options: WHOSE,
  ...oneRequest('get', '/admin/v1/requests/{id}', 'tenant'),
  text: request => {
    const ahead = request.ahead?.map(({ tenant, requests }) => `${tenant} ${requests}`);
    const row = requestTable({ total: 1, data: [request] });
    return `${row}\n${explained(request, ahead?.join(', '))}`;
  },
});

/** The sentence of the gateway, who is ahead, and the time per phase. */
function explained(
  { explanation, phases }: Pick<ExplainedRequest, 'explanation' | 'phases'>,
  ahead = '',
) {
  const times = Object.entries(phases).map(
    ([name, ms]) => `${name.replace(/_ms$/, '')} ${msText(ms)}`,
  );
  return linesOf(explanation, ahead && `ahead: ${ahead}`, times.join(', '));
}

const linesOf = (...lines: readonly (string | undefined)[]) => lines.filter(Boolean).join('\n');

const CHANGES = {
  realtime_priority: 'with realtime priority',
  one_more_worker: 'with one more worker',
};

const countsText = ({ requests, own, by }: NonNullable<ExplainedRequest['ahead']>) =>
  requests === 0
    ? '0'
    : `${requests}, ${own} of its tenant; by ${Object.entries(by)
        .map(([reason, count]) => `${reason} ${count}`)
        .join(', ')}`;

export const whyCommand = gatewayCommand('why <id>', {
  about: 'why a request waits and how long it will, or how it ended',
  examples: ['why req_0198a1b2c3d4', 'why req_0198a1b2c3d4 --json | jq -r .explanation'],
  notes:
    'The id is the `x-request-id` of the request. Without the scope admin you see your own requests.',
  options: WHOSE,
  run: ({ client, arg: id, options: { tenant } }) =>
    client
      .call('get', '/admin/v1/requests/{id}/explain', { id, query: { tenant } })
      .catch((error: unknown) => {
        if (!(error instanceof CliError) || error.exitCode !== EXIT.denied) throw error;
        return client.call('get', '/v1/requests/{id}/explain', { id });
      }),
  text: ({ ahead, passed, changes = [], ...request }) =>
    linesOf(
      explained(request),
      ahead && `ahead: ${countsText(ahead)}`,
      passed && `went before it while it waited: ${countsText(passed)}`,
      ...changes.map(
        ({ change, start_in_ms: { p50 } }) => `${CHANGES[change]} it would start in ${msText(p50)}`,
      ),
    ),
});

const cancel = gatewayCommand('cancel [id]', {
  about: 'cancel one request, or all that match; callers receive 499 at once',
  examples: ['requests cancel req_0198a1b2c3d4', 'requests cancel --model whisper --state queued'],
  notes: 'Exit code 5: nothing was cancelled, because there is no such request or it ended before.',
  options: {
    ...choice(['queued', 'running']),
    '--all': 'every request of the gateway',
  },
  async run({ client, arg: id, options: { model, tenant, state, priority, all } }) {
    const body = { model, tenant, state, priority, all };
    if (id === undefined && Object.values(body).every(value => value === undefined))
      throw usageError(
        'name a request, choose with --model, --tenant, --state or --priority, or say --all',
      );
    const { cancelled } =
      id === undefined
        ? await client.call('post', '/admin/v1/requests/cancel', { body })
        : await client.call('post', '/admin/v1/requests/{id}/cancel', {
            id,
            query: { tenant },
          });
    const ids = cancelled === true ? [id!] : cancelled || [];
    if (ids.length > 0) return { cancelled: ids };
    throw new CliError(
      'nothing was cancelled: no queued or running request matches',
      EXIT.notFound,
    );
  },
  text: ({ cancelled }) => cancelled.map(id => `${id} cancelled`).join('\n'),
});

const priority = gatewayCommand('priority <ids-and-priority...>', {
  about: 'give waiting requests another priority; each keeps its age, which decides its place',
  usage: '[options] <id...> realtime|batch',
  examples: ['requests priority req_0198a1b2c3d4 realtime', 'requests priority req_1 req_2 batch'],
  notes: 'A request that does not wait any more is an error; those named before it are changed.',
  options: WHOSE,
  async run({ client, arg, options: { tenant } }) {
    const ids = arg.slice(0, -1);
    const wanted = PRIORITY_LABELS.find(one => one === arg.at(-1));
    if (ids.length === 0 || wanted === undefined)
      throw usageError('name at least one request, and then realtime or batch');
    const data: RequestPage['data'] = [];
    for (const id of ids)
      data.push(
        await client.call('post', '/admin/v1/requests/{id}/priority', {
          id,
          query: { tenant },
          body: { priority: wanted },
        }),
      );
    return { total: data.length, data };
  },
  text: requestTable,
});

export const requestsCommand = commandGroup(
  'requests',
  'requests of the gateway: list, show, cancel, change their priority',
  [list, show, cancel, priority],
);

export const queueCommand = gatewayCommand('queue', {
  about: 'depth of the queue by model and priority, its bounds and the longest wait',
  examples: ['queue', "queue --json | jq '.models[] | {model, oldest_wait_ms}'"],
  ...oneRequest('get', '/admin/v1/queue'),
  text({ models, total, bounds, accepting }) {
    const rows = table(['model', 'realtime', 'batch', 'running', 'oldest wait'], models, model => [
      model.model,
      model.realtime,
      model.batch,
      model.running,
      msText(model.oldest_wait_ms),
    ]);
    const used = `${total.realtime + total.batch} of ${bounds.max_requests} places are taken`;
    const each = `${bounds.max_requests_per_model} per model`;
    const end = accepting ? '' : '; the gateway drains and accepts no requests';
    return `${rows}\n${used} (${each})${end}`;
  },
});
