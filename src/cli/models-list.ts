import { Command } from 'commander';
import { loadConfig } from '../platform/config/load-config.js';
import { examples } from './shared/examples.js';
import { type ModelSpec } from '../platform/config/model-spec.js';
import { byteText } from './hub/disk-space.js';
import { ModelStore, type StoredModel } from './hub/model-store.js';
import {
  GatewayClient,
  type GatewayClientOptions,
  withGatewayOptions,
} from './shared/gateway-client.js';
import { usedPaths, usersOf } from './shared/used-paths.js';
import { columns, dim, print, printJson } from './shared/terminal.js';

interface Health {
  /** Absent if the key may not see them. */
  readonly models?: readonly {
    readonly id: string;
    readonly ready: boolean;
    readonly workers: Record<string, number>;
  }[];
}

interface ListedModel {
  readonly name: string;
  /** In models.yaml; folders on disk that no entry uses have none. */
  readonly kind?: string;
  readonly engine?: string;
  readonly aliases?: readonly string[];
  /**
   * From the running gateway: `ready`, `starting 1`, …; absent when it does not answer.
   */
  readonly state?: string;
  readonly folder?: string;
  readonly bytes?: number;
  readonly source?: string;
  readonly revision?: string;
  readonly files?: StoredModel['state'];
}

const LIMIT_MS = 2000;

export const modelsListCommand = (): Command =>
  withGatewayOptions(new Command('list'))
    .description('models in models.yaml and on disk, with their state if a gateway runs')
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      examples(['models list', 'models list --url http://gpu-1:8000']),
    )
    .action(async (options: GatewayClientOptions & { json?: boolean }) => {
      const { settings, models } = loadConfig();
      const shelf = new ModelStore(settings.hub.modelsDir);
      const health = await healthOf(options);
      const rows = await listing(models, shelf, health);
      if (options.json)
        printJson({
          models_dir: shelf.folder,
          gateway: health !== undefined,
          models: rows,
        });
      else print(`${table(rows)}\n\n${dim(footer(shelf, health))}`);
    });

async function listing(
  models: readonly ModelSpec[],
  shelf: ModelStore,
  health: Health | undefined,
) {
  const shelved = await shelf.list();
  const configured = models.map((model): ListedModel => {
    const { id: name, kind, engine, aliases } = model;
    const names = usedPaths(model, shelf).map(path => path.shelved);
    const disk = shelved.find(one => names.includes(one.name));
    return {
      name,
      kind,
      engine,
      aliases,
      ...stateOf(name, health),
      ...(disk && onDisk(disk)),
    };
  });
  const unused = shelved.filter(({ name }) => usersOf(name, models, shelf).length === 0);
  return [
    ...configured,
    ...unused.map((disk): ListedModel => ({ name: disk.name, ...onDisk(disk) })),
  ];
}

const onDisk = ({ folder, bytes, manifest, state }: StoredModel) => ({
  ...{ folder, bytes, files: state },
  ...(manifest && { source: manifest.source, revision: manifest.revision }),
});

function stateOf(id: string, health: Health | undefined): { state?: string } {
  if (!health?.models) return {};
  const model = health.models.find(one => one.id === id);
  if (!model) return { state: 'not loaded by the gateway' };
  const workers = Object.entries(model.workers).map(
    ([state, count]) => `${state} ${count}`,
  );
  return { state: model.ready ? 'ready' : workers.join(', ') || 'no worker' };
}

/** Undefined if no gateway answers, which is no error here. */
async function healthOf(options: GatewayClientOptions): Promise<Health | undefined> {
  try {
    return await new GatewayClient(options).json<Health>('/health', {
      signal: AbortSignal.timeout(LIMIT_MS),
    });
  } catch {
    return undefined;
  }
}

function table(rows: readonly ListedModel[]): string {
  const cells = rows.map(row => [
    row.name,
    row.kind ?? '-',
    row.engine ?? 'not in models.yaml',
    row.state ?? '-',
    row.bytes === undefined ? '-' : byteText(row.bytes),
    row.files ?? '-',
    row.revision?.slice(0, 12) ?? '-',
  ]);
  return columns([
    ['model', 'kind', 'engine', 'state', 'size', 'files', 'revision'],
    ...cells,
  ]);
}

const footer = (shelf: ModelStore, health: Health | undefined): string =>
  `models on disk: ${shelf.folder}${health ? '' : '; no gateway answers, so states are unknown'}`;
