import { resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { addApiKey, KEY_LIMIT_NAMES, LIMITS_RULE } from '../../platform/auth/keys-file.js';
import { KEY_SCOPES } from '../../platform/auth/principal.js';
import { loadConfig } from '../../platform/config/load-config.js';
import { launchDirectory } from '../../platform/config/process-environment.js';
import { parseWholeNumber } from '../shared/arguments.js';
import { usageError } from '../shared/cli-error.js';
import { gatewayCommand, commandGroup, type OptionValues, oneRequest } from '../shared/command.js';
import { type GatewayAnswer } from '../shared/gateway-client.js';
import { table, print, printJson, say } from '../shared/terminal.js';

const DEFAULT_FILE = 'data/keys.yaml';
const ONLY_IN_DATABASE = {
  model: '--model',
  expiresInDays: '--expires-in-days',
  defaultPriority: '--default-priority',
} as const;

const NOTES = `The key goes to stdout, once; only its hash is stored: without --file in the database of a running gateway, with --file
in the keys file of this configuration, which needs no gateway.`;

const NOW_REQUIRED = `From now on every request needs a key, those of this command too: SWITCHYARD_API_KEY or --key-file.
Web pages ask for it; revoking it does not make the gateway open again.`;

const OPTIONS = {
  '--tenant <name>': new Option(
    '--tenant <name>',
    'tenant of the key; tenants see and cancel their own requests only',
  ).makeOptionMandatory(),
  '--name <text>': 'who uses it and for what (default: the tenant)',
  '--scope <scope...>': ['permissions; admin sees everything', KEY_SCOPES, ['inference']],
  '--model <name...>': 'the only models it may use',
  '--expires-in-days <days>': ['when it expires (default: never)', parseWholeNumber(1, 3650)],
  '--default-priority <class>': ['of its requests that state none', ['realtime', 'batch']],
  '--limit <name=number...>': [`limits of this key: ${KEY_LIMIT_NAMES.join(', ')}`, addLimit],
  '--file [path]': `add it to a keys file (default: auth.keys_file, else ${DEFAULT_FILE})`,
} as const;

const create = gatewayCommand('create', {
  about: 'create an API key and print it once',
  examples: [
    'keys create --tenant acme --name "web shop" --expires-in-days 90',
    'keys create --tenant acme --model whisper-1 --limit requests_per_minute=60',
    'keys create --tenant ops --scope admin --file',
  ],
  notes: NOTES,
  options: OPTIONS,
  json: 'the key and what it may as one JSON document',
  async run(invocation) {
    const { options } = invocation;
    if (options.file !== undefined) return createInFile(options);
    const { tenant, name = tenant, scope, model, limit } = options;
    const key = await invocation.client.call('post', '/admin/v1/keys', {
      body: {
        name,
        tenant,
        scopes: scope,
        models: model,
        limits: limit,
        expires_in_days: options.expiresInDays,
        default_priority: options.defaultPriority,
      },
    });
    if (options.json) return printJson(key);
    print(key.secret);
    say(
      `${key.id} for ${key.tenant} (${key.scopes.join(', ')}). The key above is not shown again.`,
    );
    if (key.makes_keys_required) say(NOW_REQUIRED);
  },
});

function createInFile(options: OptionValues<typeof OPTIONS>) {
  const { tenant, scope, limit, file, json } = options;
  for (const [name, flag] of Object.entries(ONLY_IN_DATABASE))
    if (options[name as keyof typeof ONLY_IN_DATABASE] !== undefined)
      throw usageError(`a keys file has no ${flag}; leave out --file`);
  const configured =
    typeof file === 'string'
      ? resolve(launchDirectory(), file)
      : loadConfig().settings.auth.keysFile;
  const path = configured || DEFAULT_FILE;
  const { key, entry } = addApiKey(path, {
    tenant,
    scopes: scope,
    ...(limit && { limits: limit }),
  });
  if (json) return printJson({ ...entry, file: path, secret: key });
  print(key);
  say(
    `${entry.id} for ${tenant} (${scope.join(', ')}) is in ${path}. The key above is not shown again.`,
  );
  if (configured === '') say(`To require keys, set auth.keys_file: ${path}`);
}

/** Adds a limit such as `requests_per_minute=60`. */
function addLimit(text: string, before: Record<string, number> = {}) {
  const [name = '', digits = ''] = text.split('=', 2);
  const limit = { [name]: Number(digits) };
  if (/^\d+$/.test(digits) && LIMITS_RULE.safeParse(limit).success) return { ...before, ...limit };
  throw new InvalidArgumentError(
    `Such as ${KEY_LIMIT_NAMES[1]}=60; names: ${KEY_LIMIT_NAMES.join(', ')}.`,
  );
}

type Key = GatewayAnswer<'/admin/v1/keys'>['data'][number];

const list = gatewayCommand('list', {
  about: 'API keys of the gateway, those of the keys file included; secrets are never shown',
  examples: [
    'keys list',
    "keys list --json | jq -r '.data[] | select(.last_used_at == null) | .id'",
  ],
  ...oneRequest('get', '/admin/v1/keys'),
  text: ({ data }) => keyTable(data),
});

const revoke = gatewayCommand('revoke <id>', {
  about: 'revoke a key; requests with it are denied at once, on other gateways within 5 s',
  examples: ['keys revoke key_0198a1b2c3d4'],
  ...oneRequest('delete', '/admin/v1/keys/{id}'),
  text: ({ id, tenant }) => `${id} of ${tenant} revoked`,
});

const set = gatewayCommand('set <id>', {
  about: 'change name, scopes, models, limits or expiry of a key; its secret stays',
  examples: [
    'keys set key_0198a1b2c3d4 --limit requests_per_minute=600 --limit weight=2',
    'keys set key_0198a1b2c3d4 --no-limits --no-expiry',
    'keys set key_0198a1b2c3d4 --model whisper-1 --expires-in-days 90',
  ],
  notes: `What is not named stays as it is. In effect on this gateway at once, on others within 5 s. Open sessions and batches
keep the scopes, models and priority that they began with. Keys of a keys file are changed in the file.`,
  options: {
    '--name <text>': 'who uses it and for what',
    '--scope <scope...>': ['all permissions that it has from now on', KEY_SCOPES],
    '--model <name...>': 'the only models that it may use',
    '--no-models': 'it may use all models',
    '--limit <name=number...>': [`all its limits: ${KEY_LIMIT_NAMES.join(', ')}`, addLimit],
    '--no-limits': 'it has no limits of its own',
    '--expires-in-days <days>': ['when it expires, from now', parseWholeNumber(1, 3650)],
    '--no-expiry': 'it never expires',
    '--default-priority <class>': [
      'of its requests that state none; model: that of the model',
      ['realtime', 'batch', 'model'],
    ],
  },
  run({ client, arg: id, options }) {
    const { name, scope, model, limit, expiresInDays, defaultPriority } = options;
    const body = {
      name,
      scopes: scope,
      models: options.models ? model : null,
      limits: options.limits ? limit : null,
      expires_in_days: expiresInDays,
      expires_at: options.expiry ? undefined : null,
      default_priority: defaultPriority === 'model' ? null : defaultPriority,
    };
    return client.call('patch', '/admin/v1/keys/{id}', { id, body });
  },
  text: key => keyTable([key]),
});

const rotate = gatewayCommand('rotate <id>', {
  about: 'give a key a new secret, which is printed once',
  examples: ['keys rotate key_0198a1b2c3d4', 'keys rotate key_0198a1b2c3d4 --grace 3600'],
  options: {
    '--grace <seconds>': ['how long the old secret stays valid', parseWholeNumber(0), 0],
  },
  run: ({ client, arg: id, options }) =>
    client.call('post', '/admin/v1/keys/{id}/rotate', {
      id,
      body: { grace_s: options.grace },
    }),
  text: ({ secret }) => secret,
});

export const keysCommand = commandGroup('keys', 'API keys: create, list, set, revoke, rotate', [
  create,
  list,
  set,
  revoke,
  rotate,
]);

const keyTable = (keys: readonly Key[]) =>
  table(
    ['id', 'name', 'tenant', 'scopes', 'models', 'limits', 'source', 'state', 'last used'],
    keys,
    key => [
      key.id,
      key.name,
      key.tenant,
      key.scopes.join(' '),
      key.models?.join(' ') ?? 'all',
      limitText(key.limits),
      key.source,
      stateOf(key),
      dateText(key.last_used_at),
    ],
    'no keys',
  );

const limitText = (limits: Key['limits']) =>
  Object.entries(limits ?? {})
    .map(pair => pair.join('='))
    .join(' ') || '-';

function stateOf({ revoked_at: revoked, expires_at: expires }: Key) {
  if (revoked !== null) return `revoked ${dateText(revoked)}`;
  if (expires === null) return 'valid';
  return `${expires * 1000 < Date.now() ? 'expired' : 'until'} ${dateText(expires)}`;
}

const dateText = (seconds: number | null) =>
  seconds === null ? '-' : new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ');
