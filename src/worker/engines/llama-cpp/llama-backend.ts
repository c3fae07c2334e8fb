import { type GenerationPlan } from '../../../core/iteration/generation-plan.js';
import {
  type Prompt,
  type Sampling,
  type TextBackend,
  type TextBackendInfo,
  type TextOutcome,
  type TextSequence,
} from '../../generation/text-backend.port.js';
import { vocabularySizeOf } from './gguf-header.js';
import { LlamaChild } from './llama-child.js';
import { grammarRefused } from './grammar/gbnf-reader.js';
import { drawThreads, type LlamaOptions } from './llama-options.js';
import {
  type ChildInfo,
  type ChildSettings,
  type GrammarCheck,
  type LlamaOperations,
  type StepFrame,
  type StepReply,
} from './llama-protocol.js';
import { LlamaCallOverdue } from './llama-process.js';
import { engineFailed, SlotSteps } from './slot-steps.js';
import { Vocabulary } from './vocabulary.js';
import { demandShallow, rememberGrammar } from './grammar/compiled-grammars.js';
import { paramOf } from './grammar/grammar-text.js';

/** As the ledger counts (DESIGN "Continuous batching"). */
const BLOCK_TOKENS = 32;
/** What a token may add to the time of a step before the process is taken as hung; a slow machine needs a tenth of it. */
const TOKEN_LIMIT_MS = 250;
/** A grammar within bounds takes a tenth of a second; nobody gets a token while one is compiled. */
const GRAMMAR_LIMIT_MS = 5000;

/** KV memory as it really is in the slots. */
export interface KvCounters {
  /** Native runs besides those of the plans: what slots lacked did not fit into the plan's own. Goes on over restarts. */
  readonly extraRuns: number;
  /** Tokens in slots that no sequence holds now: found by equal beginnings, lost when their slot is needed. */
  readonly kept: number;
}

/**
 * llama.cpp behind `TextBackend`: all items of a plan in one native decode, in a child process. This side decides which slot
 * of the context a sequence has and keeps the tokens (`SlotSteps`); the child computes and draws, and may die at any time.
 */
export class LlamaBackend implements TextBackend {
  readonly memory: { readonly blocks: number; readonly blockTokens: number };
  readonly #options: LlamaOptions;
  readonly #child: LlamaChild<LlamaOperations, ChildInfo>;
  readonly #steps: SlotSteps;
  #loading: Promise<void> | undefined;
  #info: ChildInfo | undefined;
  #known: Vocabulary | undefined;
  #running: Promise<unknown> = Promise.resolve();
  /** One after another: what one takes is not counted against the next. */
  #checking: Promise<unknown> = Promise.resolve();
  #runs = 0;
  #extraRuns = 0;
  /** Of the last step: one that is sent behind it may take so much longer. */
  #limitMs = 0;

  constructor(options: LlamaOptions) {
    this.#options = options;
    const { contextTokens, rows } = options;
    this.memory = { blocks: rows * Math.ceil(contextTokens / BLOCK_TOKENS), blockTokens: BLOCK_TOKENS };
    this.#steps = new SlotSteps(options, { slots: rows, costs: { computeMs: 0, copyMs: 0 }, cutsBack: true });
    const settings = settingsOf(options);
    this.#child = new LlamaChild({
      ...{ entry: './llama.child.js', settings, options, poolThreads: settings.drawThreads },
      onOpen: info => this.#forget(info),
    });
  }

  get info(): TextBackendInfo {
    const { contextTokens, rows, stepTokens, modelFile, device } = this.#options;
    const known = this.#info;
    return {
      ...{ contextTokens, rows, stepTokens },
      model: known?.model ?? modelFile,
      device: known?.device ?? device,
      revision: known?.revision ?? '',
      chat: known?.chat ?? false,
      toolCalls: known?.toolCalls ?? false,
      grammar: true,
    };
  }

  get decodeCalls(): number {
    return this.#runs;
  }

  get strandedTokens(): number {
    return this.#steps.stranded;
  }

  get kv(): KvCounters {
    return { extraRuns: this.#extraRuns, kept: this.#steps.kept };
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
    return [...(await this.#child.ask('encode', prompt))];
  }

  async check({ logitBias, grammar }: Sampling): Promise<void> {
    if (logitBias) this.#vocabulary.checked([...logitBias.keys()], 'logit_bias');
    if (!grammar) return;
    const check = { grammar, param: paramOf(grammar) };
    demandShallow(grammar, check.param);
    const checked = this.#checking.then(() => this.#compiled(check));
    this.#checking = checked.catch(() => undefined);
    rememberGrammar(grammar, await checked);
  }

  run(plan: GenerationPlan<TextSequence>): Promise<TextOutcome> {
    const running = this.#run(plan);
    this.#running = running.catch(() => undefined);
    return running;
  }

  /** Somebody who encodes may have noticed first, and opened it. */
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

  /** One that does not come to an end costs the process; who sent it is refused, and all others go on in another one. */
  async #compiled(check: GrammarCheck): Promise<string> {
    try {
      return await this.#child.ask('grammar', check, GRAMMAR_LIMIT_MS);
    } catch (error) {
      if (!(error instanceof LlamaCallOverdue)) throw error;
      throw grammarRefused(check.param, `it could not be compiled within ${GRAMMAR_LIMIT_MS} ms`);
    }
  }

  #forget(info: ChildInfo): void {
    this.#info = info;
    this.#steps.forget({ slots: this.#options.rows, costs: info.costs, cutsBack: info.cutsBack });
  }

  async #run(plan: GenerationPlan<TextSequence>): Promise<TextOutcome> {
    const step = this.#steps.prepare(plan, this.#vocabulary);
    if (step.frames.length === 0) return { type: 'done', results: step.refused, drawn: new Map() };
    const reply = await this.#compute(plan, step.frames);
    if (reply.skipped === undefined && reply.failure === undefined)
      return this.#steps.learn(step, reply, this.#vocabulary);
    this.#steps.spoiled(step);
    return reply.skipped ? { type: 'skipped' } : { type: 'failed', error: engineFailed(String(reply.failure)) };
  }

  /** All frames at once: the child takes them one after another. @returns the reply that draws, or the first that failed */
  async #compute({ ahead }: GenerationPlan<TextSequence>, frames: readonly StepFrame[]): Promise<StepReply> {
    const tokens = frames.reduce((sum, frame) => sum + frame.tokens.length, 0);
    const limitMs = this.#options.stepTimeoutMs + tokens * TOKEN_LIMIT_MS;
    const waitMs = ahead ? this.#limitMs : 0;
    this.#limitMs = limitMs;
    const replies = await Promise.all(frames.map(frame => this.#child.call('step', frame, waitMs + limitMs)));
    const run = replies.filter(({ skipped }) => !skipped).length;
    this.#runs += run;
    this.#extraRuns += Math.max(0, run - 1);
    return replies.find(({ failure, skipped }) => failure !== undefined || skipped) ?? replies.at(-1)!;
  }

  get #vocabulary(): Vocabulary {
    if (this.#known === undefined) throw new Error('The model is not loaded.');
    return this.#known;
  }
}

function settingsOf(options: LlamaOptions): ChildSettings {
  const { modelFile, device, gpuLayers, contextTokens, rows, stepTokens, threads, exact = false } = options;
  const shared = { modelFile, device, contextTokens, rows, stepTokens, threads, exact };
  const draws = drawThreads(options, vocabularySizeOf(modelFile));
  return { ...shared, drawThreads: draws, ...(gpuLayers !== undefined && { gpuLayers }) };
}
