import { FadingMean } from './means.js';

/** A token of input is computed beside many others, a generated one alone. */
const INPUT_PER_OUTPUT = 0.1;
/** Output tokens that are assumed before the first answer. */
const USUAL_OUTPUT = 256;
const MIN_MS = 0.001;

/**
 * What a unit of work costs on the devices of one model, to estimate requests by it. An
 * estimate decides the order only until the request is measured: its tenant is then charged
 * what it took (D-25).
 */
export class CostModel {
  readonly #requestMs = new FadingMean();
  readonly #unitMs = new FadingMean();
  /** Tokens of a generation. */
  readonly #output = new FadingMean();

  /**
   * Device milliseconds. Before anything is known of the model, a unit counts as one.
   * @param size how much work a request is, in units of its model, as far as that is
   *   known when it arrives
   */
  estimateMs({
    input,
    mostOutput,
  }: {
    /** Seconds of audio, characters to speak, or tokens of input; absent: unknown. */
    readonly input?: number;
    /** Tokens that may be generated at most; absent: it generates none. */
    readonly mostOutput?: number;
  }): number {
    const usualOutput = this.#output.value ?? USUAL_OUTPUT;
    const units = unitsOf({
      input,
      output: mostOutput === undefined ? undefined : Math.min(mostOutput, usualOutput),
    });
    const { value: msPerUnit } = this.#unitMs;
    const ms =
      units === undefined || msPerUnit === undefined
        ? (this.#requestMs.value ?? units ?? 1)
        : units * msPerUnit;
    return Math.max(MIN_MS, ms);
  }

  /** A request took so long on a device. @param work what it was in the end */
  observe(work: MeasuredWork, deviceMs: number): void {
    const units = unitsOf(work);
    this.#requestMs.add(deviceMs);
    if (units) this.#unitMs.add(deviceMs / units, units);
    if (work.output !== undefined) this.#output.add(work.output);
  }
}

interface MeasuredWork {
  readonly input?: number;
  readonly output?: number;
}

function unitsOf({ input, output }: MeasuredWork): number | undefined {
  if (output !== undefined) return (input ?? 0) * INPUT_PER_OUTPUT + output;
  return input !== undefined && input > 0 ? input : undefined;
}
