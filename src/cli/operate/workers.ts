import { type Command } from 'commander';
import { gatewayCommand, group } from '../shared/gateway-command.js';
import { columns } from '../shared/terminal.js';

export interface WorkerAnswer {
  readonly id: string;
  readonly model: string;
  readonly state: string;
  readonly device?: string;
  readonly address?: string;
  readonly pid?: number;
  readonly restarts: number;
  readonly problem?: string;
  readonly slots: { readonly total: number; readonly in_use: number };
}

export const workersCommand = (): Command => group('workers', 'workers of the gateway: list', [list()]);

const list = (): Command =>
  gatewayCommand<{ readonly data: readonly WorkerAnswer[] }>({
    name: 'list',
    about: 'every worker: state, device, slots, restarts and what is wrong with it',
    examples: ['workers list', 'workers list --json | jq -r \'.data[] | select(.state != "ready") | .id\''],
    ask: client => client.json('/admin/v1/workers'),
    text: ({ data }) => (data.length === 0 ? 'no workers' : workerTable(data)),
  });

export function workerTable(workers: readonly WorkerAnswer[]): string {
  const rows = workers.map(({ id, model, state, slots, restarts, ...worker }) => [
    ...[id, model, state, worker.device ?? '-', `${slots.in_use}/${slots.total}`, String(restarts)],
    ...[worker.address ?? '-', worker.problem ?? ''],
  ]);
  return columns([['worker', 'model', 'state', 'device', 'slots', 'restarts', 'address', 'problem'], ...rows]);
}
