import { isDeepStrictEqual } from 'node:util';
import { type DynamicModule, Module } from '@nestjs/common';
import { Subject } from 'rxjs';
import { readModels } from './load-config.js';
import { camelCase, type ModelSpec } from './model-spec.js';
import { type SettingValue } from './setting-definition.js';
import { SettingSources } from './setting-source.js';
import { Settings } from './settings.js';

/** Ids of the models that differ from the ones before. */
interface ModelChanges {
  readonly added: readonly string[];
  /** Any field but its names and whether it stands in: such a model is computed by other workers from now on. */
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/**
 * The models that are served now. `current` is one array for the life of the process, so
 * everyone who was handed it sees the entries as they are; who keeps something per model
 * listens to `changes$`.
 */
export class ModelList {
  readonly #current: ModelSpec[];
  readonly #changes = new Subject<ModelChanges>();
  readonly changes$ = this.#changes.asObservable();

  /** @param read the models file as it is now. @throws ConfigError */
  constructor(
    models: readonly ModelSpec[],
    private readonly read: () => readonly ModelSpec[] = () => models,
  ) {
    this.#current = [...models];
  }

  get current(): readonly ModelSpec[] {
    return this.#current;
  }

  find(id: string): ModelSpec | undefined {
    return this.#current.find(model => model.id === id);
  }

  /**
   * Takes the entries of the models file as it is now, all or none. @throws ConfigError
   * with every problem of it
   */
  reload(): ModelChanges {
    const before = new Map(this.#current.map(model => [model.id, model]));
    const after = new Map(this.read().map(model => [model.id, model]));
    const ids = [...after.keys()];
    const changes = {
      added: ids.filter(id => !before.has(id)),
      changed: ids.filter(id => before.has(id) && differs(before.get(id)!, after.get(id)!)),
      removed: [...before.keys()].filter(id => !after.has(id)),
    };
    this.#current.splice(0, Infinity, ...after.values());
    this.#changes.next(changes);
    return changes;
  }
}

/** Fields that no worker sees. */
const NAMES = { aliases: [], standIn: undefined };

/** Aliases are names at the gateway; everything else is told to workers. */
export const differs = (before: ModelSpec, after: ModelSpec): boolean =>
  !isDeepStrictEqual({ ...before, ...NAMES }, { ...after, ...NAMES });

/**
 * Injection token of `readonly ModelSpec[]`: the validated entries of
 * `config/models.yaml`, as `ModelList` last read them. The array changes; keep it, not
 * what is in it.
 */
export const MODELS = Symbol('MODELS');

/**
 * Hands out what `loadConfig()` compiled; global, so every module reads the same values.
 */
@Module({})
export class ConfigModule {
  static forRoot(
    settings: Settings,
    models: readonly ModelSpec[],
    read = () => readModels(settings),
    sources = sourcesOf(settings),
  ): DynamicModule {
    const list = new ModelList(models, read);
    return {
      module: ConfigModule,
      global: true,
      providers: [
        { provide: Settings, useValue: settings },
        { provide: SettingSources, useValue: sources },
        { provide: MODELS, useValue: list.current },
        { provide: ModelList, useValue: list },
      ],
      exports: [Settings, SettingSources, MODELS, ModelList],
    };
  }
}

/** Sources of settings that were not read from file and environment. */
function sourcesOf(settings: Settings): SettingSources {
  const sections = settings as unknown as Record<string, Record<string, SettingValue>>;
  const sources = new SettingSources();
  for (const [path, { value: fallback }] of sources) {
    const [section, name] = path.split('.') as [string, string];
    const value = sections[section]?.[camelCase(name)] ?? fallback;
    if (value !== fallback) sources.set(path, { value, origin: 'argument' });
  }
  return sources;
}
