import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { parseBoundedJson, STORED_BOUNDS } from '@switchyard/engine-api/bounded-json.js';
import { errorMessage } from '@switchyard/engine-api/error-message.js';
import { type Grammar } from '@switchyard/engine-api/text-backend.port.js';
import { serveChild } from '@switchyard/engine-api/threads/remote-calls.js';
import { compiledGrammarText } from '../grammar-text.js';
import { type ChildSettings } from '../options.js';
import {
  type ChildInfo,
  type LlamaOperations,
  AWAITED,
  type DrawnProbabilities,
  type SlotOperation,
  type StepFrame,
  type StepReply,
} from '../protocol.js';
import { jinjaRenderer } from './backends.js';
import { KvContext } from './kv-context.js';
import { openTextModel } from './library.js';
import { type NativeModel } from './native-model.js';
import { promptEncoder } from './prompt-encoder.js';
import { grammarCheck, SequenceDrawer } from './sequence-drawer.js';
import { Candidates, TokenSampler } from './token-sampler.js';
import { vocabularyOf } from './token-text.js';

const ITEM_WIDTH = 4;
const NOT_DRAWN = -1;

/** An item of a step whose next token is drawn. */
interface WantedDraw {
  readonly item: number;
  readonly slot: number;
  /** Position in its sequence of the token that is drawn. */
  readonly position: number;
  /** Index of its logits in the output of the native run. */
  readonly place: number;
}

/**
 * Executes steps in the order they come: memory operations, one native decode for all
 * items, one draw for each that wants one. With the next step at hand, the device has it
 * before the results of the last one are reported.
 */
class StepRunner {
  /** The drawer of the sequence in each slot. */
  readonly #drawers = new Map<number, SequenceDrawer>();
  #last: Promise<unknown> = Promise.resolve();
  #isBroken = false;
  /** One for each draw that can run at the same time. */
  readonly #samplers: readonly TokenSampler[];

  constructor(
    private readonly native: NativeModel,
    private readonly context: KvContext,
    private readonly settings: ChildSettings,
  ) {
    const candidates = new Candidates(native.vocabularySize);
    this.#samplers = Array.from(
      { length: settings.drawThreads },
      () => new TokenSampler(native, context, candidates),
    );
  }

  async run(frame: StepFrame): Promise<StepReply> {
    const running = this.#last.then(() => this.#runOne(frame));
    this.#last = running;
    // Whoever waits for this reply has it after the next step, if there is one, has begun.
    return await running;
  }

  async #runOne(frame: StepFrame): Promise<StepReply> {
    if (frame.follows && this.#isBroken) return { drawn: new Int32Array(0), skipped: true };
    const reply = await this.#step(frame);
    this.#isBroken = reply.failure !== undefined;
    return reply;
  }

  async #step(frame: StepFrame): Promise<StepReply> {
    try {
      for (const operation of frame.operations) this.#operate(operation);
      this.#begin(frame);
      const wanted = this.#batch(frame);
      await this.context.compute(frame.run);
      return await this.#draw(wanted, frame.items.length / ITEM_WIDTH);
    } catch (error) {
      return { drawn: new Int32Array(0), failure: errorMessage(error) };
    }
  }

  #operate(operation: SlotOperation): void {
    const { slot, keep } = operation;
    if (operation.type === 'copy') this.context.copy(slot, operation.from);
    if (!this.context.cut(slot, keep)) throw new Error(`Slot ${slot} cannot be cut.`);
  }

  #begin({ begins }: StepFrame): void {
    for (const start of begins) {
      this.#drawers.get(start.slot)?.free();
      this.#drawers.set(
        start.slot,
        new SequenceDrawer(this.native, start, this.settings.contextTokens),
      );
    }
  }

  #batch({ items, tokens }: StepFrame): WantedDraw[] {
    this.context.clear();
    const wanted: WantedDraw[] = [];
    for (let item = 0, next = 0; item * ITEM_WIDTH < items.length; item++) {
      const [slot, position, count, draws] = items.subarray(item * ITEM_WIDTH) as unknown as [
        number,
        number,
        number,
        number,
      ];
      const own = tokens.subarray(next, (next += count));
      if (own[0] === AWAITED) own[0] = this.#drawers.get(slot)?.newest ?? 0;
      const place = this.context.add(slot, position, own, draws === 1);
      if (draws === 1) wanted.push({ item, slot, position: position + count, place });
    }
    return wanted;
  }

  async #draw(wanted: readonly WantedDraw[], items: number): Promise<StepReply> {
    const drawn = new Int32Array(items).fill(NOT_DRAWN);
    const failures = new Map<number, string>();
    const probabilities = new Map<number, DrawnProbabilities>();
    const drawOne = async (
      { item, slot, position, place }: WantedDraw,
      sampler: TokenSampler,
    ): Promise<void> => {
      try {
        const drawer = this.#drawers.get(slot);
        if (drawer === undefined) throw new Error('No sequence is in this slot.');
        const token = await drawer.draw(sampler, position, place);
        const known = drawer.probabilities(token, () => this.context.logits(place));
        if (known) probabilities.set(item, known);
        drawn[item] = token;
      } catch (error) {
        failures.set(item, errorMessage(error));
      }
    };
    // Each sampler takes the next draw when it has made one.
    const left = wanted.values();
    const drawAll = async (sampler: TokenSampler): Promise<void> => {
      for (const want of left) await drawOne(want, sampler);
    };
    await Promise.all(this.#samplers.map(drawAll));
    return {
      drawn,
      ...(failures.size > 0 && { failures }),
      ...(probabilities.size > 0 && { probabilities }),
    };
  }
}

const MOST_TOKENS = 32;

/**
 * The first run of everything is slow; the second one is measured: what a token of a
 * prompt, and a copy of a sequence, cost.
 */
async function warmUp(
  context: KvContext,
  token: number,
  { rows, stepTokens, contextTokens }: ChildSettings,
): Promise<ChildInfo['costs']> {
  // Twice as many, and two more, have to fit.
  const many = Math.min(MOST_TOKENS, stepTokens, Math.floor(contextTokens / 2) - 1);
  const computing = async (sequence: number, position: number, count: number): Promise<number> => {
    const beginMs = performance.now();
    context.clear();
    context.add(sequence, position, new Uint32Array(count).fill(token), false);
    await context.compute();
    return performance.now() - beginMs;
  };
  await computing(0, 0, many);
  const computeMs = (await computing(0, many, many)) / many;
  const copyMs = rows > 1 ? await copying(context, 2 * many, computing) : 0;
  for (let slot = 0; slot < Math.min(rows, 2); slot++) context.cut(slot, 0);
  return { computeMs, copyMs };
}

/** Milliseconds that a copy takes: the library only notes it, and the next run makes it. */
async function copying(
  context: KvContext,
  position: number,
  computing: (sequence: number, position: number, count: number) => Promise<number>,
): Promise<number> {
  const aloneMs = await computing(0, position, 1);
  context.copy(1, 0);
  return Math.max(0, (await computing(1, position + 1, 1)) - aloneMs);
}

void serveChild(open);

async function open(settings: ChildSettings): Promise<{
  readonly info: ChildInfo;
  readonly operations: LlamaOperations;
}> {
  const { modelFile } = settings;
  process.title = `switchyard llama-cpp ${basename(modelFile)}`;
  const { size } = await stat(modelFile);
  const { device, native } = await openTextModel(settings);
  const { library, model, vocabulary } = native;
  const context = new KvContext(native, settings);
  const first = Math.max(0, library.beginningOfText(vocabulary));
  const costs = await warmUp(context, first, settings);
  const { traits, encode } = promptEncoder(native, jinjaRenderer(), settings.contextTokens);
  const runner = new StepRunner(native, context, settings);
  const checkText = grammarCheck(native);
  const operations: LlamaOperations = {
    step: frame => runner.run(frame),
    stop: newest => context.stop(newest),
    encode,
    grammar: json =>
      compiledGrammarText(parseBoundedJson(json, STORED_BOUNDS) as Grammar, checkText),
    vocabulary: () => vocabularyOf(native, traits.toolForm),
  };
  const info: ChildInfo = {
    device,
    model: nameOf(native) ?? basename(modelFile),
    revision: `${basename(modelFile)} (${native.description}, ${size} bytes)`,
    ...traits,
    // A recurrent state holds all that it has read: nothing can be taken out again.
    cutsBack: !(library.isRecurrent(model) || library.isHybrid(model)),
    costs,
  };
  return { info, operations };
}

/** The model's name in its file's metadata. */
function nameOf({ library, model }: NativeModel): string | undefined {
  const text = Buffer.alloc(256);
  const length = library.metadata(model, 'general.name', text, text.length);
  return length < 0 ? undefined : text.toString('utf8', 0, Math.min(length, text.length - 1));
}
