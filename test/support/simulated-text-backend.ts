import { type GenerationPlan, type StepItem } from '@switchyard/engine-api/generation-plan.js';
import {
  BackendLost,
  type Drawn,
  type Prompt,
  type Sampling,
  type TextBackend,
  type TextBackendInfo,
  type TextOutcome,
  type TextSequence,
} from '@switchyard/engine-api/text-backend.port.js';
import { DomainError } from '../../src/core/errors/domain-error.js';
import { type PagedMemory } from './paged-memory.js';
import { BackendDied, StepSimulator } from './step-simulator.js';

/**
 * Tokens of the simulated vocabulary: one per byte, and one that stands between a prompt
 * and its answer.
 */
const ANSWER = 256;
const VOCABULARY = 257;
/** In a prompt: the answer has no end. */
const ENDLESS = 'ENDLESS';

export interface SimulatedOptions {
  readonly rows?: number;
  readonly contextTokens?: number;
  readonly blocks?: number;
  readonly blockTokens?: number;
  readonly stepTokens?: number;
  readonly chat?: boolean;
  readonly thinks?: boolean;
  readonly grammar?: boolean;
  /** Awaited before each native run: a gate, or the time of a device. */
  readonly beforeStep?: (items: readonly StepItem<TextSequence>[]) => Promise<void> | void;
  /**
   * Throws for a run that fails as a whole, `BackendDied` for one that kills the process.
   */
  readonly beforeRun?: (items: readonly StepItem<TextSequence>[]) => void;
  readonly itemError?: (item: StepItem<TextSequence>) => Error | undefined;
  /** Throws as long as the process cannot be started again. */
  readonly onReopen?: () => Promise<void> | void;
}

/**
 * A text backend without a model, on the step simulator and its KV cells: the answer says
 * the prompt again, byte by byte, and then a letter that the seed decides. Characters of
 * several bytes come in parts, as they do from real vocabularies.
 */
export class SimulatedTextBackend implements TextBackend {
  readonly info: TextBackendInfo;
  readonly memory: PagedMemory<object>;
  reopened = 0;
  readonly #options: SimulatedOptions;
  readonly #simulator: StepSimulator<TextSequence>;
  /** The step that runs: the one behind it waits. */
  #running: Promise<unknown> = Promise.resolve();
  #dead = false;

  constructor(options: SimulatedOptions = {}) {
    const {
      rows = 4,
      contextTokens = 256,
      blocks = 64,
      blockTokens = 8,
      stepTokens = 64,
    } = options;
    const { chat = true, thinks = false, grammar = false, beforeRun, itemError } = options;
    this.#options = options;
    this.info = {
      ...{ rows, contextTokens, stepTokens, chat, thinks, grammar },
      ...{ model: 'simulated', device: 'none', revision: 'simulated 1' },
    };
    const cost = { fixedMs: 0, perTokenMs: 0, perPastTokenMs: 0 };
    this.#simulator = new StepSimulator({
      blocks,
      blockTokens,
      cost,
      next: nextToken,
      beforeRun,
      itemError,
    });
    this.memory = this.#simulator.memory;
  }

  get decodeCalls(): number {
    return this.#simulator.runs;
  }

  load(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  encode(prompt: Prompt): Promise<readonly number[]> {
    return Promise.resolve().then(() => {
      if (this.#dead) throw new BackendLost('The process is gone.');
      return this.#encode(prompt);
    });
  }

  bytesOf(token: number): Buffer {
    return token < 256 ? Buffer.from([token]) : Buffer.alloc(0);
  }

  check({ logitBias, grammar }: Sampling): Promise<void> {
    const wrong = [...(logitBias?.keys() ?? [])].find(token => token >= VOCABULARY);
    if (wrong !== undefined)
      return Promise.reject(invalid('logit_bias', `There is no token ${wrong}.`));
    if (grammar?.type === 'gbnf' && !grammar.text.includes('root'))
      return Promise.reject(invalid('grammar', 'It has no root.'));
    return Promise.resolve();
  }

  run(plan: GenerationPlan<TextSequence>): Promise<TextOutcome> {
    const outcome = this.#running.then(() => this.#run(plan));
    this.#running = outcome.catch(() => undefined);
    return outcome;
  }

  /** The process dies, between two steps. */
  die(): void {
    this.#simulator.crash();
    this.#dead = true;
  }

  async reopen(): Promise<void> {
    await this.#options.onReopen?.();
    this.#dead = false;
    this.reopened += 1;
  }

  async #run(plan: GenerationPlan<TextSequence>): Promise<TextOutcome> {
    if (this.#dead) throw new Error('The process is gone.');
    await this.#options.beforeStep?.([...plan.decode, ...plan.prefill]);
    try {
      const outcome = this.#simulator.step(plan);
      if (outcome.type !== 'done') return outcome;
      const drawn = new Map<TextSequence, Drawn>();
      for (const [sequence, result] of outcome.results)
        if (result.type === 'token') drawn.set(sequence, drawnOf(result.token, sequence.sampling));
      return { ...outcome, drawn };
    } catch (error) {
      if (error instanceof BackendDied) this.die();
      throw error;
    }
  }

  #encode(prompt: Prompt): readonly number[] {
    if (prompt.type === 'text') return [...Buffer.from(prompt.text), ANSWER];
    if (prompt.type === 'chat') return [...Buffer.from(this.#rendered(prompt)), ANSWER];
    const wrong = prompt.tokens.find(token => token >= VOCABULARY);
    if (wrong !== undefined) throw invalid('prompt', `There is no token ${wrong}.`);
    return prompt.tokens;
  }

  #rendered({ messages, tools }: Extract<Prompt, { type: 'chat' }>): string {
    if (!this.info.chat) throw invalid('messages', 'This model has no chat template.');
    const said = (messages as readonly { role: string; content: string }[])
      .map(({ content }) => content)
      .join('\n');
    return tools === undefined ? said : `${JSON.stringify(tools)}\n${said}`;
  }
}

function drawnOf(token: number, { logprobs }: Sampling): Drawn {
  if (logprobs === undefined) return { bytes: bytesOf(token) };
  const top = Array.from({ length: logprobs }, (_, at) => {
    const other = (token + at) % ANSWER;
    return { token: other, bytes: bytesOf(other), logprob: -0.5 - at };
  });
  return { bytes: bytesOf(token), logprob: -0.5, top };
}

const bytesOf = (token: number): Buffer => (token < ANSWER ? Buffer.of(token) : Buffer.alloc(0));
const invalid = (param: string, message: string): DomainError =>
  new DomainError('invalid_value', message, { param });

/**
 * The prompt's last line again, then a letter by the seed, if anything is left to chance,
 * then the end.
 */
function nextToken(past: readonly number[], { sampling }: TextSequence): number | undefined {
  const mark = past.lastIndexOf(ANSWER);
  const said = past.slice(past.lastIndexOf(10, mark) + 1, mark);
  const at = past.length - mark - 1;
  if (mark < 0 || said.length === 0) return undefined;
  if (Buffer.from(said).includes(ENDLESS)) return said[at % said.length];
  if (at < said.length) return said[at];
  return at === said.length && sampling.temperature > 0 ? 97 + (sampling.seed % 26) : undefined;
}
