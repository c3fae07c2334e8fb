import { command, commandGroup } from '../shared/command.js';
import { type GatewayAnswer } from '../shared/gateway-client.js';
import { columns } from '../shared/terminal.js';
import { workerLogsCommand } from './logs.js';

const list = command({
  name: 'list',
  about: 'every worker: state, device, slots, restarts and what is wrong with it',
  examples: [
    'workers list',
    'workers list --json | jq -r \'.data[] | select(.state != "ready") | .id\'',
  ],
  gateway: true,
  run: ({ client }) => client.call('get', '/admin/v1/workers'),
  text: ({ data }) => (data.length === 0 ? 'no workers' : workerTable(data)),
});

const act = (name: 'drain' | 'resume' | 'restart', about: string, notes = '') =>
  command({
    name,
    about,
    notes,
    arg: ['<id>'],
    examples: [`workers ${name} whisper-0`],
    gateway: true,
    run: ({ client, arg: id }) =>
      client.call('post', `/admin/v1/workers/{id}/${name}`, { id }),
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

function workerTable(workers: GatewayAnswer<'/admin/v1/workers'>['data']): string {
  const rows = workers.map(worker => [
    worker.id,
    worker.model,
    worker.drained ? `${worker.state}, drained` : worker.state,
    worker.device ?? '-',
    `${worker.slots.in_use}/${worker.slots.total}`,
    String(worker.restarts),
    worker.address ?? '-',
    worker.problem ?? '',
  ]);
  return columns([
    ['worker', 'model', 'state', 'device', 'slots', 'restarts', 'address', 'problem'],
    ...rows,
  ]);
}
