import { encodePlan, type PlanEntry } from '../../core/jobs/plan-entry.js';
import { byPrefix } from '../../core/jobs/plan-order.js';
import { type JobFolder } from '../job-folder.js';
import { DraftFile } from './draft-file.js';
import { type ModelMap, modelMapOf } from './model-map.js';

/** Entries per model while a file is read: 16 bytes' worth each, never a body. */
export class PlanDraft {
  readonly #byModel = new Map<string, PlanEntry[]>();
  #count = 0;

  get modelCount(): number {
    return this.#byModel.size;
  }

  has(model: string): boolean {
    return this.#byModel.has(model);
  }

  add(model: string, entry: PlanEntry): void {
    const entries = this.#byModel.get(model);
    if (entries) entries.push(entry);
    else this.#byModel.set(model, [entry]);
    this.#count += 1;
  }

  /** Writes the plans, sorted so that equal system prompts meet; the map comes later, as the mark that all is there. */
  async write(folder: JobFolder, rejectedCount: number, writer: string): Promise<ModelMap> {
    const map = modelMapOf([...this.#byModel.keys()], this.#count + rejectedCount, rejectedCount);
    for (const [model, entries] of this.#byModel) {
      const file = await DraftFile.create(folder.plan(map.model_to_safe[model]!), writer);
      await file.write(encodePlan(entries.sort(byPrefix)));
      await file.commit();
    }
    return map;
  }
}
