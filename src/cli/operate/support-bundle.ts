import { writeFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { pack } from 'tar-stream';
import { loadConfig } from '../../platform/config/load-config.js';
import { protectSecrets, redacted } from '../../platform/config/redaction.js';
import { isSecretSetting } from '../../platform/config/setting-source.js';
import { productVersion } from '../../platform/process/product-version.js';
import { writablePath } from '../shared/arguments.js';
import { gatewayCommand } from '../shared/command.js';
import { type GatewayClient } from '../shared/gateway-client.js';
import { MARKS, print, say } from '../shared/terminal.js';
import { diagnose } from './doctor.js';

/** A compressed tar archive of small texts, in the order given. */
async function tarGz(files: Readonly<Record<string, string>>, mtime: Date): Promise<Buffer> {
  const archive = pack();
  for (const [name, text] of Object.entries(files))
    archive.entry({ name, mtime, mode: 0o600 }, text);
  archive.finalize();
  return gzipSync(await buffer(archive));
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
--token, values of variables such as SWITCHYARD_API_KEY, and fields by their names. It has names of tenants and ids of
requests, but no audio, prompts or answers. Without a gateway it holds what this machine knows.`;

export const supportBundleCommand = gatewayCommand('support-bundle', {
  about:
    'one archive for a bug report: version, settings, status, history, workers, doctor; no secrets',
  examples: ['support-bundle', 'support-bundle -o bundle.tar.gz --url http://gpu-1:8000'],
  notes: NOTES,
  options: {
    '-o, --output <file>': 'the archive (default: switchyard-support-TIME.tar.gz)',
  },
  json: 'its name and contents as one JSON document',
  async run({ client, engines, options }) {
    const now = new Date();
    const stamp = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
    const file = options.output ?? `switchyard-support-${stamp}.tar.gz`;
    const path = await writablePath(file);
    const files = await contents(client, async () => diagnose(await engines()));
    const archive = await tarGz(files, now);
    writeFileSync(path, archive, { mode: 0o600 });
    const names = Object.keys(files);
    if (options.json) return { file: path, contents: names };
    print(file);
    say(`${MARKS.ok} ${names.join(', ')}; look through it before you share it`);
    return undefined;
  },
});

/** The files of the bundle. @param doctor returns what `switchyard doctor` finds */
async function contents(client: GatewayClient, doctor: () => Promise<unknown>) {
  protectSecrets(Object.values(client.headers).map(header => header.replace(/^Bearer /, '')));
  const { version: node, platform, arch } = process;
  const created = new Date().toISOString();
  const own = {
    version: { version: productVersion(), node, platform, arch, created },
    settings: await settled(localSettings),
    doctor: await settled(doctor),
  };
  const limited = () => ({ signal: AbortSignal.timeout(LIMIT_MS) });
  const answers = await Promise.all(
    Object.entries(ROUTES).map(async ([name, path]): Promise<[string, unknown]> => [
      name,
      await settled(() => client.json('get', path, limited())),
    ]),
  );
  const metrics = await settled(async () =>
    (await client.request('get', '/metrics', limited())).text(),
  );
  const files = [...Object.entries(own), ...answers].map(([name, value]) => [
    `${name}.json`,
    redacted(writeJson(value, 2)),
  ]);
  return {
    ...Object.fromEntries(files),
    'metrics.txt': redacted(typeof metrics === 'string' ? metrics : metrics.error),
  } as Record<string, string>;
}

function localSettings() {
  const { sources, models } = loadConfig();
  const values: Record<string, unknown> = {};
  const origins: Record<string, string> = {};
  for (const [path, { value, origin }] of sources) {
    // Of a secret, whether it is set.
    values[path] = isSecretSetting(path) ? value !== '' : value;
    origins[path] = origin;
  }
  return { values, origins, models };
}

/** The result of `work` or its error: one failed part does not prevent the others. */
async function settled<T>(work: () => T | Promise<T>): Promise<T | { error: string }> {
  try {
    return await work();
  } catch (error) {
    return { error: (error as Error).message };
  }
}
