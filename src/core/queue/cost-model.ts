/**
 * How much work a request is, in units of its model, as far as that is known
 * when it arrives.
 */
export interface WorkSize {
  /** Seconds of audio, characters to speak, or tokens of input; absent: unknown. */
  readonly input?: number;
  /** Tokens that may be generated at most; absent: it generates none. */
  readonly mostOutput?: number;
}

/** What it was in the end. */
export interface MeasuredWork {
  readonly input?: number;
  readonly output?: number;
}

/** Sums that forget: the last 50 or so requests of a model count. */
interface Learned {
  requests: number;
  requestMs: number;
  units: number;
  unitMs: number;
  generations: number;
  output: number;
}

const NOTHING: Learned = {
  requests: 0,
  requestMs: 0,
  units: 0,
  unitMs: 0,
  generations: 0,
  output: 0,
};

const MEMORY = 0.98;
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
  readonly #models = new Map<string, Learned>();

  /** Device milliseconds. Before anything is known of the model, a unit counts as one. */
  estimateMs(model: string, { input, mostOutput }: WorkSize): number {
    const learned = this.#models.get(model);
    const output =
      mostOutput === undefined ? undefined : Math.min(mostOutput, usualOutput(learned));
    const units = unitsOf({ input, output });
    if (learned === undefined || learned.requests === 0)
      return Math.max(MIN_MS, units ?? 1);
    if (units === undefined || learned.units === 0)
      return Math.max(MIN_MS, learned.requestMs / learned.requests);
    return Math.max(MIN_MS, (units * learned.unitMs) / learned.units);
  }

  /** A request took so long on a device. */
  observe(model: string, { input, output }: MeasuredWork, deviceMs: number): void {
    const learned = this.#models.get(model) ?? { ...NOTHING };
    this.#models.set(model, learned);
    const units = unitsOf({ input, output });
    learned.requests = learned.requests * MEMORY + 1;
    learned.requestMs = learned.requestMs * MEMORY + deviceMs;
    if (units !== undefined) {
      learned.units = learned.units * MEMORY + units;
      learned.unitMs = learned.unitMs * MEMORY + deviceMs;
    }
    if (output !== undefined) {
      learned.generations = learned.generations * MEMORY + 1;
      learned.output = learned.output * MEMORY + output;
    }
  }
}

const usualOutput = (learned: Learned | undefined): number =>
  learned && learned.generations > 0
    ? learned.output / learned.generations
    : USUAL_OUTPUT;

function unitsOf({ input, output }: MeasuredWork): number | undefined {
  if (output !== undefined) return (input ?? 0) * INPUT_PER_OUTPUT + output;
  return input !== undefined && input > 0 ? input : undefined;
}
