import { type Command, Option } from 'commander';
import { KEY_SCOPES } from '../../platform/auth/principal.js';
import { parseWholeNumber } from '../shared/arguments.js';
import { type GatewayClient } from '../shared/gateway-client.js';
import { gatewayCommand, type OptionValues } from '../shared/gateway-command.js';
import { columns } from '../shared/terminal.js';

export interface KeyAnswer {
  readonly id: string;
  readonly name: string;
  readonly tenant: string;
  readonly scopes: readonly string[];
  readonly models: readonly string[] | null;
  readonly source: string;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
  /** Of a new one only. */
  readonly secret?: string;
  readonly makes_keys_required?: boolean;
}

const pathOf = (id: string): string => `/admin/v1/keys/${encodeURIComponent(id)}`;
const NOTES = 'The key goes to stdout, once; the gateway stores its hash only.';

/** What `keys create` asks of a running gateway. */
export const createKey = (
  client: GatewayClient,
  options: OptionValues,
): Promise<KeyAnswer> =>
  client.post('/admin/v1/keys', {
    ...{
      name: options.name ?? options.tenant,
      tenant: options.tenant,
      scopes: options.scope,
    },
    ...{
      models: options.model,
      limits: options.limit,
      expires_in_days: options.expiresInDays,
    },
    default_priority: options.defaultPriority,
  });

export const keyOptions = (): readonly Option[] => [
  new Option(
    '--tenant <name>',
    'tenant of the key; tenants see and cancel their own requests only',
  ).makeOptionMandatory(),
  new Option('--name <text>', 'who uses it and for what (default: the tenant)'),
  new Option('--scope <scope...>', 'permissions; admin sees everything')
    .choices(KEY_SCOPES)
    .default(['inference']),
  new Option('--model <name...>', 'the only models it may use'),
  new Option('--expires-in-days <days>', 'when it expires (default: never)').argParser(
    parseWholeNumber(1, 3650),
  ),
  new Option('--default-priority <class>', 'of its requests that state none').choices([
    'realtime',
    'batch',
  ]),
];

export const keysListCommand = (): Command =>
  gatewayCommand<{ readonly data: readonly KeyAnswer[] }>({
    name: 'list',
    about:
      'API keys of the gateway, those of the keys file included; secrets are never shown',
    examples: [
      'keys list',
      "keys list --json | jq -r '.data[] | select(.last_used_at == null) | .id'",
    ],
    ask: client => client.json('/admin/v1/keys'),
    text: ({ data }) => (data.length === 0 ? 'no keys' : keyTable(data)),
  });

export const keysRevokeCommand = (): Command =>
  gatewayCommand<KeyAnswer>({
    name: 'revoke',
    args: '<id>',
    about:
      'revoke a key; requests with it are denied at once, on other gateways within 5 s',
    examples: ['keys revoke key_0198a1b2c3d4'],
    ask: (client, [id = '']) => client.json(pathOf(id), { method: 'DELETE' }),
    text: ({ id, tenant }) => `${id} of ${tenant} revoked`,
  });

export const keysRotateCommand = (): Command =>
  gatewayCommand<KeyAnswer>({
    name: 'rotate',
    args: '<id>',
    about: 'give a key a new secret, which is printed once',
    examples: [
      'keys rotate key_0198a1b2c3d4',
      'keys rotate key_0198a1b2c3d4 --grace 3600',
    ],
    notes: NOTES,
    options: [
      new Option('--grace <seconds>', 'how long the old secret stays valid')
        .argParser(parseWholeNumber(0))
        .default(0),
    ],
    ask: (client, [id = ''], { grace }) =>
      client.post(`${pathOf(id)}/rotate`, { grace_s: grace }),
    text: ({ secret = '' }) => secret,
  });

function keyTable(keys: readonly KeyAnswer[]): string {
  const rows = keys.map(({ id, name, tenant, scopes, models, source, ...key }) => [
    ...[id, name, tenant, scopes.join(' '), models?.join(' ') ?? 'all', source],
    ...[stateOf(key), dateText(key.last_used_at)],
  ]);
  return columns([
    ['id', 'name', 'tenant', 'scopes', 'models', 'source', 'state', 'last used'],
    ...rows,
  ]);
}

function stateOf({
  revoked_at: revoked,
  expires_at: expires,
}: Pick<KeyAnswer, 'revoked_at' | 'expires_at'>): string {
  if (revoked !== null) return `revoked ${dateText(revoked)}`;
  return expires === null
    ? 'valid'
    : `${expires * 1000 < Date.now() ? 'expired' : 'until'} ${dateText(expires)}`;
}

const dateText = (seconds: number | null): string =>
  seconds === null
    ? '-'
    : new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ');
