import { readFile } from 'node:fs/promises';
import { Plan } from '../../core/jobs/plan-entry.js';
import { isAbsent } from '../../platform/storage/durable-files.js';
import { type JobFolder } from './job-folder.js';

/** `model_map.json`. It is written last: without it, ingestion did not finish. */
export interface ModelMap {
  readonly model_to_safe: Readonly<Record<string, string>>;
  readonly safe_to_model: Readonly<Record<string, string>>;
  /** All lines, valid and invalid. */
  readonly line_count: number;
  /** Invalid lines; they have the last plan indices. */
  readonly rejected_count: number;
  /** In the order of their first lines, which is the order of the plan indices. */
  readonly models: readonly string[];
}

const MAX_NAME_CHARS = 100;

/**
 * Names of plan files: letters, digits, `_ - .`; unique also on
 * case-insensitive file systems.
 */
export function safeNames(models: readonly string[]): ReadonlyMap<string, string> {
  const used = new Set<string>();
  const names = new Map<string, string>();
  for (const model of models) {
    const base = model
      .replace(/[^A-Za-z0-9_.-]/g, '_')
      .replace(/^\./, '_')
      .slice(0, MAX_NAME_CHARS);
    let name = base;
    for (let n = 2; used.has(name.toLowerCase()); n++) name = `${base}_${n}`;
    used.add(name.toLowerCase());
    names.set(model, name);
  }
  return names;
}

export function modelMapOf(
  models: readonly string[],
  lineCount: number,
  rejectedCount: number,
): ModelMap {
  const names = safeNames(models);
  return {
    model_to_safe: Object.fromEntries(names),
    safe_to_model: Object.fromEntries([...names].map(([model, safe]) => [safe, model])),
    line_count: lineCount,
    rejected_count: rejectedCount,
    models,
  };
}

/** @returns undefined when ingestion did not finish */
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

/** All lines of a job by plan index: model by model, then the invalid ones. */
export interface JobPlan {
  readonly total: number;
  readonly models: readonly ModelPlan[];
  /** Plan index of the first invalid line. */
  readonly firstRejected: number;
}

/** Loads 16 bytes per line; the lines stay in the input file. */
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
