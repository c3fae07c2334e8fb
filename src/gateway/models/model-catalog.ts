import { Injectable } from '@nestjs/common';
import { PASSED_ON } from '../../contracts/openai/field-types.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { mayUse, type Principal } from '../../platform/auth/principal.js';
import { ModelList } from '../../platform/config/config.module.js';
import { isPattern, type ModelSpec } from '../../platform/config/model-spec.js';

const KIND_NAMES = {
  stt: 'speech recognition',
  tts: 'speech synthesis',
  llm: 'text generation',
  embedding: 'text embedding',
} as const;

/** Their servers get the body as it came, and may know fields that nothing here knows. */
const PASSING_ENGINES: readonly string[] = ['openai-http', 'external'];

/** Whether another server reads the request, and may know more than this one. */
export const isPassedOn = ({ engine }: ModelSpec): boolean => PASSING_ENGINES.includes(engine);

/** Kinds whose bodies reach the upstream as they came; requests with audio are built anew. */
const PASSED_KINDS: readonly string[] = ['llm', 'embedding'];

export const canHonour = (model: ModelSpec, capability: string): boolean =>
  capability === PASSED_ON
    ? isPassedOn(model) && PASSED_KINDS.includes(model.kind)
    : model.capabilities.includes(capability);

const mayMean = (name: string, { aliases }: ModelSpec): boolean =>
  aliases.filter(isPattern).some(pattern => {
    const [head = '', tail = ''] = pattern.split('*');
    return name.length >= head.length + tail.length && name.startsWith(head) && name.endsWith(tail);
  });

/** Resolves the model names of requests: the scheduler sees canonical ids only. */
@Injectable()
export class ModelCatalog {
  readonly #byName = new Map<string, ModelSpec>();

  readonly #models: readonly ModelSpec[];

  constructor(list: ModelList) {
    this.#models = list.current;
    this.#name();
    list.changes$.subscribe(() => this.#name());
  }

  /**
   * To the caller, models that its key may not use do not exist: what requests name is
   * looked up here, and errors list these only.
   */
  usableBy({ terms }: Pick<Principal, 'terms'>): ModelCatalog {
    if (!terms?.models) return this;
    const usable = this.#models.filter(({ id }) => mayUse(terms, id));
    return new ModelCatalog(new ModelList(usable));
  }

  /** By what clients may put into `model`: the canonical id or an alias. */
  get byName(): ReadonlyMap<string, ModelSpec> {
    return this.#byName;
  }

  all(): readonly ModelSpec[] {
    return this.#models;
  }

  /** The model of that name, if its server answers such requests by itself. */
  answering(name: unknown, capability: string): ModelSpec | undefined {
    if (typeof name !== 'string') return undefined;
    const model = this.#byName.get(name) ?? this.#matching(name, 'llm');
    return model?.capabilities.includes(capability) ? model : undefined;
  }

  #matching(name: string, kind: ModelSpec['kind']): ModelSpec | undefined {
    return this.#models.find(model => model.kind === kind && mayMean(name, model));
  }

  /** @throws DomainError `model_not_found` */
  get(name: string): ModelSpec {
    return this.#byName.get(name) ?? this.#unknown(name);
  }

  /**
   * @param kind a pattern among the aliases of a model of this kind stands for any name
   *   that it matches
   * @param task what models of that kind differ in
   * @throws DomainError `model_not_found`, `model_kind_mismatch`, or `unsupported_task` for
   *   a model that cannot do that task; names the models that can
   */
  getOfKind(name: string, kind: ModelSpec['kind'], task?: string): ModelSpec {
    const spec = this.#byName.get(name) ?? this.#matching(name, kind) ?? this.#unknown(name);
    if (spec.kind !== kind) {
      const able = this.#namesOf(this.#models.filter(model => model.kind === kind));
      const difference = `${KIND_NAMES[spec.kind]}, not ${KIND_NAMES[kind]}`;
      const message = `The model \`${name}\` does ${difference}; models that do: ${able}.`;
      throw new DomainError('model_kind_mismatch', message, { param: 'model' });
    }
    if (task === undefined || spec.capabilities.includes(task)) return spec;
    const able = this.namesAble(kind, task);
    const message = `The model \`${spec.id}\` does no ${task}; models that do: ${able}.`;
    throw new DomainError('unsupported_task', message, { param: 'model' });
  }

  #unknown(name: string): never {
    const message = `The model \`${name}\` does not exist; available: ${this.#namesOf(this.#models)}.`;
    throw new DomainError('model_not_found', message, { param: 'model' });
  }

  /** Models for error messages: `a (alias), b`, or `none`. */
  namesAble(kind: ModelSpec['kind'], capability: string): string {
    return this.#namesOf(
      this.#models.filter(model => model.kind === kind && canHonour(model, capability)),
    );
  }

  #name(): void {
    this.#byName.clear();
    for (const spec of this.#models) this.#byName.set(spec.id, spec);
    // An alias never hides a model.
    for (const spec of this.#models) {
      for (const alias of spec.aliases)
        if (!isPattern(alias) && !this.#byName.has(alias)) this.#byName.set(alias, spec);
    }
  }

  #namesOf(models: readonly ModelSpec[]): string {
    if (models.length === 0) return 'none';
    return models
      .map(({ id, aliases }) => (aliases.length > 0 ? `${id} (${aliases.join(', ')})` : id))
      .join(', ');
  }
}
