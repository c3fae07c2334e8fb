import { isObject } from '@switchyard/engine-api/is-object.js';
import { CliError, EXIT } from '../shared/cli-error.js';
import { type CatalogueEntry, devicesOf } from './catalogue-entry.js';

interface EntryChoices {
  readonly id: string;
  readonly aliases: readonly string[];
  /** Default: the first one of the entry. */
  readonly device: string | undefined;
  /**
   * What the braces of the entry stand for: folders by source, `data`, `upstream`,
   * `upstream_model`, `model_id`.
   */
  readonly values: Readonly<Record<string, string | undefined>>;
}

/**
 * The entry of models.yaml that a catalogue entry stands for. @throws CliError for a
 * device or value it cannot have
 */
export function modelEntry(
  entry: CatalogueEntry,
  { id, aliases, device, values }: EntryChoices,
) {
  const [first] = devicesOf(entry);
  const chosen = device ?? first;
  if (device !== undefined && !devicesOf(entry).includes(device)) {
    const known =
      devicesOf(entry).join(', ') || `none; ${entry.name} runs where its engine does`;
    throw new CliError(
      `${entry.name} has no device ${device}; it has ${known}`,
      EXIT.usage,
    );
  }
  const changes = chosen === undefined ? {} : (entry.devices?.[chosen] ?? {});
  const { kind, engine, ...rest } = filled(merged(entry.entry, changes), {
    ...values,
    model_id: id,
  }) as Entry;
  return { id, kind, engine, ...(aliases.length > 0 && { aliases }), ...rest };
}

type Entry = Readonly<Record<string, unknown>>;

/** Maps are joined, everything else is replaced. */
function merged(base: Entry, changes: Entry): Entry {
  const joined = Object.entries(changes).map(([name, value]) => {
    const before = base[name];
    return [
      name,
      isObject(before) && isObject(value) ? merged(before, value) : value,
    ] as const;
  });
  return { ...base, ...Object.fromEntries(joined) };
}

/**
 * Braces that are no names of ours stay: `{port}` is filled in when the worker starts.
 */
function filled(value: unknown, values: EntryChoices['values']): unknown {
  if (Array.isArray(value)) return value.map(item => filled(item, values));
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, filled(item, values)]),
    );
  }
  if (typeof value !== 'string') return value;
  return value.replace(/\{([\w.-]+)\}/g, (braces: string, name: string) => {
    if (!Object.hasOwn(values, name)) return braces;
    return values[name] ?? missing(name);
  });
}

function missing(name: string): never {
  const option = `--${name.replaceAll('_', '-')}`;
  throw new CliError(
    `this model runs on a server elsewhere: ${option} says where (see --help)`,
    EXIT.usage,
  );
}
