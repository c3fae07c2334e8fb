import { type DynamicModule, Module } from '@nestjs/common';
import { SETTING_SOURCES, type SettingSources, sourcesOf } from './effective-settings.js';
import { readModels } from './load-config.js';
import { ModelList } from './model-list.js';
import { type ModelSpec } from './model-spec.js';
import { SETTINGS, type Settings } from './settings.js';

/**
 * Injection token of `readonly ModelSpec[]`: the validated entries of
 * `config/models.yaml`, as `ModelList` last read them. The array changes; keep it, not
 * what is in it.
 */
export const MODELS = Symbol('MODELS');

/** Reads the models file again. @throws ConfigError */
export type ReadModels = () => readonly ModelSpec[];

/**
 * Hands out what `loadConfig()` compiled; global, so every module reads the same values.
 */
@Module({})
export class ConfigModule {
  static forRoot(
    settings: Settings,
    models: readonly ModelSpec[],
    read: ReadModels = () => readModels(settings),
    sources: SettingSources = sourcesOf(settings),
  ): DynamicModule {
    const list = new ModelList(models, read);
    return {
      module: ConfigModule,
      global: true,
      providers: [
        { provide: SETTINGS, useValue: settings },
        { provide: SETTING_SOURCES, useValue: sources },
        { provide: MODELS, useValue: list.current },
        { provide: ModelList, useValue: list },
      ],
      exports: [SETTINGS, SETTING_SOURCES, MODELS, ModelList],
    };
  }
}
