import { command } from '../shared/command.js';
import { durationText, msText } from '../shared/durations.js';
import { type GatewayAnswer } from '../shared/gateway-client.js';
import { columns, MARKS } from '../shared/terminal.js';

export type Status = GatewayAnswer<'/admin/v1/status'>;

export const statusCommand = command({
  name: 'status',
  about:
    'what a gateway does now: models, queues, workers, rates, dependencies, and what limits it',
  examples: [
    'status',
    'status --url http://gpu-1:8000',
    'status --json | jq -r \'.bottleneck.text // "none"\'',
  ],
  gateway: true,
  run: ({ client }) => client.call('get', '/admin/v1/status'),
  text: statusText,
});

export function statusText({
  gateway,
  bottleneck,
  models,
  dependencies,
  batches,
}: Status): string {
  const { id, version, uptime_s: uptime, draining, keys } = gateway;
  const down = dependencies.filter(({ state }) => state !== 'up');
  return [
    `${id}  ${version}  up ${durationText(Math.round(uptime))}${draining ? '  draining' : ''}`,
    bottleneck ? `${MARKS.warn} ${bottleneck.text}` : `${MARKS.ok} nothing limits it`,
    ...down.map(
      ({ name, state, text }) => `${MARKS.warn} ${name} ${state}${text && `: ${text}`}`,
    ),
    '',
    columns([MODEL_HEAD, ...models.map(modelRow)]),
    '',
    `dependencies  ${dependencies.map(({ name, state }) => `${name} ${state}`).join(', ') || '-'}`,
    `batches       ${batches ? `${batches.running} running, ${batches.waiting} waiting` : 'unknown'}`,
    `keys          ${KEY_TEXTS[keys]}`,
  ].join('\n');
}

/** Who may call. */
export const KEY_TEXTS: Readonly<Record<Status['gateway']['keys'], string>> = {
  required: 'required',
  not_required: 'not required: whoever reaches the gateway may do everything',
  ignored: 'not required, and without effect: auth.allow_anonymous is true',
};

const MODEL_HEAD =
  'model,state,realtime,batch,oldest wait,in flight,workers,free slots,in/s,done/s,failed/s,refused/s'.split(
    ',',
  );

const modelRow = (model: Status['models'][number]): readonly string[] => [
  model.id,
  model.state,
  String(model.waiting.realtime),
  String(model.waiting.batch),
  model.oldest_wait_ms > 0 ? msText(model.oldest_wait_ms) : '-',
  String(model.in_flight),
  `${model.workers.ready}/${model.workers.total}`,
  `${model.slots.free}/${model.slots.total}`,
  model.rates.arrived_per_s.toFixed(1),
  model.rates.completed_per_s.toFixed(1),
  model.rates.failed_per_s.toFixed(1),
  model.rates.refused_per_s.toFixed(1),
];
