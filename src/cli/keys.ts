import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { KEY_LIMITS, keyLimit, type KeyLimits } from '../platform/auth/api-key.js';
import { addApiKey } from '../platform/auth/keys-file.js';
import { KEY_SCOPES, type KeyScope } from '../platform/auth/principal.js';
import { loadConfig } from '../platform/config/load-config.js';
import { launchDirectory } from '../platform/config/process-environment.js';
import { examples } from './shared/examples.js';
import { print, say } from './shared/terminal.js';

interface CreateOptions {
  readonly tenant: string;
  readonly scope: readonly KeyScope[];
  readonly limit?: KeyLimits;
  readonly file?: string;
}

const DEFAULT_FILE = 'data/keys.yaml';

export const keysCommand = (): Command =>
  new Command('keys').description('API keys of the gateway').addCommand(createCommand());

const createCommand = (): Command =>
  new Command('create')
    .description('create a key and add its hash to the keys file; the key is printed once and stored nowhere')
    .requiredOption('--tenant <name>', 'tenant of the key; tenants see and cancel their own requests only')
    .addOption(
      new Option('--scope <scope...>', 'permissions; admin sees everything').choices(KEY_SCOPES).default(['inference']),
    )
    .option('--limit <name=number...>', `limits of this key: ${KEY_LIMITS.join(', ')}`, addLimit)
    .option('--file <path>', `keys file (default: auth.keys_file, else ${DEFAULT_FILE})`)
    .addHelpText(
      'after',
      examples(['keys create --tenant acme', 'keys create --tenant acme --limit requests_per_minute=60']),
    )
    .action(({ tenant, scope, limit, file }: CreateOptions) => {
      const configured = file === undefined ? loadConfig().settings.auth.keysFile : resolve(launchDirectory(), file);
      const path = configured || DEFAULT_FILE;
      const { key, entry } = addApiKey(path, { tenant, scopes: scope, ...(limit && { limits: limit }) });
      print(key);
      say(`${entry.id} for ${tenant} (${scope.join(', ')}) is in ${path}. The key above is not shown again.`);
      if (configured === '') say(`To require keys, set auth.keys_file: ${path}`);
    });

function addLimit(text: string, before: KeyLimits = {}): KeyLimits {
  const limit = keyLimit(text);
  if (!limit) throw new InvalidArgumentError(`Such as ${KEY_LIMITS[1]}=60; names: ${KEY_LIMITS.join(', ')}.`);
  return { ...before, ...limit };
}
