import { readFile } from 'node:fs/promises';
import { Plan } from '../../core/jobs/plan-entry.js';
import { isAbsent, type JobFolder } from './job-folder.js';

/** `model_map.json`, written last: while it is not there, ingestion was not finished (seeds/batch-processor "Input Handling"). */
export interface ModelMap {
  readonly model_to_safe: Readonly<Record<string, string>>;
  readonly safe_to_model: Readonly<Record<string, string>>;
  /** Lines that can be sent and those that cannot. */
  readonly line_count: number;
  /** Of these, lines that cannot be sent; they come last in the count of plan indices. */
  readonly rejected_count: number;
  /** In the order of their first lines, which is the order of plan indices. */
  readonly models: readonly string[];
}

const LONGEST_NAME = 100;

/** Names of plan files: letters, digits, `_ - .`; no two alike, not even where case makes no difference. */
export function safeNames(models: readonly string[]): ReadonlyMap<string, string> {
  const used = new Set<string>();
  const names = new Map<string, string>();
  for (const model of models) {
    const base = model
      .replace(/[^A-Za-z0-9_.-]/g, '_')
      .replace(/^\./, '_')
      .slice(0, LONGEST_NAME);
    let name = base;
    for (let n = 2; used.has(name.toLowerCase()); n++) name = `${base}_${n}`;
    used.add(name.toLowerCase());
    names.set(model, name);
  }
  return names;
}

export function modelMapOf(models: readonly string[], lineCount: number, rejectedCount: number): ModelMap {
  const names = safeNames(models);
  return {
    model_to_safe: Object.fromEntries(names),
    safe_to_model: Object.fromEntries([...names].map(([model, safe]) => [safe, model])),
    line_count: lineCount,
    rejected_count: rejectedCount,
    models,
  };
}

/** Undefined: not ingested yet. */
export async function readModelMap(folder: JobFolder): Promise<ModelMap | undefined> {
  try {
    return JSON.parse(await readFile(folder.modelMap(), 'utf8')) as ModelMap;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** The lines of one model: plan indices `first` to `first + plan.length - 1`. */
export interface ModelPlan {
  readonly model: string;
  readonly first: number;
  readonly plan: Plan;
}

/** All lines of a job in the order of their plan index: model by model, then those that cannot be sent. */
export interface JobPlan {
  readonly total: number;
  readonly models: readonly ModelPlan[];
  /** Plan index of the first line that cannot be sent. */
  readonly firstRejected: number;
}

/** 16 bytes per line in memory; the lines stay in the input file. */
export async function loadPlan(folder: JobFolder, map: ModelMap): Promise<JobPlan> {
  const models: ModelPlan[] = [];
  let first = 0;
  for (const model of map.models) {
    const plan = new Plan(await readFile(folder.plan(map.model_to_safe[model]!)));
    models.push({ model, first, plan });
    first += plan.length;
  }
  return { total: map.line_count, models, firstRejected: first };
}
