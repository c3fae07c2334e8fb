import { type ScheduledRequest } from '../request/scheduled-request.js';
import { FadingMean } from './cost-model.js';

/** From the start of a request, milliseconds; 0: unknown. */
export interface ServiceEstimate {
  /** Until the whole answer, exceeded by few. */
  readonly answerMs: number;
  readonly firstOutputMs: number;
}

type EstimatedRequest = Pick<ScheduledRequest, 'model' | 'costMs'>;

const UNKNOWN: ServiceEstimate = { answerMs: 0, firstOutputMs: 0 };
/** Standard deviations that an estimate lies above the mean: few requests take longer. */
const MARGIN = 2;
/**
 * Older knowledge refuses nothing: otherwise a model that became fast would refuse for
 * ever what it never serves.
 */
const STALE_MS = 60_000;

/**
 * An exponentially weighted mean, one value further.
 * @param mean of the values before; undefined: there are none
 * @param weight of the latest value, above 0 and at most 1
 */
export const blended = (mean: number | undefined, latest: number, weight: number): number =>
  mean === undefined ? latest : mean + weight * (latest - mean);

/** What is exceeded rarely. */
const upper = ({ mean, variance }: FadingMean): number => mean + MARGIN * Math.sqrt(variance);

/** Time as a linear function of an amount of work: a least-squares fit that forgets. */
export class TimeLine {
  readonly #work = new FadingMean();
  /** Weighted like `FadingMean.mean`. */
  meanMs = 0;
  #covariance = 0;

  /** @param count as for `FadingMean.add` */
  add(work: number, ms: number, count?: number): void {
    const [workOff, msOff] = [work - this.#work.mean, ms - this.meanMs];
    const weight = this.#work.add(work, count);
    this.meanMs += weight * msOff;
    this.#covariance = (1 - weight) * (this.#covariance + weight * workOff * msOff);
  }

  /** @param leastVariance of the work; below it the time is the same for any. */
  at(work: number, leastVariance = 0): number {
    const { mean, variance } = this.#work;
    if (variance < leastVariance) return this.meanMs;
    // Neither a negative slope nor a negative time without work. Without any spread:
    // proportional.
    const steepest = this.meanMs / mean;
    const slope =
      variance > 0 ? Math.min(steepest, Math.max(0, this.#covariance / variance)) : steepest;
    return this.meanMs + slope * (work - mean);
  }
}

/** What is known of one model. */
const newModelTimes = () => ({
  measuredAtMs: 0,
  ready: new FadingMean(),
  firstOutput: new FadingMean(),
  /** Time / predicted time. */
  error: new FadingMean(),
  line: new TimeLine(),
});

/**
 * Learns how long the workers of each model take from start to answer, by the
 * cost of requests. Estimates are high on purpose: what is started by them meets
 * its deadline (D-26).
 */
export class AnswerTimes {
  readonly #models = new Map<string, ReturnType<typeof newModelTimes>>();

  observe(
    model: string,
    measured: {
      /** Its device time, or its cost as estimated where the worker reports none. */
      readonly costMs: number;
      /** Wait at the worker, for preparation and for its device. */
      readonly readyMs: number;
      /** From then until the answer. */
      readonly computeMs: number;
      /** From then until the first output; absent: not reported. */
      readonly firstOutputMs?: number;
      /** What `predictMs` was before it was sent. */
      readonly predictedMs: number | undefined;
    },
    nowMs: number,
  ): void {
    let times = this.#models.get(model);
    if (times === undefined) this.#models.set(model, (times = newModelTimes()));
    const { costMs, readyMs, computeMs, firstOutputMs, predictedMs = 0 } = measured;
    times.measuredAtMs = nowMs;
    if (predictedMs > 0) times.error.add(computeMs / predictedMs);
    times.line.add(costMs, computeMs);
    times.ready.add(readyMs);
    if (firstOutputMs !== undefined) times.firstOutput.add(firstOutputMs);
  }

  /** The probable time from the device to the answer; undefined: unknown. */
  predictMs(request: EstimatedRequest, nowMs: number): number | undefined {
    return this.#fresh(request.model, nowMs)?.line.at(request.costMs);
  }

  /** @param isBehind it will be sent to a worker that is busy */
  estimate(request: EstimatedRequest, isBehind: boolean, nowMs: number): ServiceEstimate {
    const times = this.#fresh(request.model, nowMs);
    if (times === undefined) return UNKNOWN;
    const readyMs = isBehind ? upper(times.ready) : 0;
    const { line, error } = times;
    const answerMs = readyMs + line.at(request.costMs) * Math.max(1, upper(error));
    return {
      answerMs,
      firstOutputMs: Math.min(answerMs, readyMs + upper(times.firstOutput)),
    };
  }

  /** Mean from start to answer; 0: unknown. */
  meanMs(model: string, nowMs: number): number {
    const times = this.#fresh(model, nowMs);
    return times === undefined ? 0 : times.ready.mean + times.line.meanMs;
  }

  #fresh(model: string, nowMs: number) {
    const times = this.#models.get(model);
    return times !== undefined && nowMs - times.measuredAtMs <= STALE_MS ? times : undefined;
  }
}
