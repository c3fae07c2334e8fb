const MEMORY = 0.98;

/** Mean and variance that forget: the last 50 or so values count. Only `add` writes them. */
export class FadingMean {
  mean = 0;
  variance = 0;
  #count = 0;

  /** The mean; undefined before the first value. */
  get value(): number | undefined {
    return this.#count === 0 ? undefined : this.mean;
  }

  /** @param count values that it stands for. @returns its weight */
  add(value: number, count = 1): number {
    this.#count = this.#count * MEMORY + count;
    const weight = count / this.#count;
    const off = value - this.mean;
    this.mean += weight * off;
    this.variance = (1 - weight) * (this.variance + weight * off * off);
    return weight;
  }
}

/** What is known of one model. */
const newLearned = () => ({
  requestMs: new FadingMean(),
  unitMs: new FadingMean(),
  /** Tokens of a generation. */
  output: new FadingMean(),
});

/** A token of input is computed beside many others, a generated one alone. */
const INPUT_PER_OUTPUT = 0.1;
/** Before the first answer. */
const USUAL_OUTPUT = 256;
const MIN_MS = 0.001;

/**
 * Learns what a unit of work costs on the devices of each model, and estimates requests
 * by it. An estimate decides the order only until the request is measured: its tenant is
 * then charged what it took (D-25).
 */
export class CostModel {
  readonly #models = new Map<string, ReturnType<typeof newLearned>>();

  /**
   * Device milliseconds. Before anything is known of the model, a unit counts as one.
   * @param size how much work a request is, in units of its model, as far as that is
   *   known when it arrives
   */
  estimateMs(
    model: string,
    {
      input,
      mostOutput,
    }: {
      /** Seconds of audio, characters to speak, or tokens of input; absent: unknown. */
      readonly input?: number;
      /** Tokens that may be generated at most; absent: it generates none. */
      readonly mostOutput?: number;
    },
  ): number {
    const { requestMs, unitMs, output } = this.#models.get(model) ?? newLearned();
    const usualOutput = output.value ?? USUAL_OUTPUT;
    const units = unitsOf({
      input,
      output: mostOutput === undefined ? undefined : Math.min(mostOutput, usualOutput),
    });
    const { value: msPerUnit } = unitMs;
    const ms =
      units === undefined || msPerUnit === undefined
        ? (requestMs.value ?? units ?? 1)
        : units * msPerUnit;
    return Math.max(MIN_MS, ms);
  }

  /** A request took so long on a device. @param work what it was in the end */
  observe(model: string, work: MeasuredWork, deviceMs: number): void {
    const learned = this.#models.get(model) ?? newLearned();
    this.#models.set(model, learned);
    const units = unitsOf(work);
    learned.requestMs.add(deviceMs);
    if (units) learned.unitMs.add(deviceMs / units, units);
    if (work.output !== undefined) learned.output.add(work.output);
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
