import { AnswerTimes } from './answer-times.js';
import { CostModel } from './cost-model.js';
import { GroupTimes } from './group-times.js';
import { FadingMean } from './means.js';

/** What was learned of one model, by what it is asked for. All of it fades; answers expire. */
class ModelTimes {
  /** Device milliseconds of a request, by the amount of its work. */
  readonly costs = new CostModel();
  /** Device milliseconds for each second of an utterance of a live session. */
  readonly live = new FadingMean();
  /** From start to answer, and to the first output, exceeded by few. */
  readonly answers = new AnswerTimes();
  /** Of engine calls, by the number of their members. */
  readonly groups = new GroupTimes();
  /** From the start of its processes until they take requests. */
  readonly loads = new FadingMean();
}

/** How long the workers of each model take: learned from what they answered. */
export class ServiceTimes {
  readonly #models = new Map<string, ModelTimes>();

  of(model: string): ModelTimes {
    let times = this.#models.get(model);
    if (times === undefined) this.#models.set(model, (times = new ModelTimes()));
    return times;
  }
}
