import { type Command, Option } from 'commander';
import { gatewayCommand, queryOf } from '../shared/gateway-command.js';
import { columns } from '../shared/terminal.js';

interface Used {
  readonly requests: number;
  readonly audio_s: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

interface UsageAnswer {
  readonly data: readonly (Used & {
    readonly day?: string;
    readonly tenant?: string;
    readonly key?: string;
    readonly model?: string;
    readonly failed: number;
    readonly cancelled: number;
    readonly characters: number;
    readonly device_ms: number;
  })[];
  readonly has_more: boolean;
}

interface TenantsAnswer {
  readonly data: readonly {
    readonly id: string;
    readonly keys: number;
    readonly usage_today: Used;
  }[];
}

const GROUPS = ['day', 'tenant', 'key', 'model'] as const;
const SUMS = [
  'requests',
  'failed',
  'cancelled',
  'audio_s',
  'characters',
  'input_tokens',
  'output_tokens',
] as const;

export const usageCommand = (): Command =>
  gatewayCommand<UsageAnswer>({
    name: 'usage',
    about: 'requests, audio, tokens and device time, by day, tenant, key and model',
    examples: [
      'usage',
      'usage --from 2027-01-01 --to 2027-01-31 --group-by tenant,model',
      'usage --tenant acme --json',
    ],
    notes: 'Days are those of UTC. Without --from the last 30 days are shown.',
    options: [
      new Option('--from <day>', 'first day, such as 2027-01-01'),
      new Option('--to <day>', 'last day (default: today)'),
      new Option(
        '--group-by <names>',
        `out of ${GROUPS.join(', ')}, with commas between`,
      ).default('day'),
      new Option('--tenant <name>', 'of this tenant only'),
    ],
    ask: (client, _, { groupBy, ...options }) =>
      client.json(
        `/admin/v1/usage${queryOf({ ...options, group_by: groupBy }, ['from', 'to', 'group_by', 'tenant'])}`,
      ),
    text: ({ data, has_more: isCut }) =>
      data.length === 0 ? 'no usage in these days' : usageTable(data, isCut),
  });

export const tenantsCommand = (): Command =>
  gatewayCommand<TenantsAnswer>({
    name: 'tenants',
    about: 'tenants: their keys and what they used today',
    examples: ['tenants', 'tenants --json'],
    ask: client => client.json('/admin/v1/tenants'),
    text: ({ data }) =>
      data.length === 0
        ? 'no tenants'
        : columns([
            ['tenant', 'keys', 'requests', 'audio s', 'input tokens', 'output tokens'],
            ...data.map(
              ({
                id,
                keys,
                usage_today: { requests, audio_s, input_tokens, output_tokens },
              }) =>
                [
                  id,
                  keys,
                  requests,
                  Math.round(audio_s),
                  input_tokens,
                  output_tokens,
                ].map(String),
            ),
          ]),
  });

function usageTable(data: UsageAnswer['data'], isCut: boolean): string {
  const groups = GROUPS.filter(name => data[0]?.[name] !== undefined);
  const rows = data.map(row => [
    ...groups.map(name => row[name] ?? ''),
    ...SUMS.map(name => String(Math.round(row[name]))),
    (row.device_ms / 1000).toFixed(1),
  ]);
  const table = columns([
    [...groups, ...SUMS.map(name => name.replace('_', ' ')), 'device s'],
    ...rows,
  ]);
  return isCut ? `${table}\nThere are more rows: ask for fewer days or groups.` : table;
}
