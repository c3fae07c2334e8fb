import { resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { KEY_LIMIT_NAMES, keyLimit, type KeyLimits } from '../platform/auth/api-key.js';
import { addApiKey } from '../platform/auth/keys-file.js';
import { type KeyScope } from '../platform/auth/principal.js';
import { loadConfig } from '../platform/config/load-config.js';
import { launchDirectory } from '../platform/config/process-environment.js';
import {
  createKey,
  keyOptions,
  keysListCommand,
  keysRevokeCommand,
  keysRotateCommand,
} from './operate/keys.js';
import { CliError, EXIT } from './shared/cli-error.js';
import { examples } from './shared/examples.js';
import {
  GatewayClient,
  type GatewayClientOptions,
  withGatewayOptions,
} from './shared/gateway-client.js';
import { commandGroup, type OptionValues } from './shared/gateway-command.js';
import { print, printJson, say } from './shared/terminal.js';

interface CreateOptions extends GatewayClientOptions {
  readonly tenant: string;
  readonly scope: readonly KeyScope[];
  readonly limit?: KeyLimits;
  readonly file?: string | true;
  readonly json?: boolean;
}

const DEFAULT_FILE = 'data/keys.yaml';
const ONLY_IN_DATABASE = {
  model: '--model',
  expiresInDays: '--expires-in-days',
  defaultPriority: '--default-priority',
};

const NOTES = `The key goes to stdout, once; only its hash is stored. Without --file a running gateway stores it in its
database. With --file it is added to the keys file of this configuration, which works without a gateway.`;

const NOW_REQUIRED = `From now on every request needs a key, those of this command too: SWITCHYARD_API_KEY or --key-file.
Web pages ask for it; revoking it does not make the gateway open again.`;

export const keysCommand = (): Command =>
  commandGroup('keys', 'API keys: create, list, revoke, rotate', [
    createCommand(),
    keysListCommand(),
    keysRevokeCommand(),
    keysRotateCommand(),
  ]);

function createCommand(): Command {
  const command = withGatewayOptions(new Command('create')).description(
    'create an API key and print it once',
  );
  for (const option of keyOptions()) command.addOption(option);
  return command
    .option(
      '--limit <name=number...>',
      `limits of this key: ${KEY_LIMIT_NAMES.join(', ')}`,
      addLimit,
    )
    .option(
      '--file [path]',
      `add it to a keys file (default: auth.keys_file, else ${DEFAULT_FILE})`,
    )
    .option('--json', 'the key and what it may as one JSON document')
    .addHelpText(
      'after',
      examples(
        [
          'keys create --tenant acme --name "web shop" --expires-in-days 90',
          'keys create --tenant acme --model whisper-1 --limit requests_per_minute=60',
          'keys create --tenant ops --scope admin --file',
        ],
        NOTES,
      ),
    )
    .action(async (options: CreateOptions & OptionValues) => {
      if (options.file !== undefined) return createInFile(options);
      const key = await createKey(new GatewayClient(options), options);
      if (options.json) return printJson(key);
      print(key.secret ?? '');
      say(
        `${key.id} for ${key.tenant} (${key.scopes.join(', ')}). The key above is not shown again.`,
      );
      if (key.makes_keys_required) say(NOW_REQUIRED);
    });
}

function createInFile({
  tenant,
  scope,
  limit,
  file,
  json,
  ...rest
}: CreateOptions & OptionValues): void {
  const refused = Object.entries(ONLY_IN_DATABASE).find(
    ([name]) => rest[name] !== undefined,
  );
  if (refused)
    throw new CliError(`a keys file has no ${refused[1]}; leave out --file`, EXIT.usage);
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

function addLimit(text: string, before: KeyLimits = {}): KeyLimits {
  const limit = keyLimit(text);
  if (!limit)
    throw new InvalidArgumentError(
      `Such as ${KEY_LIMIT_NAMES[1]}=60; names: ${KEY_LIMIT_NAMES.join(', ')}.`,
    );
  return { ...before, ...limit };
}
