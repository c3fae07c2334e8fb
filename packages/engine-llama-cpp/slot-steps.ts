import { EngineError } from '@switchyard/engine-api/coded-error.js';
import {
  type GenerationPlan,
  type ItemResult,
  itemsOf,
  type StepItem,
} from '@switchyard/engine-api/generation-plan.js';
import {
  type Drawn,
  type Sampling,
  type TextOutcome,
  type TextSequence,
} from '@switchyard/engine-api/text-backend.port.js';
import { knownGrammarText } from './grammar-text.js';
import {
  AWAITED,
  type DrawnProbabilities,
  type SlotOperation,
  type StepFrame,
  type StepReply,
  type WireSampling,
} from './protocol.js';
import { type SlotMemory } from './slot-memory.js';
import { type Vocabulary } from './vocabulary.js';

interface PlacedItem {
  readonly item: StepItem<TextSequence>;
  readonly slot: number;
}

/** A plan on its way to the child. */
interface SlotStep {
  /** Undefined when there is nothing to run. */
  readonly frame: Omit<StepFrame, 'run'> | undefined;
  readonly operations: readonly SlotOperation[];
  /** Items in the order of the frame. */
  readonly placed: readonly PlacedItem[];
  /** Results of items that cannot be run. */
  readonly refused: ReadonlyMap<TextSequence, ItemResult>;
}

/** Translates plans to frames for the child, and its replies to outcomes. */
export class SlotSteps {
  /** Sampling parameters of a sequence as the child gets them, or why it cannot be run. */
  readonly #known = new WeakMap<TextSequence, WireSampling | Error>();

  constructor(private readonly memory: SlotMemory) {}

  prepare(plan: GenerationPlan<TextSequence>, vocabulary: Vocabulary): SlotStep {
    const refused = new Map<TextSequence, ItemResult>();
    for (const item of itemsOf(plan)) {
      const error = this.#problemOf(item, vocabulary);
      if (error) refused.set(item.request, { type: 'failed', error });
    }
    const placed = itemsOf(plan)
      .filter(({ request }) => !refused.has(request))
      .map(item => ({ item, slot: item.blocks[0]! }))
      // llama.cpp takes sequences through the model together as long as their numbers
      // follow one another.
      .sort((a, b) => a.slot - b.slot);
    if (placed.length === 0) return { frame: undefined, operations: [], placed, refused };
    for (const { item, slot } of placed) this.memory.write(slot, item.position, item.count);
    const operations = this.memory.takeOperations();
    const begins = placed.filter(({ item }) => item.sample).flatMap(one => this.#start(one));
    return {
      frame: frameOf(plan.ahead, operations, begins, placed),
      operations,
      placed,
      refused,
    };
  }

  /** What became of a step: it ran, failed as a whole, or was skipped. */
  outcome(step: SlotStep, reply: StepReply, vocabulary: Vocabulary): TextOutcome {
    const { skipped, failure } = reply;
    if (!skipped && failure === undefined) return doneOf(step, reply, vocabulary);
    const slots = step.placed.map(({ slot }) => slot);
    this.memory.failed(step.operations, slots);
    return skipped ? { type: 'skipped' } : { type: 'failed', error: engineFailed(String(failure)) };
  }

  /**
   * What would fail the run for all sequences, or cannot be drawn. Kept, as the item of a
   * plan made ahead does not show it.
   */
  #problemOf(
    { request, position, count, tokens }: StepItem<TextSequence>,
    vocabulary: Vocabulary,
  ): Error | undefined {
    const known = this.#known.get(request);
    if (known instanceof Error) return known;
    try {
      if (position + count > this.memory.capacity)
        throw engineFailed(`the sequence exceeds the context of ${this.memory.capacity} tokens.`);
      vocabulary.checked(tokens, 'prompt');
      this.#known.set(request, known ?? wireSampling(request.sampling));
      return undefined;
    } catch (error) {
      this.#known.set(request, error as Error);
      return error as Error;
    }
  }

  #start({ item: { request, position, count }, slot }: PlacedItem): StepFrame['begins'] {
    const content = this.memory.begins(slot);
    if (content === undefined) return [];
    const answerAt = request.prompt.length - (request.begunTokens ?? 0);
    const answer = Uint32Array.from(
      content.tokens.slice(answerAt, Math.max(request.prompt.length, position + count)),
    );
    const sampling = this.#known.get(request) as WireSampling;
    return [{ slot, sampling, answer }];
  }
}

function doneOf(
  { placed, refused }: SlotStep,
  reply: StepReply,
  vocabulary: Vocabulary,
): TextOutcome {
  const results = new Map(refused);
  const drawn = new Map<TextSequence, Drawn>();
  placed.forEach(({ item: { request, sample } }, index) => {
    const token = reply.drawn[index]!;
    const why = reply.failures?.get(index);
    if (!sample) results.set(request, { type: 'computed' });
    else if (why !== undefined) results.set(request, { type: 'failed', error: engineFailed(why) });
    else if (vocabulary.isEnd(token)) results.set(request, { type: 'stop' });
    else {
      results.set(request, { type: 'token', token });
      drawn.set(request, drawnOf(vocabulary, token, reply.probabilities?.get(index)));
    }
  });
  return { type: 'done', results, drawn };
}

const engineFailed = (why: string): EngineError =>
  new EngineError('engine_failed', `llama.cpp: ${why}`);

/** @throws EngineError invalid_value for a grammar that cannot be compiled */
const wireSampling = ({ grammar, ...sampling }: Sampling): WireSampling => ({
  ...sampling,
  grammar: grammar && knownGrammarText(grammar),
});

function frameOf(
  follows: boolean,
  operations: readonly SlotOperation[],
  begins: StepFrame['begins'],
  placed: readonly PlacedItem[],
): Omit<StepFrame, 'run'> {
  const columns = ({ item: { position, count, sample }, slot }: PlacedItem): number[] => [
    slot,
    position,
    count,
    sample ? 1 : 0,
  ];
  // The only unknown token of a plan made ahead is the one that the step before it draws.
  const tokensOf = ({ item: { tokens, count } }: PlacedItem): readonly number[] =>
    tokens.length < count ? [...tokens, AWAITED] : tokens;
  return {
    follows,
    begins,
    operations,
    items: Int32Array.from(placed.flatMap(columns)),
    tokens: Uint32Array.from(placed.flatMap(tokensOf)),
  };
}

function drawnOf(
  vocabulary: Vocabulary,
  token: number,
  known: DrawnProbabilities | undefined,
): Drawn {
  const bytes = vocabulary.bytesOf(token);
  if (known === undefined) return { bytes };
  const top = known.tokens.map((id, at) => ({
    token: id,
    bytes: vocabulary.bytesOf(id),
    logprob: known.logprobs[at]!,
  }));
  return { bytes, logprob: known.logprob, top };
}
