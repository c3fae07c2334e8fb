import {
  type GenerationPlan,
  itemsOf,
  type ItemResult,
  type StepItem,
  type StepOutcome,
} from '../../../core/iteration/generation-plan.js';
import { DomainError } from '../../../core/shared/domain-error.js';
import {
  type Drawn,
  type Prompt,
  type Sampling,
  type TextBackend,
  type TextBackendInfo,
  type TextSequence,
} from '../../generation/text-backend.port.js';
import { LlamaChild } from './llama-child.js';
import { drawThreads, type LlamaOptions } from './llama-options.js';
import {
  type ChildInfo,
  type ChildSettings,
  DRAW_FAILED,
  type DrawnProbabilities,
  type LlamaOperations,
  type SequenceStart,
  type StepReply,
} from './llama-protocol.js';
import { SequenceBook } from './sequence-book.js';
import { type SlotOperation, SlotTable } from './slot-table.js';
import { frameOf, type PlacedItem, runsOf } from './step-frame.js';
import { Vocabulary } from './vocabulary.js';
import { grammarTextOf } from './wire-sampling.js';

/** As the ledger counts (DESIGN "Continuous batching"). */
const BLOCK_TOKENS = 32;
/** What a token may add to the time of a step before the process is taken as hung; a slow machine needs a tenth of it. */
const TOKEN_LIMIT_MS = 250;

/** KV memory as it really is in the slots. */
export interface KvCounters {
  /** Native runs besides those of the plans: what slots lacked did not fit into the plan's own. Goes on over restarts. */
  readonly extraRuns: number;
  /** Tokens in slots that no sequence holds now: found by equal beginnings, lost when their slot is needed. */
  readonly kept: number;
}

/**
 * llama.cpp behind `TextBackend`: all items of a plan in one native decode, in a child process. This side decides which slot
 * of the context a sequence has (`SlotTable`) and keeps the tokens; the child computes and draws, and may die at any time.
 */
export class LlamaBackend implements TextBackend {
  readonly memory: { readonly blocks: number; readonly blockTokens: number };
  readonly #options: LlamaOptions;
  readonly #child: LlamaChild<LlamaOperations, ChildInfo>;
  readonly #book = new SequenceBook();
  /** They have a slot whose sampler is not theirs yet: it begins with their next draw. */
  readonly #silent = new WeakSet<TextSequence>();
  #loading: Promise<void> | undefined;
  #info: ChildInfo | undefined;
  #known: Vocabulary | undefined;
  #slots: SlotTable<TextSequence>;
  #drawn = new Map<TextSequence, Drawn>();
  #running: Promise<unknown> = Promise.resolve();
  #runs = 0;
  #extraRuns = 0;
  #stranded = 0;

  constructor(options: LlamaOptions) {
    this.#options = options;
    const { contextTokens, rows } = options;
    this.memory = { blocks: rows * Math.ceil(contextTokens / BLOCK_TOKENS), blockTokens: BLOCK_TOKENS };
    this.#slots = new SlotTable({ slots: rows, costs: { computeMs: 0, copyMs: 0 }, cutsBack: true });
    this.#child = new LlamaChild({
      ...{ entry: './llama.child.js', settings: settingsOf(options), options },
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
    return this.#stranded;
  }

  get kv(): KvCounters {
    return { extraRuns: this.#extraRuns, kept: this.#slots.kept };
  }

  /** Of the process with the model in it; for tests that kill it. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  load(): Promise<void> {
    return (this.#loading ??= this.#open());
  }

  async encode(prompt: Prompt): Promise<readonly number[]> {
    if (prompt.type === 'tokens') return this.#checked(prompt.tokens, 'prompt');
    return [...(await this.#child.ask('encode', prompt))];
  }

  async check({ logitBias, grammar }: Sampling): Promise<void> {
    if (logitBias) this.#checked([...logitBias.keys()], 'logit_bias');
    if (!grammar) return;
    const param = grammar.type === 'gbnf' ? 'grammar' : 'response_format';
    await this.#child.ask('grammar', { text: grammarTextOf(grammar), param });
  }

  run(plan: GenerationPlan<TextSequence>): Promise<StepOutcome<TextSequence>> {
    const running = this.#run(plan);
    this.#running = running.catch(() => undefined);
    return running;
  }

  drawn(sequence: TextSequence): Drawn | undefined {
    return this.#drawn.get(sequence);
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

  /** A new process: nothing is in its slots, whoever may think so. */
  #forget(info: ChildInfo): void {
    this.#info = info;
    this.#slots = new SlotTable({ slots: this.#options.rows, costs: info.costs, cutsBack: info.cutsBack });
  }

  async #run(plan: GenerationPlan<TextSequence>): Promise<StepOutcome<TextSequence>> {
    const results = new Map<TextSequence, ItemResult>();
    this.#drawn = new Map();
    for (const sequence of plan.leave) this.#slots.release(sequence);
    const sound = itemsOf(plan).filter(item => {
      const error = this.#problemOf(item);
      if (error) results.set(item.request, { type: 'failed', error });
      return error === undefined;
    });
    if (sound.length === 0) return { type: 'done', results };
    const placed = sound.map(item => this.#place(item));
    // As they were placed: a copy reads what a later cut takes away.
    const operations = placed.flatMap(({ placement }) => placement.operations);
    // llama.cpp takes sequences through the model together as long as their numbers follow one another.
    placed.sort((a, b) => a.placement.slot - b.placement.slot);
    const reply = await this.#compute(placed, operations);
    if (reply.failure !== undefined) return this.#failed(placed, reply.failure);
    placed.forEach((one, index) => results.set(one.item.request, this.#learn(one, reply, index)));
    return { type: 'done', results };
  }

  /** What would spoil the run for all, or cannot be drawn by. */
  #problemOf({ request, position, tokens }: StepItem<TextSequence>): Error | undefined {
    const { contextTokens } = this.#options;
    if (position + tokens.length > contextTokens)
      return new DomainError('engine_failed', `A sequence beyond its ${contextTokens} tokens; nothing is shifted.`);
    try {
      this.#checked(tokens, 'prompt');
      this.#book.sampling(request);
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }

  #place(item: StepItem<TextSequence>): PlacedItem {
    const { request, position, tokens } = item;
    const known = this.#book.note(item);
    const placement = this.#slots.place(request, { salt: request.salt, tokens: known, position });
    this.#stranded += position - placement.have;
    if (placement.isNew) this.#silent.add(request);
    return { item, placement, pending: known.slice(placement.have, position + tokens.length) };
  }

  /** One native run, or the last of several when slots lacked more than fits into one. */
  async #compute(placed: readonly PlacedItem[], operations: readonly SlotOperation[]): Promise<StepReply> {
    const runs = runsOf(placed, this.#options.stepTokens);
    let begins = placed
      .filter(({ item }) => item.sample && this.#silent.delete(item.request))
      .map(one => this.#start(one));
    let reply: StepReply = { drawn: new Int32Array(0) };
    for (const chunks of runs) {
      const tokens = chunks.reduce((sum, chunk) => sum + chunk.tokens.length, 0);
      const limitMs = this.#options.stepTimeoutMs + tokens * TOKEN_LIMIT_MS;
      this.#runs += 1;
      reply = await this.#child.call('step', frameOf(operations, begins, chunks), limitMs);
      if (reply.failure !== undefined) return reply;
      operations = [];
      begins = [];
    }
    this.#extraRuns += runs.length - 1;
    return reply;
  }

  #start({ item: { request }, placement: { slot } }: PlacedItem): SequenceStart {
    return { slot, sampling: this.#book.sampling(request), answer: this.#book.answer(request) };
  }

  #failed(placed: readonly PlacedItem[], failure: string): StepOutcome<TextSequence> {
    for (const { item } of placed) this.#slots.spoiled(item.request);
    return { type: 'failed', error: new DomainError('engine_failed', `llama.cpp: ${failure}`) };
  }

  #learn({ item, placement, pending }: PlacedItem, reply: StepReply, index: number): ItemResult {
    const { request } = item;
    this.#slots.wrote(request, placement.have, pending);
    const token = reply.drawn[index]!;
    if (!item.sample) return { type: 'computed' };
    if (token === DRAW_FAILED)
      return { type: 'failed', error: new DomainError('engine_failed', `llama.cpp: ${reply.failures?.get(index)}`) };
    const vocabulary = this.#vocabulary;
    if (vocabulary.isEnd(token)) return { type: 'stop' };
    this.#book.drew(request, token);
    this.#drawn.set(request, drawnOf(vocabulary, token, reply.probabilities?.get(index)));
    return { type: 'token', token };
  }

  #checked(tokens: readonly number[], param: string): readonly number[] {
    const vocabulary = this.#vocabulary;
    const stranger = tokens.find(token => !vocabulary.has(token));
    if (stranger === undefined) return tokens;
    const range = `0 to ${vocabulary.size - 1}`;
    throw new DomainError('invalid_value', `\`${param}\`: token ${stranger} is not one of the model's, ${range}.`, {
      param,
    });
  }

  get #vocabulary(): Vocabulary {
    if (this.#known === undefined) throw new Error('The model is not loaded.');
    return this.#known;
  }
}

function settingsOf(options: LlamaOptions): ChildSettings {
  const { modelFile, device, gpuLayers, contextTokens, rows, stepTokens, threads, exact = false } = options;
  const shared = { modelFile, device, contextTokens, rows, stepTokens, threads, exact };
  return { ...shared, drawThreads: drawThreads(options), ...(gpuLayers !== undefined && { gpuLayers }) };
}

function drawnOf(vocabulary: Vocabulary, token: number, known: DrawnProbabilities | undefined): Drawn {
  const bytes = vocabulary.bytesOf(token);
  if (known === undefined) return { bytes };
  const top = known.tokens.map((id, at) => ({
    token: id,
    bytes: vocabulary.bytesOf(id),
    logprob: known.logprobs[at]!,
  }));
  return { bytes, logprob: known.logprob, top };
}
