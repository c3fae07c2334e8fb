import { loadConfig } from '../../platform/config/load-config.js';
import { ENGINE_NAMES, MODEL_KINDS } from '../../platform/config/model-spec.js';
import { command, type OptionValues } from '../shared/command.js';
import { table, print, say, byteText } from '../shared/terminal.js';
import { missingEngine } from './catalogue/add-plan.js';
import { Catalogue, type CatalogueEntry, devicesOf, knownBytes } from './catalogue/catalogue.js';

const DEVICES = ['cpu', 'cuda', 'vulkan'];
const OPTIONS = {
  '--kind <kind>': ['what it does', MODEL_KINDS],
  '--engine <engine>': ['engine that runs it', ENGINE_NAMES],
  '--language <tag>': 'language that it knows, such as de',
  '--device <device>': ['where it runs', DEVICES],
} as const;

export const modelsSearchCommand = command('search [words...]', {
  about: 'models of the catalogue',
  arg: 'all of them occur in name, summary or aliases',
  examples: ['models search whisper', 'models search --kind tts --language de'],
  options: OPTIONS,
  json: true,
  run({ arg: words, options }) {
    const { settings } = loadConfig();
    const catalogue = Catalogue.load(settings.hub.catalogueFile);
    const found = catalogue.entries.filter(entry => matches(entry, words, options));
    if (options.json)
      return {
        models: found.map(entry => ({
          ...entry,
          unavailable: missingEngine(entry, settings),
        })),
      };
    if (found.length > 0) return print(entryTable(found));
    const closest = catalogue.closest(words.join('-')).join(', ');
    return say(`no model matches${words.length === 0 ? '' : `; closest names: ${closest}`}`);
  },
});

function matches(
  entry: CatalogueEntry,
  words: readonly string[],
  { kind, engine, language, device }: OptionValues<typeof OPTIONS>,
) {
  const text = [entry.name, entry.summary, ...entry.aliases].join(' ').toLowerCase();
  const { kind: own, engine: runner, languages = [] } = entry.entry;
  return (
    words.every(word => text.includes(word.toLowerCase())) &&
    [undefined, own].includes(kind) &&
    [undefined, runner].includes(engine) &&
    (languages.length === 0 || [undefined, ...languages].includes(language)) &&
    [undefined, ...runsOn(entry)].includes(device)
  );
}

/** Without a list of devices, the engine computes on the CPU, or elsewhere. */
function runsOn(entry: CatalogueEntry) {
  if (devicesOf(entry).length > 0) return devicesOf(entry);
  return entry.entry.engine === 'openai-http' ? DEVICES : ['cpu'];
}

const sizeOf = (entry: CatalogueEntry) =>
  knownBytes(entry) === 0 ? '?' : `${byteText(knownBytes(entry))}${entry.unverified ? '+' : ''}`;

const entryTable = (models: readonly CatalogueEntry[]) =>
  table(['name', 'kind', 'engine', 'devices', 'size', 'licence', 'what'], models, entry => [
    entry.name,
    entry.entry.kind,
    entry.entry.engine,
    devicesOf(entry).join(' ') || '-',
    sizeOf(entry),
    entry.licence,
    entry.summary,
  ]);
