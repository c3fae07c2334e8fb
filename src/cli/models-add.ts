import { resolve } from 'node:path';
import { Command } from 'commander';
import { loadConfig } from '../platform/config/load-config.js';
import { type EngineChecks } from './shared/engine-checks.js';
import {
  type AddPlan,
  type PlannedSource,
  type PlanOptions,
  planAdd,
} from './catalogue/add-plan.js';
import { Catalogue } from './catalogue/catalogue.js';
import {
  type EditedFile,
  editModels,
  type ModelsEdit,
  previewModels,
} from './catalogue/models-document.js';
import { CliError, EXIT, interruptible } from './shared/cli-error.js';
import { confirm } from './shared/confirm.js';
import {
  type GatewayClientOptions,
  withGatewayOptions,
} from './shared/gateway-client.js';
import { byteText } from './hub/disk-space.js';
import { listFiles } from './hub/file-listing.js';
import { type HubHttp } from './hub/hub-http.js';
import { pullModel } from './hub/model-pull.js';
import { sourceText } from './hub/model-source.js';
import { hubHttp, STALL_MS } from './models-pull.js';
import { reloadGateway, type Served, untilLoaded } from './models-served.js';
import { pullProgress } from './pull-progress.js';
import { MARKS, print, printJson, say } from './shared/terminal.js';

interface AddOptions extends PlanOptions, GatewayClientOptions {
  readonly tokenFile?: string;
  readonly yes?: boolean;
  readonly load: boolean;
  readonly wait: boolean;
  readonly quiet?: boolean;
  readonly json?: boolean;
}

const HELP = `
Examples:
  switchyard models search whisper
  switchyard models add whisper-small
  switchyard models add qwen3-8b nomic-embed-text-v1.5 --device cuda --yes
  switchyard models add vllm --as qwen --upstream http://gpu-7:8000/v1 --upstream-model Qwen/Qwen3-8B

Files that are there are not downloaded again, and an interrupted download resumes. Aliases such as whisper-1 move from
pocketsphinx, flite and synthetic; a real model keeps its own unless --aliases names them. An entry of models.yaml that
is there already stays as it is, unless --replace. The gateway loads the model without a restart.`;

export const modelsAddCommand = ({ objections }: EngineChecks): Command =>
  withGatewayOptions(new Command('add'))
    .description(
      'download a model of the catalogue, write it into models.yaml and load it',
    )
    .argument('<names...>', 'names as `models search` lists them')
    .option('--as <id>', 'id in models.yaml (default: the name)')
    .option(
      '--device <device>',
      'cpu, cuda or vulkan, as far as the model has options for it (default: its first)',
    )
    .option('--aliases <names>', 'comma-separated names to take, also from real models')
    .option('--no-aliases', 'take no names')
    .option('--upstream <url>', 'address of a server that runs elsewhere, up to /v1')
    .option('--upstream-model <name>', 'name of the model there')
    .option('--replace', 'write the entry of models.yaml anew')
    .option(
      '--token-file <file>',
      'file with the access token of the hub (default: HF_TOKEN, hub.token_file)',
    )
    .option('-y, --yes', 'do not ask for confirmation')
    .option(
      '--no-load',
      'do not ask the gateway to load it; it reads the models file at its next start',
    )
    .option('--no-wait', 'do not wait until the gateway has loaded it')
    .option('-q, --quiet', 'show no progress')
    .option('--json', 'one JSON document')
    .addHelpText('after', HELP)
    .action((names: string[], options: AddOptions) =>
      interruptible(signal => add(names, options, { objections, signal })),
    );

async function add(
  names: readonly string[],
  options: AddOptions,
  { objections, signal }: Pick<EngineChecks, 'objections'> & { signal: AbortSignal },
): Promise<void> {
  if (names.length > 1 && options.as !== undefined)
    throw new CliError('--as is for one model', EXIT.usage);
  const { settings, models } = loadConfig({ askEngine: objections });
  const catalogue = Catalogue.load(settings.hub.catalogueFile);
  const entries = [...new Set(names)].map(name => catalogue.find(name));
  const plans: AddPlan[] = [];
  for (const entry of entries) {
    const before = plans.flatMap(({ model, id, aliases }) =>
      model ? [{ id, aliases, engine: 'planned' as never }] : [],
    );
    plans.push(
      await planAdd(entry, options, { settings, models: [...before, ...models], signal }),
    );
  }
  const file = { path: settings.workers.modelsFile, askEngine: objections };
  const edit = editOf(plans);
  // What models.yaml would refuse is found before the first byte is downloaded.
  await previewModels(file, edit);
  const http = hubHttp(options.tokenFile, settings);
  for (const plan of plans) say(await planText(plan, http, signal));
  if (!options.yes) await confirm('Add?', 'nothing was added');
  for (const plan of plans)
    for (const source of plan.sources) await pull(source, http, { options, signal });
  await write(file, edit);
  await report(plans, options, { file, signal });
}

const editOf =
  (plans: readonly AddPlan[]): ModelsEdit =>
  models => {
    for (const { entry, id, model, aliases } of plans) {
      if (!model) continue;
      models.freeAliases(aliases, id);
      models.put(
        model,
        `switchyard models add ${entry.name}${entry.licence ? `; licence: ${entry.licence}` : ''}`,
      );
    }
  };

async function planText(
  { entry, id, sources, model, moved, kept }: AddPlan,
  http: HubHttp,
  signal: AbortSignal,
) {
  const files = await Promise.all(
    sources.map(source => sourceLine(source, http, signal)),
  );
  const names = (text: string, map: Readonly<Record<string, string>>) =>
    Object.entries(map).map(([alias, holder]) => `  alias    ${alias} ${text} ${holder}`);
  const written = model
    ? `${id}, ${String(model.engine)}`
    : `${id} is there and stays as it is (--replace)`;
  return [
    `${entry.name}: ${entry.summary}`,
    ...(entry.licence === undefined ? [] : [`  licence  ${entry.licence}`]),
    ...files.map(line => `  files    ${line}`),
    `  entry    ${written}`,
    ...names('moves from', moved),
    ...names('stays with', kept),
  ].join('\n');
}

async function sourceLine(
  { source, folder, files, present }: PlannedSource,
  http: HubHttp,
  signal: AbortSignal,
) {
  if (present) return `all of ${sourceText(source)} in ${resolve(folder)}`;
  const listing = await listFiles(http, { source, include: [], expected: files }, signal);
  const bytes = listing.files.reduce((sum, { size = 0 }) => sum + size, 0);
  return `${listing.files.length} of ${sourceText(source)}, ${byteText(bytes)} → ${resolve(folder)}`;
}

async function pull(
  { source, folder, files, present }: PlannedSource,
  http: HubHttp,
  { options, signal }: { options: AddOptions; signal: AbortSignal },
): Promise<void> {
  if (present) return;
  const progress = pullProgress(options.quiet === true);
  try {
    const order = { source, folder, include: Object.keys(files), expected: files };
    await pullModel(order, {
      http,
      signal,
      observe: progress.observe,
      stallMs: STALL_MS,
    });
  } finally {
    progress.stop();
  }
}

/**
 * The files are there whatever becomes of the entry, so the next
 * attempt downloads nothing.
 */
async function write(file: EditedFile, edit: ModelsEdit): Promise<void> {
  try {
    await editModels(file, edit);
  } catch (error) {
    say(
      `the files are downloaded, ${file.path} is as it was; mend it and run the command again`,
    );
    throw error;
  }
}

async function report(
  plans: readonly AddPlan[],
  options: AddOptions,
  { file, signal }: { file: EditedFile; signal: AbortSignal },
): Promise<void> {
  const client = options.load ? await reloadGateway(options) : undefined;
  const served: Served[] = [];
  for (const { id } of plans) {
    if (client && options.wait) say(`loading ${id} …`);
    served.push(
      !client
        ? 'no gateway'
        : options.wait
          ? await untilLoaded(client, id, signal)
          : 'loading',
    );
  }
  const models = plans.map(({ id, model, aliases, moved, sources }, at) => ({
    ...{ id, engine: model?.engine, aliases, moved, gateway: served[at] },
    folders: sources.map(({ folder }) => folder),
  }));
  if (options.json) return printJson({ models_file: file.path, models });
  for (const { id, aliases, gateway } of models) {
    print(
      `${MARKS.ok} ${[id, ...aliases].join(', ')}: ${gateway === 'no gateway' ? `in ${resolve(file.path)}` : gateway}`,
    );
  }
}
