import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type GenerationPlan } from '@switchyard/engine-api/generation-plan.js';
import {
  type Grammar,
  type Prompt,
  type Sampling,
  type TextBackend,
  type TextBackendInfo,
  type TextOutcome,
  type TextSequence,
} from '@switchyard/engine-api/text-backend.port.js';
import { LlamaChild } from './child.js';
import { vocabularySizeOf } from './gguf-header.js';
import { checkGrammar } from './grammar-text.js';
import { type ChildSettings, type LlamaOptions } from './options.js';
import { LlamaProcessGone } from './process.js';
import {
  type ChildInfo,
  type LlamaOperations,
  type StepFrame,
  type StepReply,
} from './protocol.js';
import { SlotMemory } from './slot-memory.js';
import { SlotSteps } from './slot-steps.js';
import { Vocabulary } from './vocabulary.js';

/** Tokens per block of KV memory, the unit of shared beginnings. */
const BLOCK_TOKENS = 32;
/**
 * What a token may add to the time of a step before the process is taken as hung; a slow
 * machine needs a tenth of it.
 */
const TOKEN_LIMIT_MS = 250;
/** Tokens up to which a draw takes less time than waking a thread for it. */
const SMALL_VOCABULARY = 4096;

/**
 * Threads of the child for draws, besides those of native runs: they never work at the
 * same time. With one, draws stand in line behind the native run.
 */
function drawThreadsFor({ modelFile, threads }: LlamaOptions): number {
  const vocabulary = vocabularySizeOf(modelFile) ?? Infinity;
  return vocabulary <= SMALL_VOCABULARY ? 1 : Math.min(16, Math.max(4, threads));
}

/**
 * llama.cpp behind `TextBackend`: all items of a plan in one native decode, in a child
 * process. `SlotMemory` decides which slot of the context a sequence has; the child
 * computes and draws, and may die at any time.
 */
export class LlamaBackend implements TextBackend {
  readonly memory: SlotMemory;
  readonly stepTargetMs: number;
  readonly #child: LlamaChild<LlamaOperations, ChildInfo>;
  readonly #steps: SlotSteps;
  #loading: Promise<void> | undefined;
  #info: ChildInfo | undefined;
  #known: Vocabulary | undefined;
  #running: Promise<unknown> = Promise.resolve();
  /** Checks run one after another, so that the time of one does not count against the next. */
  #checking: Promise<unknown> = Promise.resolve();
  decodeCalls = 0;
  /** Steps sent so far. */
  #sent = 0;
  /** Time limit of the last step, by which the limit of a step behind it is longer. */
  #limitMs = 0;

  constructor(private readonly options: LlamaOptions) {
    const { contextTokens, rows, kvTokens = rows * contextTokens } = options;
    this.stepTargetMs = options.stepTargetMs;
    const shape = { slots: rows, slotTokens: contextTokens, blockTokens: BLOCK_TOKENS };
    this.memory = new SlotMemory({ ...shape, tokens: kvTokens });
    this.#steps = new SlotSteps(this.memory);
    const drawThreads = drawThreadsFor(options);
    const settings: ChildSettings = { ...options, drawThreads };
    this.#child = new LlamaChild('./native/generator.child.js', settings, drawThreads, info =>
      this.#forget(info),
    );
  }

  get info(): TextBackendInfo {
    const { contextTokens, rows, stepTokens, modelFile, device, sampling } = this.options;
    return {
      contextTokens,
      rows,
      stepTokens,
      model: modelFile,
      device,
      revision: '',
      chat: false,
      toolForm: 'hermes',
      thinks: false,
      grammar: true,
      sampling,
      ...this.#info,
    };
  }

  /** Of the process with the model in it; for tests that kill it. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  load(): Promise<void> {
    return (this.#loading ??= this.#open());
  }

  async encode(prompt: Prompt): Promise<readonly number[]> {
    if (prompt.type === 'tokens') return this.#vocabulary.checked(prompt.tokens, 'prompt');
    return [...(await this.#child.ask('encode', writeJson(prompt)))];
  }

  bytesOf(token: number): Buffer {
    return this.#vocabulary.bytesOf(token);
  }

  async check({ logitBias, grammar }: Sampling): Promise<void> {
    if (logitBias) this.#vocabulary.checked([...logitBias.keys()], 'logit_bias');
    if (!grammar) return;
    await checkGrammar(grammar, limitMs => {
      const checked = this.#checking.then(() => this.#compiled(grammar, limitMs));
      this.#checking = checked.catch(() => undefined);
      return checked;
    });
  }

  run(plan: GenerationPlan<TextSequence>): Promise<TextOutcome> {
    const running = this.#run(plan);
    this.#running = running.catch(() => undefined);
    return running;
  }

  stop(): void {
    this.#child.call('stop', this.#sent).catch(() => undefined);
  }

  /** Opens the model again after a loss, unless a call that encodes has done so already. */
  async reopen(): Promise<void> {
    await this.#child.reopen();
    if (this.#info) this.#forget(this.#info);
  }

  async close(): Promise<void> {
    // A step that hangs is not waited for longer than it may take.
    await this.#running;
    await this.#child.close();
  }

  async #open(): Promise<void> {
    await this.#child.open();
    this.#known = new Vocabulary(await this.#child.ask('vocabulary', undefined));
  }

  /**
   * One that does not come to an end costs the process; who sent it is refused, and all
   * others go on in another one.
   */
  async #compiled(grammar: Grammar, limitMs: number): Promise<string | undefined> {
    try {
      return await this.#child.ask('grammar', writeJson(grammar), limitMs);
    } catch (error) {
      if (error instanceof LlamaProcessGone && error.isOverdue) return undefined;
      throw error;
    }
  }

  #forget(info: ChildInfo): void {
    this.#info = info;
    this.memory.reset(info);
  }

  async #run(plan: GenerationPlan<TextSequence>): Promise<TextOutcome> {
    const step = this.#steps.prepare(plan, this.#vocabulary);
    if (step.frame === undefined) return { type: 'done', results: step.refused, drawn: new Map() };
    const reply = await this.#compute(plan, step.frame);
    return this.#steps.outcome(step, reply, this.#vocabulary);
  }

  async #compute(
    { ahead }: GenerationPlan<TextSequence>,
    frame: Omit<StepFrame, 'run'>,
  ): Promise<StepReply> {
    const limitMs = this.options.stepTimeoutMs + frame.tokens.length * TOKEN_LIMIT_MS;
    const waitMs = ahead ? this.#limitMs : 0;
    this.#limitMs = limitMs;
    const run = ++this.#sent;
    const reply = await this.#child.call('step', { ...frame, run }, waitMs + limitMs);
    if (!reply.skipped) this.decodeCalls += 1;
    return reply;
  }

  get #vocabulary(): Vocabulary {
    if (this.#known === undefined) throw new Error('The model is not loaded.');
    return this.#known;
  }
}
