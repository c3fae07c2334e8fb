import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { isSecretSetting } from '../../platform/config/effective-settings.js';
import { loadConfig } from '../../platform/config/load-config.js';
import { protectSecrets, redacted } from '../../platform/config/redaction.js';
import { productVersion } from '../../platform/process/product-version.js';
import { writablePath } from '../shared/arguments.js';
import { CliError } from '../shared/cli-error.js';
import { examples } from '../shared/examples.js';
import {
  GatewayClient,
  type GatewayClientOptions,
  withGatewayOptions,
} from '../shared/gateway-client.js';
import { MARKS, print, printJson, say } from '../shared/terminal.js';
import { tarGz } from './tar-gz.js';

interface BundleOptions extends GatewayClientOptions {
  readonly output?: string;
  readonly json?: boolean;
}

/** What a running gateway says about itself; no route here answers with content. */
const ROUTES: Readonly<Record<string, string>> = {
  health: '/health',
  status: '/admin/v1/status',
  history: '/admin/v1/history?minutes=60',
  queue: '/admin/v1/queue',
  requests: '/admin/v1/requests?limit=1000',
  workers: '/admin/v1/workers',
  models: '/admin/v1/models',
  dependencies: '/admin/v1/dependencies',
  logs: '/admin/v1/logs?lines=500',
};
const LIMIT_MS = 10_000;

const NOTES = `Secrets are removed: passwords and keys in addresses, bearer tokens, API keys, headers of models, arguments such as
--token, values of variables such as SWITCHYARD_API_KEY, and fields by their names. Audio, prompts and answers are never part of it. Names of tenants and
ids of requests are. Without a gateway it holds what this machine knows.`;

type Diagnose = () => Promise<unknown>;

/** @param diagnose what `switchyard doctor` finds */
export const supportBundleCommand = (diagnose: Diagnose): Command =>
  withGatewayOptions(new Command('support-bundle'))
    .description(
      'one archive for a bug report: version, settings, status, history, workers, doctor; no secrets',
    )
    .option(
      '-o, --output <file>',
      'the archive (default: switchyard-support-TIME.tar.gz)',
    )
    .option('--json', 'its name and contents as one JSON document')
    .addHelpText(
      'after',
      examples(
        ['support-bundle', 'support-bundle -o bundle.tar.gz --url http://gpu-1:8000'],
        NOTES,
      ),
    )
    .action(async (options: BundleOptions) => {
      const now = new Date();
      const stamp = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
      const file = options.output ?? `switchyard-support-${stamp}.tar.gz`;
      const path = await writablePath(file);
      const files = await contents(new GatewayClient(options), diagnose);
      writeFileSync(path, tarGz(files, Math.floor(now.getTime() / 1000)), {
        mode: 0o600,
      });
      if (options.json) return printJson({ file: path, contents: Object.keys(files) });
      print(file);
      say(
        `${MARKS.ok} ${Object.keys(files).join(', ')}; look through it before you share it`,
      );
    });

async function contents(
  client: GatewayClient,
  diagnose: Diagnose,
): Promise<Record<string, string>> {
  protectSecrets(
    Object.values(client.headers).map(header => header.replace(/^Bearer /, '')),
  );
  const { version, platform, arch } = process;
  const facts = {
    version: productVersion(),
    node: version,
    platform,
    arch,
    created: new Date().toISOString(),
  };
  const local = {
    version: facts,
    settings: await settled(localSettings),
    doctor: await settled(diagnose),
  };
  const remote = await Promise.all(
    Object.entries(ROUTES).map(
      async ([name, path]) =>
        [name, await settled(() => answerOf(client, path))] as const,
    ),
  );
  const parts = Object.entries({ ...local, ...Object.fromEntries(remote) });
  const files = Object.fromEntries(
    parts.map(([name, value]) => [
      `${name}.json`,
      redacted(JSON.stringify(value, null, 2)),
    ]),
  );
  const metrics = await settled(async () =>
    (await client.request('/metrics', limited())).text(),
  );
  return {
    ...files,
    'metrics.txt': redacted(typeof metrics === 'string' ? metrics : metrics.error),
  };
}

const limited = () => ({ signal: AbortSignal.timeout(LIMIT_MS) });
const answerOf = (client: GatewayClient, path: string): Promise<unknown> =>
  client.json(path, limited());

function localSettings() {
  const { sources, models } = loadConfig();
  const rows = [...sources];
  return {
    // Of a secret, whether it is set.
    values: Object.fromEntries(
      rows.map(([path, { value }]) => [
        path,
        isSecretSetting(path) ? value !== '' : value,
      ]),
    ),
    origins: Object.fromEntries(rows.map(([path, { origin }]) => [path, origin])),
    models,
  };
}

/** One part that cannot be had does not prevent the others. */
async function settled<T>(work: () => T | Promise<T>): Promise<T | { error: string }> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CliError) return { error: error.message };
    return { error: (error as Error).message };
  }
}
