import { isMap, type YAMLMap } from 'yaml';
import { type ConfigProblem } from './config-problem.js';
import { ENGINE_KINDS, MODEL_FIELDS } from './model-fields.js';
import { type ModelSpec } from './model-spec.js';
import { didYouMean } from './nearest-name.js';
import { type YamlFile } from './yaml-file.js';

/** Compiles one entry of `models:`; problems carry the line of the field. */
export class ModelReader {
  readonly problems: ConfigProblem[] = [];

  constructor(
    private readonly file: YamlFile,
    private readonly entry: unknown,
    private readonly path: string,
  ) {}

  read(): ModelSpec | undefined {
    if (!isMap(this.entry)) {
      this.problems.push({
        origin: this.file.originOf(this.entry),
        path: this.path,
        message: 'must be a model with id, kind, …',
      });
      return undefined;
    }
    const raw = this.entry.toJSON() as Record<string, unknown>;
    this.rejectUnknownFields(this.entry);
    this.checkFields(raw);
    if (this.problems.length > 0) return undefined;
    const model = withDefaults(raw);
    this.checkTogether(model);
    return this.problems.length > 0 ? undefined : model;
  }

  problem(field: keyof ModelSpec, value: unknown, message: string): ConfigProblem {
    const node: unknown = isMap(this.entry) ? this.entry.get(field, true) : undefined;
    return { origin: this.file.originOf(node ?? this.entry), path: `${this.path}.${field}`, value, message };
  }

  private rejectUnknownFields(entry: YAMLMap): void {
    for (const { key } of entry.items) {
      const name = String(key);
      if (name in MODEL_FIELDS) continue;
      const message = `no such field${didYouMean(name, Object.keys(MODEL_FIELDS))}`;
      this.problems.push({ origin: this.file.originOf(key), path: `${this.path}.${name}`, message });
    }
  }

  private checkFields(raw: Record<string, unknown>): void {
    for (const [name, { required, allowed, accepts }] of Object.entries(MODEL_FIELDS)) {
      const value = raw[name];
      const field = name as keyof ModelSpec;
      if (value === undefined || value === null) {
        if (required) this.problems.push(this.problem(field, undefined, `is missing; must be ${allowed}`));
      } else if (!accepts(value)) this.problems.push(this.problem(field, value, `must be ${allowed}`));
    }
  }

  private checkTogether(model: ModelSpec): void {
    const kinds = ENGINE_KINDS[model.engine];
    if (!kinds.includes(model.kind)) {
      this.problems.push(this.problem('kind', model.kind, `engine ${model.engine} does ${kinds.join(' and ')} only`));
    }
    if (model.kind !== 'stt' && model.itn !== undefined) {
      this.problems.push(this.problem('itn', model.itn, 'only models of kind stt have itn'));
    }
    if (model.kind === 'stt' && Object.keys(model.voices).length > 0) {
      this.problems.push(this.problem('voices', undefined, 'only models of kind tts have voices'));
    }
  }
}

function withDefaults(raw: Record<string, unknown>): ModelSpec {
  const given = Object.fromEntries(Object.entries(raw).filter(([, value]) => value != null)) as Partial<ModelSpec> &
    Pick<ModelSpec, 'id' | 'kind' | 'engine' | 'capabilities'>;
  const addresses = given.addresses ?? [];
  return {
    aliases: [],
    languages: [],
    replicas: addresses.length > 0 ? 0 : 1,
    voices: {},
    options: {},
    ...given,
    addresses,
  };
}
