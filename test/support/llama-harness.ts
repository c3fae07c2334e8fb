import { type GenerationPlan, itemsOf } from '@switchyard/engine-api/generation-plan.js';
import { type GenerationEnd } from '@switchyard/engine-api/generation-request.js';
import {
  type Drawn,
  type Sampling,
  type TextOutcome,
  type TextSequence,
} from '@switchyard/engine-api/text-backend.port.js';
import { LlamaBackend } from '@switchyard/engine-llama-cpp/backend.js';
import { type LlamaOptions } from '@switchyard/engine-llama-cpp/options.js';
import { GenerationScheduler } from '../../src/core/iteration/generation-scheduler.js';
import { type GenerationOptions } from '../../src/core/iteration/running-set.js';
import { llamaModel } from './llama-model.js';

export const GREEDY: Sampling = {
  ...{ temperature: 0, topP: 1, topK: 0, minP: 0, seed: 1 },
  ...{ frequencyPenalty: 0, presencePenalty: 0, repeatPenalty: 1 },
};

export async function llamaBackend(changes: Partial<LlamaOptions> = {}): Promise<LlamaBackend> {
  const backend = new LlamaBackend({
    ...{
      modelFile: await llamaModel(),
      device: 'cpu',
      contextTokens: 256,
      rows: 8,
      stepTokens: 64,
      threads: 1,
      batchThreads: 1,
      exact: true,
    },
    ...{
      stepTimeoutMs: 120_000,
      loadTimeoutMs: 120_000,
      stepTargetMs: 50,
      sampling: {},
    },
    ...changes,
  });
  await backend.load();
  return backend;
}

export function textSequence(
  prompt: readonly number[],
  changes: Partial<TextSequence> = {},
): TextSequence {
  const { tenant = 'a' } = changes;
  return {
    ...{
      priorityClass: 0,
      arrivalMs: 0,
      tenant,
      salt: tenant,
      maxTokens: 24,
      sampling: GREEDY,
    },
    prompt,
    ...changes,
  };
}

/** What became of a sequence. */
export interface Played {
  readonly tokens: number[];
  readonly drawn: Drawn[];
  end: GenerationEnd | undefined;
}

type Scheduling = Partial<Omit<GenerationOptions<TextSequence>, 'emitted' | 'ended'>>;

/**
 * The scheduler on the real backend, step by step, with rules that hold whatever happens.
 */
export class LlamaHarness {
  readonly scheduler: GenerationScheduler<TextSequence>;
  readonly played = new Map<TextSequence, Played>();
  /** Steps with at least one item. */
  steps = 0;
  preemptions = 0;
  /** Steps that were sent while another one ran. */
  stepsAhead = 0;
  #nowMs = 0;
  #flights: {
    readonly plan: GenerationPlan<TextSequence>;
    readonly outcome: Promise<TextOutcome>;
  }[] = [];
  /** What the step that is being learnt drew. */
  #drawn: ReadonlyMap<TextSequence, Drawn> = new Map();

  constructor(
    readonly backend: LlamaBackend,
    scheduling: Scheduling = {},
  ) {
    const { rows, stepTokens, contextTokens } = backend.info;
    this.scheduler = new GenerationScheduler<TextSequence>({
      ...{
        memory: backend.memory,
        maxRows: rows,
        maxContext: contextTokens,
        outputWeight: 2,
      },
      ...{
        classWidthMs: 1000,
        headroomTokens: 8,
        maxPreemptions: 2,
        maxOvertakes: 4,
        backoffMs: 5,
        pauseGraceMs: 100,
      },
      ...{
        budget: { minTokens: rows, maxTokens: stepTokens, targetMs: 1e9 },
        idleWaitMs: 50,
        loadWaitMs: 5,
      },
      ...scheduling,
      emitted: (sequence, token) => this.#emitted(sequence, token),
      ended: (sequence, end) => void (this.played.get(sequence)!.end = end),
    });
  }

  submit(...sequences: readonly TextSequence[]): void {
    for (const sequence of sequences) {
      const refusal = this.scheduler.submit(sequence);
      if (refusal) throw new Error(`refused: ${refusal.reason}`);
      this.played.set(sequence, { tokens: [], drawn: [], end: undefined });
    }
  }

  /**
   * One step, if there is one, with the next one sent behind it where that can be
   * planned. A dead process is opened again, as the step loop of the product does.
   */
  async step(): Promise<void> {
    if (this.#flights.length === 0) this.#send(this.scheduler.plan(this.#nowMs++));
    const [flight] = this.#flights;
    if (flight === undefined) return;
    this.#send(this.scheduler.planAhead(this.#nowMs++));
    try {
      const outcome = await flight.outcome;
      this.#flights.shift();
      if (outcome.type !== 'skipped' && itemsOf(flight.plan).length > 0) this.steps += 1;
      if (outcome.type === 'done') this.#drawn = outcome.drawn;
      this.scheduler.complete(outcome, this.#nowMs++);
    } catch (error) {
      this.#flights = [];
      this.scheduler.lost(error as Error);
      await this.backend.reopen();
    }
    this.scheduler.audit();
  }

  #send(plan: GenerationPlan<TextSequence> | undefined): void {
    if (plan === undefined) return;
    this.preemptions += plan.leave.filter(
      sequence => this.played.get(sequence)?.end === undefined,
    ).length;
    this.stepsAhead += plan.ahead ? 1 : 0;
    const outcome = this.backend.run(plan);
    outcome.catch(() => undefined);
    this.#flights.push({ plan, outcome });
  }

  /** Until no sequence is left. `between` sees each step. */
  async drain(between: (step: number) => void = () => undefined): Promise<void> {
    for (let step = 0; this.scheduler.running + this.scheduler.waiting > 0; step++) {
      await this.step();
      between(step);
    }
    // The last ones leave, and what was sent behind them lands.
    await this.step();
    while (this.#flights.length > 0) await this.step();
  }

  tokensOf(sequence: TextSequence): readonly number[] {
    return this.played.get(sequence)!.tokens;
  }

  #emitted(sequence: TextSequence, token: number): void {
    const played = this.played.get(sequence)!;
    if (played.end) throw new Error('A token after the end.');
    played.tokens.push(token);
    played.drawn.push(this.#drawn.get(sequence)!);
  }
}

/** What each comes to alone. */
export async function soloTokens(
  backend: LlamaBackend,
  sequences: readonly TextSequence[],
): Promise<(readonly number[])[]> {
  const solos: (readonly number[])[] = [];
  for (const sequence of sequences) {
    // A salt of its own: nothing is shared with whoever was here.
    const alone = { ...sequence, salt: `solo-${solos.length}`, deadlineMs: undefined };
    const harness = new LlamaHarness(backend);
    harness.submit(alone);
    await harness.drain();
    solos.push(harness.tokensOf(alone));
  }
  return solos;
}
