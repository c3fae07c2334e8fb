import { type Command } from 'commander';
import { gatewayCommand, commandGroup } from '../shared/gateway-command.js';
import { workerLogsCommand } from './logs.js';
import { columns } from '../shared/terminal.js';

export interface WorkerAnswer {
  readonly id: string;
  readonly model: string;
  readonly state: string;
  readonly drained?: boolean;
  readonly device?: string;
  readonly address?: string;
  readonly pid?: number;
  readonly restarts: number;
  readonly problem?: string;
  readonly slots: { readonly total: number; readonly in_use: number };
}

const list = (): Command =>
  gatewayCommand<{ readonly data: readonly WorkerAnswer[] }>({
    name: 'list',
    about: 'every worker: state, device, slots, restarts and what is wrong with it',
    examples: [
      'workers list',
      'workers list --json | jq -r \'.data[] | select(.state != "ready") | .id\'',
    ],
    ask: client => client.json('/admin/v1/workers'),
    text: ({ data }) => (data.length === 0 ? 'no workers' : workerTable(data)),
  });

const act = (name: string, about: string, notes?: string): Command =>
  gatewayCommand<WorkerAnswer>({
    ...{ name, args: '<id>', about, ...(notes !== undefined && { notes }) },
    examples: [`workers ${name} whisper-0`],
    ask: (client, [id = '']) =>
      client.post(`/admin/v1/workers/${encodeURIComponent(id)}/${name}`),
    text: worker => workerTable([worker]),
  });

export const workersCommand = (): Command =>
  commandGroup('workers', 'workers of the gateway: list, logs, drain, resume, restart', [
    list(),
    act(
      'drain',
      'give a worker no more requests; those that it runs finish',
      '`workers resume` ends it.',
    ),
    act('resume', 'give a drained worker requests again'),
    workerLogsCommand(),
    act(
      'restart',
      'drain a worker, end its process and start a new one',
      'Only of workers that the gateway starts.',
    ),
  ]);

export function workerTable(workers: readonly WorkerAnswer[]): string {
  const rows = workers.map(
    ({ id, model, state, drained, slots, restarts, ...worker }) => [
      ...[
        id,
        model,
        drained ? `${state}, drained` : state,
        worker.device ?? '-',
        `${slots.in_use}/${slots.total}`,
      ],
      ...[String(restarts), worker.address ?? '-', worker.problem ?? ''],
    ],
  );
  return columns([
    ['worker', 'model', 'state', 'device', 'slots', 'restarts', 'address', 'problem'],
    ...rows,
  ]);
}
