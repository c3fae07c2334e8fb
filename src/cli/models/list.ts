import { loadConfig } from '../../platform/config/load-config.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { gatewayCommand } from '../shared/command.js';
import { type GatewayClient } from '../shared/gateway-client.js';
import { table, dim, byteText } from '../shared/terminal.js';
import { ModelStore } from './hub/model-store.js';
import { usedPaths, usersOf } from './hub/used-paths.js';

interface Health {
  /** Models of the gateway; absent if the key may not see them. */
  readonly models?: readonly {
    readonly id: string;
    readonly ready: boolean;
    readonly workers: Record<string, number>;
  }[];
}

const LIMIT_MS = 2000;

export const modelsListCommand = gatewayCommand('list', {
  about: 'models in models.yaml and on disk, with their state if a gateway runs',
  examples: ['models list', 'models list --url http://gpu-1:8000'],
  json: true,
  async run(invocation) {
    const { settings, models } = loadConfig();
    const store = new ModelStore(settings.hub.modelsDir);
    const health = await healthOf(invocation).catch(() => undefined);
    return {
      models_dir: store.folder,
      gateway: health !== undefined,
      models: await listing(models, store, health),
    };
  },
  text({ models_dir: folder, gateway, models }) {
    const rows = table(
      ['model', 'kind', 'engine', 'state', 'size', 'files', 'revision'],
      models,
      model => [
        model.name,
        model.kind,
        model.engine ?? 'not in models.yaml',
        model.state,
        model.bytes === undefined ? undefined : byteText(model.bytes),
        model.files,
        model.revision?.slice(0, 12),
      ],
    );
    const unknown = gateway ? '' : '; no gateway answers, so states are unknown';
    return `${rows}\n\n${dim(`models on disk: ${folder}${unknown}`)}`;
  },
});

async function listing(
  models: readonly ModelSpec[],
  store: ModelStore,
  health: Health | undefined,
) {
  const stored = await store.list();
  const unused = stored.filter(({ name }) => usersOf(name, models, store).length === 0);
  const configured = models.map(model => {
    const used = usedPaths(model, store).map(path => path.stored);
    return { name: model.id, model, disk: stored.find(one => used.includes(one.name)) };
  });
  // Folders on disk that no entry of models.yaml uses.
  const others = unused.map(disk => ({ name: disk.name, model: undefined, disk }));
  return [...configured, ...others].map(({ name, model, disk }) => ({
    name,
    kind: model?.kind,
    engine: model?.engine,
    aliases: model?.aliases,
    state: model && stateOf(name, health),
    folder: disk?.folder,
    bytes: disk?.bytes,
    files: disk?.state,
    source: disk?.manifest?.source,
    revision: disk?.manifest?.revision,
  }));
}

/** `ready`, `starting 1`, …; undefined when no gateway answers. */
function stateOf(id: string, health: Health | undefined): string | undefined {
  if (!health?.models) return undefined;
  const model = health.models.find(one => one.id === id);
  if (!model) return 'not loaded by the gateway';
  if (model.ready) return 'ready';
  const workers = Object.entries(model.workers).map(([state, count]) => `${state} ${count}`);
  return workers.join(', ') || 'no worker';
}

/** That no gateway answers, or none is named rightly, is no error of this command. */
async function healthOf({ client }: { readonly client: GatewayClient }) {
  const signal = AbortSignal.timeout(LIMIT_MS);
  return client.json<Health>('get', '/health', { signal });
}
