import { isMap, isSeq } from 'yaml';
import { type ConfigProblem } from './config-problem.js';
import { type FieldPath, ModelReader } from './model-reader.js';
import { modelOn, type ModelSpec, replicaSpecs } from './model-spec.js';
import { type YamlFile } from './yaml-file.js';

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
