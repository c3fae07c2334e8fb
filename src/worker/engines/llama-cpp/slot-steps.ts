import {
  type GenerationPlan,
  itemsOf,
  type ItemResult,
  type StepItem,
} from '../../../core/iteration/generation-plan.js';
import { DomainError } from '../../../core/shared/domain-error.js';
import { type Drawn, type TextOutcome, type TextSequence } from '../../generation/text-backend.port.js';
import {
  AWAITED,
  DRAW_FAILED,
  type DrawnProbabilities,
  type SequenceStart,
  type StepFrame,
  type StepReply,
} from './llama-protocol.js';
import { SequenceStore } from './sequence-store.js';
import { SlotMemory, type SlotMemoryOptions } from './slot-memory.js';
import { frameOf, type PlacedItem, runsOf } from './step-frame.js';
import { type Vocabulary } from './vocabulary.js';

/** A plan with its sequences in their slots, on its way to the child. */
export interface SlotStep {
  /** None when there is nothing to run. */
  readonly frames: readonly StepFrame[];
  /** In the order of the last frame, which draws for all. */
  readonly placed: readonly PlacedItem[];
  /** Of items that cannot be run. */
  readonly refused: ReadonlyMap<TextSequence, ItemResult>;
}

interface SlotStepOptions {
  readonly contextTokens: number;
  /** Tokens of one native run. */
  readonly stepTokens: number;
}

/**
 * Plans as frames for the child, and its replies as outcomes. What slots hold and sequences are is kept as it will be once the steps
 * that run are done, so that the next one can be sent behind them; `spoiled` takes that back.
 */
export class SlotSteps {
  readonly #options: SlotStepOptions;
  readonly #book = new SequenceStore();
  /** They have a slot whose sampler is not theirs yet: it begins with their next draw. */
  readonly #silent = new WeakSet<TextSequence>();
  /** They cannot be run. */
  readonly #unsound = new WeakMap<TextSequence, Error>();
  #slots: SlotMemory<TextSequence>;
  #stranded = 0;

  constructor(options: SlotStepOptions, slots: SlotMemoryOptions) {
    this.#options = options;
    this.#slots = new SlotMemory(slots);
  }

  /** Tokens in slots that no sequence holds. */
  get kept(): number {
    return this.#slots.kept;
  }

  /** Tokens that the ledger counted as computed and that were in no slot. */
  get stranded(): number {
    return this.#stranded;
  }

  /** A new process: nothing is in its slots, whoever may think so. */
  forget(slots: SlotMemoryOptions): void {
    this.#slots = new SlotMemory(slots);
  }

  prepare(plan: GenerationPlan<TextSequence>, vocabulary: Vocabulary): SlotStep {
    for (const sequence of plan.leave) this.#slots.release(sequence);
    const refused = new Map<TextSequence, ItemResult>();
    const sound = itemsOf(plan).filter(item => {
      const { request } = item;
      const error = this.#unsound.get(request) ?? this.#problemOf(item, vocabulary);
      if (error === undefined) return true;
      // It may be in the next plan, made ahead, whose item does not show it.
      this.#unsound.set(request, error);
      refused.set(request, { type: 'failed', error });
      return false;
    });
    const placed = sound.map(item => this.#place(item));
    if (placed.length === 0) return { frames: [], placed, refused };
    // As they were placed: a copy reads what a later cut takes away.
    const operations = placed.flatMap(({ placement }) => placement.operations);
    // llama.cpp takes sequences through the model together as long as their numbers follow one another.
    placed.sort((a, b) => a.placement.slot - b.placement.slot);
    const begins = placed
      .filter(({ item }) => item.sample && this.#silent.delete(item.request))
      .map(one => this.#start(one));
    const frames = runsOf(placed, this.#options.stepTokens).map((chunks, index) =>
      index === 0
        ? frameOf({ follows: plan.ahead, operations, begins }, chunks)
        : frameOf({ follows: true, operations: [], begins: [] }, chunks),
    );
    return { frames, placed, refused };
  }

  /** What came of it, by the reply to its last frame. */
  learn({ placed, refused }: SlotStep, reply: StepReply, vocabulary: Vocabulary): TextOutcome {
    const results = new Map(refused);
    const drawn = new Map<TextSequence, Drawn>();
    placed.forEach(({ item: { request, position, count, sample }, placement }, index) => {
      if (!sample) return results.set(request, { type: 'computed' });
      const token = reply.drawn[index]!;
      if (token === DRAW_FAILED)
        return results.set(request, { type: 'failed', error: engineFailed(String(reply.failures?.get(index))) });
      this.#slots.drew(placement.slot, position + count, token);
      if (vocabulary.isEnd(token)) return results.set(request, { type: 'stop' });
      this.#book.drew(request, token);
      drawn.set(request, drawnOf(vocabulary, token, reply.probabilities?.get(index)));
      return results.set(request, { type: 'token', token });
    });
    return { type: 'done', results, drawn };
  }

  /** It failed, or was not run: nobody knows what is in the slots behind what was there before, or whether that was copied there. */
  spoiled({ placed }: SlotStep): void {
    for (const { placement } of placed) {
      const wasCopied = placement.operations.some(({ type }) => type === 'copy');
      this.#slots.spoiled(placement.slot, wasCopied ? 0 : placement.have);
    }
  }

  /** What would spoil the run for all, or cannot be drawn by. */
  #problemOf({ request, position, count, tokens }: StepItem<TextSequence>, vocabulary: Vocabulary): Error | undefined {
    const { contextTokens } = this.#options;
    if (position + count > contextTokens)
      return new DomainError('engine_failed', `A sequence beyond its ${contextTokens} tokens; nothing is shifted.`);
    try {
      vocabulary.checked(tokens, 'prompt');
      this.#book.sampling(request);
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }

  #place(item: StepItem<TextSequence>): PlacedItem {
    const { request, position, count } = item;
    const known = this.#book.note(item);
    const placement = this.#slots.place(request, { salt: request.salt, tokens: known, position });
    this.#stranded += position - placement.have;
    if (placement.isNew) this.#silent.add(request);
    const pending = known.slice(placement.have, position + count);
    // Not yet drawn, or drawn and not yet heard of by whoever plans.
    if (placement.have + pending.length < position + count) pending.push(AWAITED);
    this.#slots.wrote(request, placement.have, pending);
    return { item, placement, pending };
  }

  #start({ item: { request }, placement: { slot } }: PlacedItem): SequenceStart {
    return { slot, sampling: this.#book.sampling(request), answer: this.#book.answer(request) };
  }
}

export const engineFailed = (why: string): DomainError => new DomainError('engine_failed', `llama.cpp: ${why}`);

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
