import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ownName } from '@switchyard/engine-api/own-name.js';
import { loadConfig, startersFile } from '../../platform/config/load-config.js';
import { isStandIn } from '../../platform/config/model-spec.js';
import { CliError } from '../shared/cli-error.js';
import { gatewayCommand, type Invocation } from '../shared/command.js';
import { type GatewayClient } from '../shared/gateway-client.js';
import { MARKS, say, onSay, confirm } from '../shared/terminal.js';
import { type AddPlan, missingEngine, planAdd } from './catalogue/add-plan.js';
import { Catalogue, type CatalogueEntry } from './catalogue/catalogue.js';
import { installEngineOf } from './catalogue/install-engine.js';
import { editModels } from './catalogue/models-document.js';
import { SourcePuller } from './pull.js';
import { reloadGateway, untilLoaded } from './served.js';

const BEAT_MS = 2000;

/**
 * Shows on the console of a gateway which models are on their way. A gateway that does not
 * answer or gives no leave misses this, and nothing else.
 */
class Arrivals implements Disposable {
  readonly #arrivals = new Map<string, { line: string; readonly stop: AbortController }>();
  readonly #beat = setInterval(() => this.#report(), BEAT_MS);
  #current: string | undefined;

  constructor(
    private readonly client: GatewayClient,
    names: readonly string[],
  ) {
    for (const name of names)
      this.#arrivals.set(name, {
        line: 'waits for its turn',
        stop: new AbortController(),
      });
    onSay(line => {
      const arrival = this.#current && this.#arrivals.get(this.#current);
      if (arrival) arrival.line = line.trim();
    });
    this.#report();
  }

  /** Lines that are said from now on belong to this model. @returns the order to stop it */
  begin(name: string): AbortSignal {
    this.#current = name;
    return this.#arrivals.get(name)!.stop.signal;
  }

  async end(state: 'added' | 'failed', line: string): Promise<void> {
    const name = this.#current!;
    const { stop } = this.#arrivals.get(name)!;
    this.#arrivals.delete(name);
    if (!stop.signal.aborted) await this.#send(name, state, line);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#beat);
  }

  #report() {
    for (const [name, { line, stop }] of this.#arrivals)
      void this.#send(name, 'running', line).then(state => {
        if (state === 'cancelled') stop.abort(new CliError('stopped on the console'));
      });
  }

  async #send(name: string, state: 'running' | 'added' | 'failed', line: string) {
    const report = { id: name, body: { state, line } };
    return this.client
      .call('post', '/admin/v1/catalogue/{name}/progress', report)
      .then(addition => addition.state)
      .catch(() => undefined);
  }
}

/**
 * What answers soonest first, and the voice before what can hear it; Whisper needs its Python
 * environment, and then takes over.
 */
const STARTERS = ['piper-en-joe', 'moonshine-tiny-en', 'whisper-base', 'smollm2-135m-instruct'];

const NOTES = `Moonshine tiny, a Piper voice, Whisper base and SmolLM2 135M Instruct: 390 MB, and 0.5 GB for the Python environment of
CTranslate2. Each model takes its aliases from models that stand in (\`stand_in\`, such as Moonshine, and engine
synthetic), whose workers stop when no name is left: a request for their id starts them again, for ten minutes without
work. Entries are written to models.yaml in data.dir, which is read beside workers.models_file; that one wins where
they differ.`;

export const modelsStarterCommand = gatewayCommand('starter [names...]', {
  about: 'fetch the starter set, with its engines, and load each model when it is there',
  arg: 'other models of the catalogue in its place',
  examples: ['models starter', 'models starter whisper-small qwen3-0.6b --yes'],
  notes: NOTES,
  options: { '-y, --yes': 'do not ask for confirmation' },
  async run(invocation) {
    const { arg: names, options } = invocation;
    const { settings } = loadConfig();
    const catalogue = Catalogue.load(settings.hub.catalogueFile);
    const wanted = names.length > 0 ? names : STARTERS;
    const missing = wanted.map(name => catalogue.find(name)).filter(entry => lacks(entry));
    for (const entry of missing)
      say(`  ${entry.summary}; licence: ${entry.licence ?? 'not stated'}`);
    if (missing.length === 0) return;
    if (!options.yes) await confirm('Fetch?', 'nothing was fetched');
    return { ok: (await fetchAll(missing, invocation)) === 0 };
  },
});

type Starting = Invocation<{ '-y, --yes': string }, readonly string[]>;

/** @returns how many did not arrive */
async function fetchAll(entries: readonly CatalogueEntry[], invocation: Starting) {
  const names = entries.map(({ name }) => name);
  using arrivals = new Arrivals(invocation.client, names);
  let failed = 0;
  for (const entry of entries) {
    const stop = arrivals.begin(entry.name);
    try {
      const signal = AbortSignal.any([invocation.signal, stop]);
      const line = await arrive(entry, invocation, signal);
      say(`${MARKS.ok} ${line}`);
      await arrivals.end('added', line);
    } catch (thrown) {
      const error: unknown = stop.aborted ? stop.reason : thrown;
      if (!(error instanceof CliError)) throw error;
      failed++;
      const again = `${ownName()} models starter`;
      const why = error.message.replace(/\.$/, '');
      say(`${MARKS.fail} ${entry.name}: ${why}. Then: ${again}`);
      await arrivals.end('failed', why);
    }
  }
  return failed;
}

/**
 * Whether the model is to be fetched: it is not in models.yaml, and no real model has its
 * names.
 */
function lacks({ name, aliases }: CatalogueEntry) {
  const { models } = loadConfig();
  if (models.some(({ id }) => id === name)) return false;
  const free = aliases.some(
    alias => !models.some(model => model.aliases.includes(alias) && !isStandIn(model)),
  );
  return free || aliases.length === 0;
}

/** Fetches and loads one model. @returns the line to print */
async function arrive(entry: CatalogueEntry, invocation: Starting, signal: AbortSignal) {
  signal.throwIfAborted();
  // Another program may have brought it meanwhile.
  if (!lacks(entry)) return `${entry.name} is there`;
  const { settings, models } = loadConfig();
  if (entry.engine === 'ctranslate2' || missingEngine(entry, settings) !== undefined)
    await installEngineOf(entry, { dataDir: settings.data.dir, signal });
  const plan = await planAdd(entry, {}, { settings, models, signal });
  const puller = new SourcePuller(settings, signal);
  for (const source of plan.sources) {
    say(`${entry.name}: ${await puller.describe(source)}`);
    await puller.pull(source);
  }
  await serve(plan, startersFile(settings), invocation, signal);
  const [first, ...others] = plan.aliases;
  const also = others.length > 0 ? ` (so are ${others.join(', ')})` : '';
  const [title] = entry.summary.split(',');
  return first ? `${first} is now ${title}${also}` : `${title} is there`;
}

/** Loads the model before its names move to it, so that they always answer. */
async function serve(
  { id, model, aliases }: AddPlan,
  path: string,
  { client, engines }: Starting,
  signal: AbortSignal,
) {
  if (!existsSync(path)) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, HEAD, { flag: 'wx' });
  }
  const file = { path, askEngine: (await engines()).objections };
  // Who tries it waits for the answer; lines of batches say that they are BATCH.
  const entry = { ...model!, default_priority: 'realtime' };
  const edit = (changes: { aliases: readonly string[]; stand_in?: boolean }) =>
    editModels(file, models => {
      models.freeAliases(changes.aliases, id);
      models.put({ ...entry, ...changes }, 'models starter');
    });
  // A stand-in without names would be loaded on request only.
  await edit({ aliases: [], stand_in: false });
  let isServed: boolean;
  try {
    isServed = await reloadGateway(client);
    if (isServed) await untilLoaded(client, id, signal);
  } catch (error) {
    await editModels(file, models => models.remove(id));
    await reloadGateway(client).catch(() => false);
    throw error;
  }
  await edit({ aliases, ...('stand_in' in entry ? { stand_in: true } : {}) });
  if (isServed) await reloadGateway(client);
}

const HEAD = `# Models that \`switchyard models starter\` and \`npm run up\` fetched; read beside workers.models_file.
models: []
`;
