import { resolve } from 'node:path';
import { loadConfig } from '../../platform/config/load-config.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { usageError } from '../shared/cli-error.js';
import { gatewayCommand, type Invocation } from '../shared/command.js';
import { MARKS, say, confirm } from '../shared/terminal.js';
import { type AddPlan, missingEngine, planAdd } from './catalogue/add-plan.js';
import { Catalogue } from './catalogue/catalogue.js';
import { installEngineOf } from './catalogue/install-engine.js';
import { editModels, type ModelsDocument, previewModels } from './catalogue/models-document.js';
import { SourcePuller } from './pull.js';
import { reloadGateway, untilLoaded } from './served.js';

const HELP = `
Examples:
  switchyard models search whisper
  switchyard models add whisper-small
  switchyard models add qwen3-8b nomic-embed-text-v1.5 --device cuda --yes
  switchyard models add vllm --as qwen --upstream http://gpu-7:8000/v1 --upstream-model Qwen/Qwen3-8B

An interrupted download resumes. Aliases such as whisper-1 move from models that stand in; others keep theirs unless
--aliases names them. An existing entry of models.yaml stays as it is, unless --replace. An engine that is not installed
is installed first, after a question or with --yes. The gateway loads the model without a restart.`;

const OPTIONS = {
  '--as <id>': 'id in models.yaml (default: the name)',
  '--device <device>':
    'cpu, cuda or vulkan, as far as the model has options for it (default: its first)',
  '--aliases <names>': 'comma-separated names to take, also from real models',
  '--no-aliases': 'take no names',
  '--upstream <url>': 'address of a server that runs elsewhere, up to /v1',
  '--upstream-model <name>': 'name of the model there',
  '--replace': 'write the entry of models.yaml anew',
  '--token-file <file>':
    'file with the access token of the hub (default: HF_TOKEN, hub.token_file)',
  '-y, --yes': 'do not ask for confirmation',
  '--no-load': 'do not ask the gateway to load it; it reads the models file at its next start',
  '--no-wait': 'do not wait until the gateway has loaded it',
  '-q, --quiet': 'show no progress',
} as const;

export const modelsAddCommand = gatewayCommand('add <names...>', {
  about: 'download a model of the catalogue, write it into models.yaml and load it',
  arg: 'names as `models search` lists them',
  help: HELP,
  options: OPTIONS,
  json: true,
  async run(invocation) {
    const { options, signal } = invocation;
    const { settings, plans } = await planned(invocation);
    const { objections: askEngine } = await invocation.engines();
    const file = { path: settings.workers.modelsFile, askEngine };
    const edit = editOf(plans);
    // What models.yaml would refuse is found before the first byte is downloaded.
    await previewModels(file, edit);
    const puller = new SourcePuller(settings, signal, options);
    for (const plan of plans) say(await planText(plan, puller));
    if (!options.yes) await confirm('Add?', 'nothing was added');
    for (const { sources } of plans) for (const source of sources) await puller.pull(source);
    // They are there whatever becomes of the entry: the next attempt downloads nothing.
    await editModels(file, edit).catch((error: unknown) => {
      say(`the files are downloaded, ${file.path} is as it was; mend it and run the command again`);
      throw error;
    });
    const models = await served(plans, invocation);
    return { models_file: file.path, models };
  },
  text: ({ models_file: file, models }) =>
    models
      .map(({ id, aliases, gateway }) => {
        const state = gateway === 'no gateway' ? `in ${resolve(file)}` : gateway;
        return `${MARKS.ok} ${[id, ...aliases].join(', ')}: ${state}`;
      })
      .join('\n'),
});

type Adding = Invocation<typeof OPTIONS, readonly string[]>;

async function planned({ arg: names, options, engines, signal }: Adding) {
  if (names.length > 1 && options.as !== undefined) throw usageError('--as is for one model');
  const { settings } = loadConfig();
  const catalogue = Catalogue.load(settings.hub.catalogueFile);
  const entries = [...new Set(names)].map(name => catalogue.find(name));
  for (const entry of entries) {
    const missing = missingEngine(entry, settings);
    if (missing === undefined) continue;
    say(missing);
    if (!options.yes) await confirm('Install it now?', 'nothing was installed or added');
    const { dir: dataDir } = settings.data;
    await installEngineOf(entry, { dataDir, cuda: options.device === 'cuda', signal });
  }
  const { models } = loadConfig({ askEngine: (await engines()).objections });
  const plans: AddPlan[] = [];
  const known: Pick<ModelSpec, 'id' | 'engine' | 'aliases'>[] = [...models];
  for (const entry of entries) {
    const plan = await planAdd(entry, options, { settings, models: known, signal });
    plans.push(plan);
    const { model, id, aliases } = plan;
    if (model) known.unshift({ id, aliases, engine: 'planned' as never });
  }
  return { settings, plans };
}

const editOf = (plans: readonly AddPlan[]) => (models: ModelsDocument) => {
  for (const { entry, id, model, aliases } of plans) {
    if (!model) continue;
    models.freeAliases(aliases, id);
    models.put(
      model,
      `switchyard models add ${entry.name}${entry.licence ? `; licence: ${entry.licence}` : ''}`,
    );
  }
};

async function planText({ entry, id, sources, model, moved, kept }: AddPlan, puller: SourcePuller) {
  const files = await Promise.all(sources.map(source => puller.describe(source)));
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

/** What a running gateway reports after the file changed. */
async function served(plans: readonly AddPlan[], invocation: Adding) {
  const { load, wait } = invocation.options;
  const answers = load && (await reloadGateway(invocation.client));
  const models = [];
  for (const { id, model, aliases, moved, sources } of plans) {
    let gateway = answers ? 'loading' : 'no gateway';
    if (answers && wait) {
      say(`loading ${id} …`);
      gateway = await untilLoaded(invocation.client, id, invocation.signal);
    }
    const folders = sources.map(({ folder }) => folder);
    models.push({ id, engine: model?.engine, aliases, moved, gateway, folders });
  }
  return models;
}
