import { type ScheduledRequest } from '../request/scheduled-request.js';
import { FadingMean, TimeLine } from './means.js';

/** From the start of a request, milliseconds; 0: unknown. */
export interface ServiceEstimate {
  /** Until the whole answer, exceeded by few. */
  readonly answerMs: number;
  readonly firstOutputMs: number;
}

type EstimatedRequest = Pick<ScheduledRequest, 'costMs'>;

const UNKNOWN: ServiceEstimate = { answerMs: 0, firstOutputMs: 0 };
/** Standard deviations that an estimate lies above the mean: few requests take longer. */
const MARGIN = 2;
/**
 * Older knowledge refuses nothing: otherwise a model that became fast would refuse for
 * ever what it never serves.
 */
const STALE_MS = 60_000;

/** The bound that times exceed rarely: the mean and some deviations. */
const upper = ({ mean, variance }: FadingMean): number => mean + MARGIN * Math.sqrt(variance);

/**
 * How long the workers of one model take from start to answer, by the cost of requests.
 * Estimates are high on purpose: what is started by them meets its deadline (D-26).
 */
export class AnswerTimes {
  #measuredAtMs = -Infinity;
  readonly #ready = new FadingMean();
  readonly #firstOutput = new FadingMean();
  /** What answers took, divided by what was predicted. */
  readonly #error = new FadingMean();
  readonly #line = new TimeLine();

  observe(
    measured: {
      /** Its device time, or its cost as estimated where the worker reports none. */
      readonly costMs: number;
      /** Wait at the worker, for preparation and for its device. */
      readonly readyMs: number;
      /** From the end of that wait to the answer. */
      readonly computeMs: number;
      /** From the end of that wait to the first output; absent: not reported. */
      readonly firstOutputMs?: number;
      /** What `predictMs` was before it was sent. */
      readonly predictedMs: number | undefined;
    },
    nowMs: number,
  ): void {
    const { costMs, readyMs, computeMs, firstOutputMs, predictedMs = 0 } = measured;
    this.#measuredAtMs = nowMs;
    if (predictedMs > 0) this.#error.add(computeMs / predictedMs);
    this.#line.add(costMs, computeMs);
    this.#ready.add(readyMs);
    if (firstOutputMs !== undefined) this.#firstOutput.add(firstOutputMs);
  }

  /** The probable time from the device to the answer; undefined: unknown. */
  predictMs({ costMs }: EstimatedRequest, nowMs: number): number | undefined {
    return this.#isFresh(nowMs) ? this.#line.at(costMs) : undefined;
  }

  /** @param isBehind it will be sent to a worker that is busy */
  estimate({ costMs }: EstimatedRequest, isBehind: boolean, nowMs: number): ServiceEstimate {
    if (!this.#isFresh(nowMs)) return UNKNOWN;
    const readyMs = isBehind ? upper(this.#ready) : 0;
    const answerMs = readyMs + this.#line.at(costMs) * Math.max(1, upper(this.#error));
    return {
      answerMs,
      firstOutputMs: Math.min(answerMs, readyMs + upper(this.#firstOutput)),
    };
  }

  /** Mean from start to answer; 0: unknown. */
  meanMs(nowMs: number): number {
    return this.#isFresh(nowMs) ? this.#ready.mean + this.#line.meanMs : 0;
  }

  #isFresh(nowMs: number): boolean {
    return nowMs - this.#measuredAtMs <= STALE_MS;
  }
}
