import { type DynamicModule, Module } from '@nestjs/common';
import { type ModelSpec } from './model-spec.js';
import { SETTINGS, type Settings } from './settings.js';

/** Injection token of `readonly ModelSpec[]`: the validated entries of `config/models.yaml`. */
export const MODELS = Symbol('MODELS');

/** Hands out what `loadConfig()` compiled; global, so every module reads the same values. */
@Module({})
export class ConfigModule {
  static forRoot(settings: Settings, models: readonly ModelSpec[]): DynamicModule {
    return {
      module: ConfigModule,
      global: true,
      providers: [
        { provide: SETTINGS, useValue: settings },
        { provide: MODELS, useValue: models },
      ],
      exports: [SETTINGS, MODELS],
    };
  }
}
