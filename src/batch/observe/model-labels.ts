import { Inject, Injectable } from '@nestjs/common';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { TargetResolver } from '../execute/target-resolver.js';

/** Label values of models: names that configuration knows, by their canonical id; anything else is `other`, so that clients make no series. */
@Injectable()
export class ModelLabels {
  readonly #labels = new Map<string, string>();

  constructor(@Inject(MODELS) models: readonly ModelSpec[], targets: TargetResolver) {
    for (const { id, aliases } of models) for (const name of [id, ...aliases]) this.#labels.set(name, id);
    for (const name of targets.knownModels) this.#labels.set(name, name);
  }

  of(model: string): string {
    return this.#labels.get(model) ?? 'other';
  }
}
