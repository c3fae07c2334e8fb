import { isMap, isSeq } from 'yaml';
import { type FieldProblem, fieldProblems } from '../../core/shared/schema.js';
import { CAPABILITY_KINDS, ENGINE_KINDS, MODEL_FIELDS, type ModelFieldName } from './model-fields.js';
import {
  camelKeys,
  isPattern,
  type ModelKind,
  modelOn,
  type ModelSpec,
  type RemoteSpec,
  replicaSpecs,
} from './model-spec.js';
import { compileRemote, compileReplicas, unreadableFiles } from './worker-fields.js';
import { type ConfigProblem, placed, type YamlFile } from './yaml-file.js';

/** Field, then what is inside it: `['options', 'threads']`, `['capabilities', 2]`. */
type FieldPath = readonly [ModelFieldName, ...(readonly (string | number)[])];

/** Compiles one entry of `models:`. Problems carry line and column, down to the item of a list. */
class ModelReader {
  readonly problems: ConfigProblem[] = [];

  constructor(
    private readonly file: YamlFile,
    private readonly entry: { readonly node: unknown; readonly path: string },
  ) {}

  read(): ModelSpec | undefined {
    const { node } = this.entry;
    if (!isMap(node)) {
      this.#note({ path: [], message: 'must be a model with id, kind, …' });
      return undefined;
    }
    const raw = node.toJSON() as Record<string, unknown>;
    for (const problem of fieldProblems(raw, MODEL_FIELDS)) this.#note(problem);
    if (this.problems.length > 0) return undefined;
    const model = withDefaults(raw);
    this.#checkTogether(model);
    return this.problems.length > 0 ? undefined : model;
  }

  /** A problem of this entry, placed at the deepest part of `at` that the file has. */
  problem(at: ModelFieldName | FieldPath, value: unknown, message: string): ConfigProblem {
    return placed(this.file, this.entry, { path: typeof at === 'string' ? [at] : at, value, message });
  }

  #note(problem: FieldProblem): void {
    this.problems.push(placed(this.file, this.entry, problem));
  }

  #checkTogether(model: ModelSpec): void {
    const kinds = ENGINE_KINDS[model.engine];
    if (!kinds.includes(model.kind)) {
      this.problems.push(this.problem('kind', model.kind, `engine ${model.engine} does ${kinds.join(' and ')} only`));
    }
    this.#checkCapabilities(model);
    if (model.remote) this.#checkRemote(model, model.remote);
    this.#checkWorkers(model);
    this.#checkRoles(model);
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

  /** Where the workers of a foreign program are; other models have none. */
  #checkWorkers({ engine, command, addresses, replicas }: ModelSpec): void {
    if (engine !== 'external') {
      if (command) this.problems.push(this.problem('command', undefined, 'only models of engine external have one'));
      return;
    }
    if (!command && addresses.length === 0) {
      this.problems.push(this.problem('engine', engine, 'needs `command` (a worker to start) or `addresses`'));
    } else if (!command && replicaSpecs({ replicas }).length > 0) {
      this.problems.push(this.problem('replicas', undefined, 'needs `command`: what engine external is to start'));
    }
  }

  /** Requests that none of its workers takes would wait for nothing. */
  #checkRoles({ kind, replicas, addresses }: ModelSpec): void {
    const roles = replicaSpecs({ replicas }).map(({ role = 'any' }) => role);
    if (kind !== 'stt' && roles.some(role => role !== 'any')) {
      this.problems.push(this.problem('replicas', undefined, 'only models of kind stt have replicas with a role'));
    } else if (addresses.length === 0 && roles.length > 0 && roles.every(role => role === 'stream')) {
      this.problems.push(this.problem('replicas', undefined, 'needs one that takes files: role file or any'));
    }
  }

  #checkRemote({ addresses }: ModelSpec, remote: RemoteSpec): void {
    if (addresses.length === 0) {
      this.problems.push(this.problem('remote', undefined, 'only models with addresses have remote workers'));
    }
    for (const { field, file } of unreadableFiles(remote)) {
      this.problems.push(this.problem(['remote', ...field], file, 'cannot be read'));
    }
  }

  #checkCapabilities({ kind, capabilities }: ModelSpec): void {
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
    replicas: compileReplicas(given.replicas ?? (addresses.length > 0 && !given.command ? 0 : 1)),
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
    const reader = new ModelReader(file, { node: entry, path: `models[${index}]` });
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

/** Ids and aliases share one name space: a request's `model` must mean one thing. Each kind has one pattern. */
function clashes(model: ModelSpec, names: Map<string, string>, reader: ModelReader): ConfigProblem[] {
  return [model.id, ...model.aliases].flatMap((given, index) => {
    const name = isPattern(given) ? `* of kind ${model.kind}` : given;
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
