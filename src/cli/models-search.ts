import { Command, Option } from 'commander';
import { loadConfig } from '../platform/config/load-config.js';
import { ENGINE_NAMES, MODEL_KINDS } from '../platform/config/model-spec.js';
import { missingEngine } from './catalogue/add-plan.js';
import { Catalogue } from './catalogue/catalogue.js';
import {
  type CatalogueEntry,
  devicesOf,
  engineOf,
  kindOf,
  knownBytes,
  languagesOf,
} from './catalogue/catalogue-entry.js';
import { byteText } from './hub/disk-space.js';
import { columns, print, printJson, say } from './shared/terminal.js';

interface SearchOptions {
  readonly kind?: string;
  readonly engine?: string;
  readonly language?: string;
  readonly device?: string;
  readonly json?: boolean;
}

export const modelsSearchCommand = (): Command =>
  new Command('search')
    .description('models of the catalogue')
    .argument('[words...]', 'all of them occur in name, summary or aliases')
    .addOption(new Option('--kind <kind>', 'what it does').choices(MODEL_KINDS))
    .addOption(
      new Option('--engine <engine>', 'engine that runs it').choices(ENGINE_NAMES),
    )
    .option('--language <tag>', 'language that it knows, such as de')
    .addOption(
      new Option('--device <device>', 'where it runs').choices(['cpu', 'cuda', 'vulkan']),
    )
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  switchyard models search whisper\n  switchyard models search --kind tts --language de',
    )
    .action((words: string[], options: SearchOptions) => {
      const { settings } = loadConfig();
      const catalogue = Catalogue.load(settings.hub.catalogueFile);
      const found = catalogue.entries.filter(entry => matches(entry, words, options));
      if (options.json)
        printJson({
          models: found.map(entry => ({
            ...entry,
            unavailable: missingEngine(entry, settings),
          })),
        });
      else if (found.length === 0) say(nothingFound(catalogue, words));
      else print(table(found));
    });

function nothingFound(catalogue: Catalogue, words: readonly string[]): string {
  if (words.length === 0) return 'no model matches';
  return `no model matches; closest names: ${catalogue.closest(words.join('-')).join(', ')}`;
}

function matches(
  entry: CatalogueEntry,
  words: readonly string[],
  wanted: SearchOptions,
): boolean {
  const text = [entry.name, entry.summary, ...entry.aliases].join(' ').toLowerCase();
  const languages = languagesOf(entry);
  return (
    words.every(word => text.includes(word.toLowerCase())) &&
    (wanted.kind ?? kindOf(entry)) === kindOf(entry) &&
    (wanted.engine ?? engineOf(entry)) === engineOf(entry) &&
    (wanted.language === undefined ||
      languages.length === 0 ||
      languages.includes(wanted.language)) &&
    (wanted.device === undefined || runsOn(entry).includes(wanted.device))
  );
}

/** Without a list of devices, the engine computes on the CPU, or elsewhere. */
const runsOn = (entry: CatalogueEntry): readonly string[] => {
  if (devicesOf(entry).length > 0) return devicesOf(entry);
  return engineOf(entry) === 'openai-http' ? ['cpu', 'cuda', 'vulkan'] : ['cpu'];
};

function table(found: readonly CatalogueEntry[]): string {
  const rows = found.map(entry => [
    ...[entry.name, kindOf(entry), engineOf(entry), devicesOf(entry).join(' ') || '-'],
    knownBytes(entry) === 0
      ? '?'
      : `${byteText(knownBytes(entry))}${entry.unverified ? '+' : ''}`,
    entry.licence ?? '-',
    entry.summary,
  ]);
  return columns([
    ['name', 'kind', 'engine', 'devices', 'size', 'licence', 'what'],
    ...rows,
  ]);
}
