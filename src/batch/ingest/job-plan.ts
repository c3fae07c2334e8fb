import { readFile } from 'node:fs/promises';
import { Plan } from '../../core/jobs/plan-entry.js';
import { type JobFolder } from '../job-folder.js';
import { type ModelMap } from './model-map.js';

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
