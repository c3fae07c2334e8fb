import { accessSync, constants } from 'node:fs';
import { KIND_CAPABILITIES } from '@switchyard/engine-api/engine.js';
import { type FieldProblem, readFields } from '@switchyard/engine-api/field-problems.js';
import { isMap, isSeq } from 'yaml';
import { bytesOfSize, readDevices, impossible, namedDevices } from './devices.js';
import { ENGINE_KINDS, MODEL } from './model-fields.js';
import {
  camelCase,
  type DeviceSpec,
  isPattern,
  modelOn,
  type ModelSpec,
  type RemoteSpec,
  type ReplicaSpec,
  replicaSpecs,
  isStandIn,
  snakeCase,
} from './model-spec.js';
import { type ConfigProblem, placed, type YamlFile } from './yaml-file.js';

/** One entry of `models:`. */
function readModel(
  node: unknown,
  devices: readonly DeviceSpec[],
): {
  readonly model?: ModelSpec;
  readonly problems: readonly FieldProblem[];
} {
  if (!isMap(node)) return { problems: [{ path: [], message: `must be ${MODEL.description}` }] };
  const { data, problems } = readFields(MODEL, node.toJSON());
  if (!data) return { problems };
  const {
    device: names,
    memory,
    ...written
  } = data as Readonly<Record<string, unknown>> & {
    readonly device?: string | readonly string[];
    readonly memory?: string;
  };
  const named = namedDevices(names === undefined ? [] : [names].flat(), devices);
  const model = {
    ...withDefaults(written),
    ...(names !== undefined && { device: named.device }),
    ...(memory !== undefined && { memory: bytesOfSize(memory) }),
  };
  const found = [...named.problems, ...contradictions(model)];
  return found.length > 0 ? { problems: found } : { model, problems };
}

/** What fields say against each other. */
function* contradictions(model: ModelSpec): Generator<FieldProblem> {
  const { kind, engine, capabilities, voices } = model;
  const kinds = ENGINE_KINDS[engine];
  if (!kinds.includes(kind))
    yield problem(['kind'], `engine ${engine} does ${kinds.join(' and ')} only`, kind);
  const own: readonly string[] = KIND_CAPABILITIES[kind];
  for (const [index, name] of capabilities.entries()) {
    const message = `is nothing that models of kind ${kind} do; they have ${own.join(', ')}`;
    if (!own.includes(name)) yield problem(['capabilities', index], message, name);
  }
  yield* remoteProblems(model);
  yield* workerProblems(model);
  yield* roleProblems(model);
  yield* deviceProblems(model);
  for (const name of ['loudness', 'itn'] as const) {
    const value = model[name];
    if (kind !== 'stt' && value !== undefined)
      yield problem([name], `only models of kind stt have ${name}`, value);
  }
  if (kind !== 'tts' && Object.keys(voices).length > 0)
    yield problem(['voices'], 'only models of kind tts have voices');
}

function* remoteProblems({ addresses, remote }: ModelSpec): Generator<FieldProblem> {
  if (!remote) return;
  if (addresses.length === 0)
    yield problem(['remote'], 'only models with addresses have remote workers');
  for (const { field, file } of unreadableFiles(remote))
    yield problem(['remote', ...field], 'cannot be read', file);
}

/** Where the workers of a foreign program are; other models have none. */
function* workerProblems({
  engine,
  command,
  addresses,
  replicas,
}: ModelSpec): Generator<FieldProblem> {
  if (engine !== 'external') {
    if (command) yield problem(['command'], 'only models of engine external have one');
  } else if (!command && addresses.length === 0) {
    yield problem(['engine'], 'needs `command` (a worker to start) or `addresses`', engine);
  } else if (!command && replicaSpecs({ replicas }).length > 0) {
    yield problem(['replicas'], 'needs `command`: what engine external is to start');
  }
}

/** Requests that none of its workers takes would wait for nothing. */
function* roleProblems({ kind, replicas, addresses }: ModelSpec): Generator<FieldProblem> {
  const roles = replicaSpecs({ replicas }).map(({ role = 'any' }) => role);
  if (kind !== 'stt' && roles.some(role => role !== 'any')) {
    yield problem(['replicas'], 'only models of kind stt have replicas with a role');
  } else if (addresses.length === 0 && roles.length > 0 && roles.every(role => role === 'stream')) {
    yield problem(['replicas'], 'needs one that takes files: role file or any');
  }
}

function* deviceProblems(model: ModelSpec): Generator<FieldProblem> {
  const { device, memory, pin, autostart } = model;
  if (!device) {
    for (const name of ['memory', 'pin', 'prewarm', 'minResidenceS'] as const)
      if (model[name] !== undefined)
        yield problem([snakeCase(name)], 'only models with a `device` have one');
    return;
  }
  if (replicaSpecs(model).length === 0)
    yield problem(['device'], 'only local workers use a device of this gateway');
  if (autostart !== undefined)
    yield problem(
      ['autostart'],
      'a model on a device is loaded when it is asked for; use `pin` or `prewarm`',
    );
  if (pin && memory === undefined) yield problem(['pin'], 'needs `memory`');
  if (device.length > 1 && device.some(({ as }) => as === undefined))
    yield problem(['device'], 'of several devices, each needs `as`: what the engine calls it');
}

const problem = (path: FieldProblem['path'], message: string, value?: unknown): FieldProblem => ({
  path,
  message,
  value,
});

function withDefaults(written: Record<string, unknown>): ModelSpec {
  const given = camelKeys(written, ['remote', 'tls']) as Partial<ModelSpec> &
    Pick<ModelSpec, 'id' | 'kind' | 'engine' | 'capabilities'>;
  const { aliases = [], languages = [], voices = {}, options = {}, addresses = [] } = given;
  const local = given.replicas ?? (addresses.length > 0 && !given.command ? 0 : 1);
  const replicas = typeof local === 'number' ? local : local.map(compileReplica);
  return { ...given, aliases, languages, voices, options, replicas, addresses };
}

/**
 * The keys of a map, and of the maps under `nested`, as code spells them. Other values
 * are left as they are.
 */
function camelKeys(map: object, nested: readonly string[] = []): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(map).map(([name, value]: [string, unknown]) => [
      camelCase(name),
      nested.includes(name) && typeof value === 'object' && value !== null
        ? camelKeys(value, nested)
        : value,
    ]),
  );
}

/** YAML writes `0` and `true`; a process gets text. */
const compileReplica = ({ env, ...replica }: ReplicaSpec): ReplicaSpec => {
  if (!env) return replica;
  return {
    ...replica,
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])),
  };
};

/**
 * Files that cannot be read, by their field: reported at boot instead of at
 * the first connection.
 */
function unreadableFiles({ tls, tokenFile }: RemoteSpec): { field: string[]; file: string }[] {
  const named = [
    { field: ['tls', 'ca_file'], file: tls?.caFile },
    { field: ['tls', 'cert_file'], file: tls?.certFile },
    { field: ['tls', 'key_file'], file: tls?.keyFile },
    { field: ['token_file'], file: tokenFile },
  ];
  return named.flatMap(({ field, file }) =>
    file === undefined || isReadable(file) ? [] : [{ field, file }],
  );
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Asks the engine of a model about its options; passed in by the programs, since
 * configuration knows no engines.
 * @returns the field that each objection is about (`options.threads`) and what is wrong
 */
export type EngineCheck = (
  model: ModelSpec,
) => readonly { readonly path: string; readonly message: string }[];

interface ModelsFile {
  readonly models: readonly ModelSpec[];
  readonly problems: readonly ConfigProblem[];
  /** What starts but probably is not meant. */
  readonly warnings: readonly ConfigProblem[];
}

/**
 * Compiles `models:` into specs; every problem carries its line, its field and
 * what is allowed.
 */
export function modelsFromFile(file: YamlFile, askEngine: EngineCheck = () => []): ModelsFile {
  const models: ModelSpec[] = [];
  const problems: ConfigProblem[] = [...file.problems];
  const warnings: ConfigProblem[] = [];
  const names = new Map<string, string>();
  const nodes = entriesOf(file, problems, warnings);
  const devices = readDevices(file, problems);
  for (const [index, node] of nodes.entries()) {
    const at = (found: FieldProblem) => placed(file, { node, path: `models[${index}]` }, found);
    const { model, problems: found } = readModel(node, devices);
    problems.push(...found.map(at));
    if (!model) continue;
    models.push(model);
    problems.push(...clashes(model, names).map(at), ...objections(model, askEngine).map(at));
    if (speaksBlindly(model)) warnings.push(at(problem(['id'], NO_VOICES, model.id)));
  }
  for (const { model, problem: found } of impossible(models)) {
    const index = nodes.findIndex(node => isMap(node) && node.get('id') === model.id);
    problems.push(placed(file, { node: nodes[index], path: `models[${index}]` }, found));
  }
  return { models, problems, warnings };
}

/**
 * Both files as one list. A model of the starter set takes its names from stand-ins only;
 * what the configured file says otherwise wins. A stand-in that has lost all its names is loaded
 * only when a request names its id.
 */
export function withStarters(configured: ModelsFile, starters: ModelsFile): ModelsFile {
  const kept = new Set(
    configured.models.flatMap(model =>
      isStandIn(model) ? [model.id] : [model.id, ...model.aliases],
    ),
  );
  const added = starters.models
    .filter(({ id }) => !kept.has(id))
    .map(model => ({
      ...model,
      aliases: model.aliases.filter(name => !kept.has(name)),
    }))
    .map(model =>
      model.standIn && model.aliases.length === 0 ? { ...DISPLACED, ...model } : model,
    );
  const taken = new Set(added.flatMap(({ id, aliases }) => [id, ...aliases]));
  const own = configured.models.map(model => {
    const aliases = model.aliases.filter(name => !taken.has(name));
    const isDisplaced = model.aliases.length > 0 && aliases.length === 0;
    return { ...(isDisplaced && DISPLACED), ...model, aliases };
  });
  const warnings = [...configured.warnings, ...starters.warnings];
  return {
    models: [...own, ...added],
    problems: [...configured.problems, ...starters.problems],
    warnings: warnings.filter(({ message }) => added.length === 0 || message !== NO_MODELS),
  };
}

const DISPLACED = { autostart: 'on_request', idleUnloadS: 600 } as const;

/** The list below `models:`; what is wrong with it is added to `problems`. */
function entriesOf(
  file: YamlFile,
  problems: ConfigProblem[],
  warnings: ConfigProblem[],
): readonly unknown[] {
  if (problems.length > 0) return [];
  const root = file.document.contents;
  const list: unknown = file.document.get('models');
  if (!isMap(root) || !isSeq(list)) {
    const message = 'must hold `models:` and a list below it';
    problems.push({ origin: file.originOf(root), message });
    return [];
  }
  for (const { key } of root.items) {
    const path = String(key);
    const message = 'no such section; only `models` and `devices`';
    if (path !== 'models' && path !== 'devices')
      problems.push({ origin: file.originOf(key), path, message });
  }
  if (list.items.length === 0) warnings.push({ origin: file.originOf(list), message: NO_MODELS });
  return list.items;
}

/** No fault of a file: models may come while the gateway runs. */
export const NO_MODELS =
  '`models` is empty: every request is answered with 404 model_not_found until a model is added';
const NO_VOICES =
  'a speech model without `voices`: clients must send the voice names of the engine, not alloy or echo';

/** Voice names pass through `openai-http` as they are; every other engine has its own. */
const speaksBlindly = ({ kind, engine, voices }: ModelSpec) =>
  kind === 'tts' && engine !== 'openai-http' && Object.keys(voices).length === 0;

/**
 * Ids and aliases share one name space: a request's `model` must mean one thing. Each
 * kind has one pattern.
 */
function clashes(model: ModelSpec, names: Map<string, string>): FieldProblem[] {
  return [model.id, ...model.aliases].flatMap((given, index) => {
    const name = isPattern(given) ? `* of kind ${model.kind}` : given;
    const holder = names.get(name);
    if (holder === undefined) {
      names.set(name, model.id);
      return [];
    }
    const message = `"${name}" already names model ${holder}; names must be unique`;
    return [problem(index === 0 ? ['id'] : ['aliases', index - 1], message, name)];
  });
}

/**
 * Each replica is asked about: its device is an option of the engine that only
 * some engines have.
 */
function objections(model: ModelSpec, askEngine: EngineCheck): FieldProblem[] {
  const replicas = replicaSpecs(model);
  const asked = replicas.length > 0 ? replicas : [{}];
  const said = asked.flatMap((replica, index) =>
    askEngine(modelOn(model, replica)).map(({ path, message }) => {
      const at =
        path === 'options.device' && replica.device !== undefined
          ? `replicas.${index}.device`
          : path;
      return { at, message };
    }),
  );
  const different = new Map(
    said.map(({ at, message }) => [`${at} ${message}`, problem(fieldPath(at), message)]),
  );
  return [...different.values()];
}

const fieldPath = (path: string): FieldProblem['path'] =>
  path.split('.').map(part => (/^\d+$/.test(part) ? Number(part) : part));
