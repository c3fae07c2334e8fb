import { gatewayCommand, oneRequest } from '../shared/command.js';
import { table } from '../shared/terminal.js';

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

export const usageCommand = gatewayCommand('usage', {
  about: 'requests, audio, tokens and device time, by day, tenant, key and model',
  examples: [
    'usage',
    'usage --from 2027-01-01 --to 2027-01-31 --group-by tenant,model',
    'usage --tenant acme --json',
  ],
  notes: 'Days are those of UTC. Without --from the last 30 days are shown.',
  options: {
    '--from <day>': 'first day, such as 2027-01-01',
    '--to <day>': 'last day (default: today)',
    '--group-by <names>': [`out of ${GROUPS.join(', ')}, with commas between`, undefined, 'day'],
    '--tenant <name>': 'of this tenant only',
  },
  ...oneRequest('get', '/admin/v1/usage', 'from', 'to', 'groupBy', 'tenant'),
  text({ data, has_more: isCut }) {
    const groups = GROUPS.filter(name => data[0]?.[name] !== undefined);
    const rows = table(
      [...groups, ...SUMS.map(name => name.replace('_', ' ')), 'device s'],
      data,
      row => [
        ...groups.map(name => row[name] ?? ''),
        ...SUMS.map(name => Math.round(row[name])),
        (row.device_ms / 1000).toFixed(1),
      ],
      'no usage in these days',
    );
    return isCut ? `${rows}\nThere are more rows: ask for fewer days or groups.` : rows;
  },
});

export const tenantsCommand = gatewayCommand('tenants', {
  about: 'tenants: their keys and what they used today',
  examples: ['tenants', 'tenants --json'],
  ...oneRequest('get', '/admin/v1/tenants'),
  text: ({ data }) =>
    table(
      ['tenant', 'keys', 'requests', 'audio s', 'input tokens', 'output tokens'],
      data,
      ({ id, keys, usage_today: used }) => [
        id,
        keys,
        used.requests,
        Math.round(used.audio_s),
        used.input_tokens,
        used.output_tokens,
      ],
      'no tenants',
    ),
});
