import { type Command } from 'commander';
import { type KeyState } from '../../platform/auth/key-ring.js';
import { durationText, msText } from '../shared/durations.js';
import { type GatewayClient } from '../shared/gateway-client.js';
import { gatewayCommand } from '../shared/gateway-command.js';
import { columns, MARKS } from '../shared/terminal.js';

export interface StatusAnswer {
  readonly gateway: {
    readonly id: string;
    readonly version: string;
    readonly uptime_s: number;
    readonly draining: boolean;
    readonly keys: KeyState;
  };
  readonly bottleneck: { readonly text: string } | null;
  readonly models: readonly ModelStatus[];
  readonly dependencies: readonly {
    readonly name: string;
    readonly state: string;
    readonly text: string;
  }[];
  readonly batches: { readonly running: number; readonly waiting: number } | null;
}

interface ModelStatus {
  readonly id: string;
  readonly state: string;
  readonly waiting: { readonly realtime: number; readonly batch: number };
  readonly oldest_wait_ms: number;
  readonly in_flight: number;
  readonly workers: { readonly ready: number; readonly total: number };
  readonly slots: { readonly total: number; readonly free: number };
  readonly rates: {
    readonly arrived_per_s: number;
    readonly completed_per_s: number;
    readonly failed_per_s: number;
    readonly refused_per_s: number;
  };
}

export const statusOf = (client: GatewayClient): Promise<StatusAnswer> =>
  client.json('/admin/v1/status');

export const statusCommand = (): Command =>
  gatewayCommand<StatusAnswer>({
    name: 'status',
    about:
      'what a gateway does now: models, queues, workers, rates, dependencies, and what limits it',
    examples: [
      'status',
      'status --url http://gpu-1:8000',
      'status --json | jq -r \'.bottleneck.text // "none"\'',
    ],
    ask: statusOf,
    text: statusText,
  });

export function statusText({
  gateway,
  bottleneck,
  models,
  dependencies,
  batches,
}: StatusAnswer): string {
  const { id, version, uptime_s: uptime, draining, keys } = gateway;
  const down = dependencies.filter(({ state }) => state !== 'up');
  const troubles = down.map(
    ({ name, state, text }) => `${MARKS.warn} ${name} ${state}${text && `: ${text}`}`,
  );
  return [
    `${id}  ${version}  up ${durationText(Math.round(uptime))}${draining ? '  draining' : ''}`,
    bottleneck ? `${MARKS.warn} ${bottleneck.text}` : `${MARKS.ok} nothing limits it`,
    ...troubles,
    '',
    columns([MODEL_HEAD, ...models.map(modelRow)]),
    '',
    `dependencies  ${dependencies.map(({ name, state }) => `${name} ${state}`).join(', ') || '-'}`,
    `batches       ${batches ? `${batches.running} running, ${batches.waiting} waiting` : 'unknown'}`,
    `keys          ${KEY_TEXTS[keys]}`,
  ].join('\n');
}

/** Who may call. */
export const KEY_TEXTS: Readonly<Record<KeyState, string>> = {
  required: 'required',
  not_required: 'not required: whoever reaches the gateway may do everything',
  ignored: 'not required, and without effect: auth.allow_anonymous is true',
};

const MODEL_HEAD =
  'model,state,realtime,batch,oldest wait,in flight,workers,free slots,in/s,done/s,failed/s,refused/s'.split(
    ',',
  );

const modelRow = ({
  id,
  state,
  waiting,
  workers,
  slots,
  rates,
  ...model
}: ModelStatus): readonly string[] => [
  ...[id, state, String(waiting.realtime), String(waiting.batch)],
  ...[
    model.oldest_wait_ms > 0 ? msText(model.oldest_wait_ms) : '-',
    String(model.in_flight),
  ],
  ...[`${workers.ready}/${workers.total}`, `${slots.free}/${slots.total}`],
  ...[
    rates.arrived_per_s,
    rates.completed_per_s,
    rates.failed_per_s,
    rates.refused_per_s,
  ].map(rate => rate.toFixed(1)),
];
