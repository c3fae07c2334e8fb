import { isDeepStrictEqual } from 'node:util';
import { type Observable, Subject } from 'rxjs';
import { type ModelSpec } from './model-spec.js';

/** Ids of the models that differ from the ones before. */
export interface ModelChanges {
  readonly added: readonly string[];
  /** Any field but `aliases`: such a model is computed by other workers from now on. */
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
  readonly changes$: Observable<ModelChanges> = this.#changes.asObservable();

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
    const [before, after] = [[...this.#current], this.read()];
    const was = (id: string) => before.find(model => model.id === id);
    const changes = {
      added: after.filter(({ id }) => !was(id)).map(({ id }) => id),
      changed: after
        .filter(model => differs(was(model.id) ?? model, model))
        .map(({ id }) => id),
      removed: before
        .filter(({ id }) => !after.some(model => model.id === id))
        .map(({ id }) => id),
    };
    this.#current.splice(0, Infinity, ...after);
    this.#changes.next(changes);
    return changes;
  }
}

/** Aliases are names at the gateway; everything else is told to workers. */
export const differs = (before: ModelSpec, after: ModelSpec): boolean =>
  !isDeepStrictEqual({ ...before, aliases: [] }, { ...after, aliases: [] });
