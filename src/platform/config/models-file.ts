import { isCollection, isMap, isSeq, type YAMLMap } from 'yaml';
import { type ConfigProblem } from './config-problem.js';
import { camelKeys } from './field-names.js';
import { CAPABILITY_KINDS, ENGINE_KINDS, MODEL_FIELDS, type ModelField, type ModelFieldName } from './model-fields.js';
import { type ModelKind, modelOn, type ModelSpec, type RemoteSpec, replicaSpecs } from './model-spec.js';
import { didYouMean } from './nearest-name.js';
import { compileRemote, compileReplicas, unreadableFiles } from './worker-fields.js';
import { type YamlFile } from './yaml-file.js';

/** Field, then what is inside it: `['options', 'threads']`, `['capabilities', 2]`. */
export type FieldPath = readonly [ModelFieldName, ...(readonly (string | number)[])];

/** Compiles one entry of `models:`; problems carry the place of what is wrong, down to the item of a list. */
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

  /** A problem of this entry, placed at the deepest part of `at` that the file has. */
  problem(at: ModelFieldName | FieldPath, value: unknown, message: string): ConfigProblem {
    const keys = typeof at === 'string' ? [at] : at;
    const path = keys.map(key => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
    return { origin: this.file.originOf(this.nodeAt(keys)), path: `${this.path}${path}`, value, message };
  }

  private nodeAt(keys: readonly (string | number)[]): unknown {
    let node = this.entry;
    for (const key of keys) {
      const next: unknown = isCollection(node) ? node.get(key, true) : undefined;
      if (next === undefined) break;
      node = next;
    }
    return node;
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
    for (const [name, field] of Object.entries(MODEL_FIELDS)) {
      const value = raw[name];
      const key = name as ModelFieldName;
      if (value === undefined || value === null) {
        if (field.required) {
          this.problems.push(this.problem(key, undefined, `is missing; must be ${field.allowed}`));
        }
      } else if (!field.accepts(value)) this.problems.push(...this.rejections(key, field, value));
    }
  }

  private rejections(key: ModelFieldName, field: ModelField, value: unknown): ConfigProblem[] {
    const { item, choices = [] } = field;
    const near = (wrong: unknown) => (typeof wrong === 'string' ? didYouMean(wrong, choices) : '');
    if (!item || !Array.isArray(value)) {
      return [this.problem(key, value, `must be ${field.allowed}${near(value)}`)];
    }
    const rule = `must be ${choices.length > 0 ? 'one of' : 'of'} ${item.allowed}`;
    return value.flatMap((one: unknown, index) =>
      item.accepts(one) ? [] : [this.problem([key, index], one, `${rule}${near(one)}`)],
    );
  }

  private checkTogether(model: ModelSpec): void {
    const kinds = ENGINE_KINDS[model.engine];
    if (!kinds.includes(model.kind)) {
      this.problems.push(this.problem('kind', model.kind, `engine ${model.engine} does ${kinds.join(' and ')} only`));
    }
    this.checkCapabilities(model);
    if (model.remote) this.checkRemote(model, model.remote);
    if (model.kind !== 'stt' && model.loudness !== undefined) {
      this.problems.push(this.problem('loudness', model.loudness, 'only models of kind stt have loudness'));
    }
    if (model.kind !== 'stt' && model.itn !== undefined) {
      this.problems.push(this.problem('itn', model.itn, 'only models of kind stt have itn'));
    }
    if (model.kind !== 'tts' && Object.keys(model.voices).length > 0) {
      this.problems.push(this.problem('voices', undefined, 'only models of kind tts have voices'));
    }
  }

  private checkRemote({ addresses }: ModelSpec, remote: RemoteSpec): void {
    if (addresses.length === 0) {
      this.problems.push(this.problem('remote', undefined, 'only models with addresses have remote workers'));
    }
    for (const { field, file } of unreadableFiles(remote)) {
      this.problems.push(this.problem(['remote', ...field], file, 'cannot be read'));
    }
  }

  private checkCapabilities({ kind, capabilities }: ModelSpec): void {
    const kinds: Readonly<Record<string, readonly ModelKind[]>> = CAPABILITY_KINDS;
    const own = Object.keys(kinds).filter(name => kinds[name]?.includes(kind));
    capabilities.forEach((name, index) => {
      if (kinds[name]?.includes(kind)) return;
      const message = `is nothing that models of kind ${kind} do; they have ${own.join(', ')}`;
      this.problems.push(this.problem(['capabilities', index], name, message));
    });
  }
}

function withDefaults(raw: Record<string, unknown>): ModelSpec {
  const written = Object.fromEntries(Object.entries(raw).filter(([, value]) => value != null));
  const given = camelKeys(written) as Partial<ModelSpec> & Pick<ModelSpec, 'id' | 'kind' | 'engine' | 'capabilities'>;
  const addresses = given.addresses ?? [];
  return {
    aliases: [],
    languages: [],
    voices: {},
    options: {},
    ...given,
    replicas: compileReplicas(given.replicas ?? (addresses.length > 0 ? 0 : 1)),
    addresses,
    ...(given.remote && { remote: compileRemote(given.remote) }),
  };
}

/** What an engine says against a model: the field it is about (`options.threads`) and what is wrong with it. */
export interface EngineObjection {
  readonly path: string;
  readonly message: string;
}

/** Asks the engine of a model about its options; passed in by the programs, since configuration knows no engines. */
export type EngineCheck = (model: ModelSpec) => readonly EngineObjection[];

export interface ModelsFile {
  readonly models: readonly ModelSpec[];
  readonly problems: readonly ConfigProblem[];
  /** What starts but probably is not meant. */
  readonly warnings: readonly ConfigProblem[];
}

/** Compiles `models:` into specs; every problem carries its line, its field and what is allowed. */
export function modelsFromFile(file: YamlFile, askEngine: EngineCheck = () => []): ModelsFile {
  if (file.problems.length > 0) return { models: [], problems: file.problems, warnings: [] };
  const list: unknown = file.document.get('models');
  const root = file.document.contents;
  if (!isMap(root) || !isSeq(list)) {
    return {
      models: [],
      problems: [{ origin: file.originOf(root), message: 'must hold `models:` and a list below it' }],
      warnings: [],
    };
  }
  const problems: ConfigProblem[] = root.items
    .filter(item => String(item.key) !== 'models')
    .map(item => ({
      origin: file.originOf(item.key),
      path: String(item.key),
      message: 'no such section; only `models`',
    }));
  const warnings: ConfigProblem[] = [];
  if (list.items.length === 0) warnings.push({ origin: file.originOf(list), message: NO_MODELS });
  const names = new Map<string, string>();
  const models = list.items.flatMap((entry, index) => {
    const reader = new ModelReader(file, entry, `models[${index}]`);
    const model = reader.read();
    problems.push(...reader.problems);
    if (model) problems.push(...clashes(model, names, reader), ...objections(model, reader, askEngine));
    if (model && speaksBlindly(model)) warnings.push(reader.problem('id', model.id, NO_VOICES));
    return model ? [model] : [];
  });
  return { models, problems, warnings };
}

const NO_MODELS = '`models` is empty: every request is answered with 404 model_not_found until a model is added';
const NO_VOICES = 'a speech model without `voices`: clients must send the voice names of the engine, not alloy or echo';

/** Voice names pass through `openai-http` as they are; every other engine has its own. */
const speaksBlindly = ({ kind, engine, voices }: ModelSpec): boolean =>
  kind === 'tts' && engine !== 'openai-http' && Object.keys(voices).length === 0;

/** Ids and aliases share one name space: a request's `model` must mean one thing. */
function clashes(model: ModelSpec, names: Map<string, string>, reader: ModelReader): ConfigProblem[] {
  return [model.id, ...model.aliases].flatMap((name, index) => {
    const holder = names.get(name);
    if (holder === undefined) {
      names.set(name, model.id);
      return [];
    }
    const message = `"${name}" already names model ${holder}; names must be unique`;
    return [reader.problem(index === 0 ? 'id' : ['aliases', index - 1], name, message)];
  });
}

/** Each replica is asked about: its device is an option of the engine that only some engines have. */
function objections(model: ModelSpec, reader: ModelReader, askEngine: EngineCheck): ConfigProblem[] {
  const replicas = replicaSpecs(model);
  const asked = replicas.length > 0 ? replicas : [{}];
  const problems = asked.flatMap((replica, index) =>
    askEngine(modelOn(model, replica)).map(({ path, message }) => {
      const at = path === 'options.device' && replica.device !== undefined ? `replicas.${index}.device` : path;
      return reader.problem(fieldPath(at), undefined, message);
    }),
  );
  return [...new Map(problems.map(problem => [`${problem.path} ${problem.message}`, problem])).values()];
}

const fieldPath = (path: string): FieldPath =>
  path.split('.').map(part => (/^\d+$/.test(part) ? Number(part) : part)) as unknown as FieldPath;
