import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { compiledGrammarText } from '../grammar-text.js';
import {
  type ChildInfo,
  type LlamaOperations,
  AWAITED,
  type DrawnProbabilities,
  type SlotOperation,
  type StepFrame,
  type StepReply,
} from '../protocol.js';
import { type ChildSettings } from '../options.js';
import {
  type Decoding,
  type NativeContext,
  openDivided,
  type OpenedModel,
  openModel,
} from './library.js';
import { promptEncoder } from './prompt-encoder.js';
import { type SequenceDrawer, sequenceDrawers } from './sequence-drawer.js';
import { serveChild } from '@switchyard/engine-api/threads/remote-calls.js';
import { vocabularyOf } from './token-text.js';
import { openUnified } from './unified-context.js';
import { errorMessage } from '@switchyard/engine-api/error-message.js';

const ITEM_WIDTH = 4;
const NOT_DRAWN = -1;

interface Item {
  readonly slot: number;
  readonly position: number;
  readonly count: number;
  /** Of its last token's logits in the batch; undefined: nothing is drawn. */
  readonly place: number | undefined;
}

const NONE = new Uint32Array(0);

/**
 * Executes steps in the order they come: memory operations, one native decode for all
 * items, one draw for each that wants one. With the next step at hand, the device has it
 * before the results of the last one are reported.
 */
class StepRunner {
  readonly #drawers = new Map<number, SequenceDrawer>();
  /** Why the sequence in a slot cannot draw. */
  readonly #unable = new Map<number, string>();
  readonly #waiting: {
    readonly frame: StepFrame;
    readonly answer: (reply: StepReply) => void;
  }[] = [];
  #isRunning = false;
  #isBroken = false;

  /**
   * @param drawsInLine the pool of this process has one thread: what is queued is done in
   *   order
   * @param newDrawer of one slot
   */
  constructor(
    private readonly context: NativeContext,
    private readonly drawsInLine: boolean,
    private readonly newDrawer: () => SequenceDrawer,
  ) {}

  run(frame: StepFrame): Promise<StepReply> {
    return new Promise(answer => {
      this.#waiting.push({ frame, answer });
      if (!this.#isRunning) void this.#runAll();
    });
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    let tell: (() => void) | undefined;
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const { frame, answer } = next;
      const running = this.#runOne(frame);
      tell?.();
      const reply = await running;
      tell = () => answer(reply);
    }
    this.#isRunning = false;
    tell?.();
  }

  async #runOne(frame: StepFrame): Promise<StepReply> {
    if (frame.follows && this.#isBroken)
      return { drawn: new Int32Array(0), skipped: true };
    const reply = await this.#step(frame);
    this.#isBroken = reply.failure !== undefined;
    return reply;
  }

  async #step(frame: StepFrame): Promise<StepReply> {
    try {
      if (frame.operations.length > 0) await this.#operate(frame.operations);
      this.#begin(frame);
      const items = this.#batch(frame);
      const decoded = this.context.decodeBatch();
      // Draws are queued behind the run, so that no thread has to be woken in between; of
      // a run that fails they draw nothing.
      if (!this.drawsInLine) await decoded;
      const [, reply] = await Promise.all([decoded, this.#draw(items)]);
      return reply;
    } catch (error) {
      return { drawn: new Int32Array(0), failure: errorMessage(error) };
    }
  }

  async #operate(operations: readonly SlotOperation[]): Promise<void> {
    const { context } = this;
    for (const operation of operations) {
      const { slot, keep } = operation;
      if (operation.type === 'copy')
        await context.copySequenceStateFromOtherSequence(slot, operation.from);
      if (keep === 0) context.disposeSequence(slot);
      else if (!context.removeTokenCellsFromSequence(slot, keep, -1))
        throw new Error(`Slot ${slot} cannot be cut.`);
    }
  }

  #begin({ begins }: StepFrame): void {
    for (const start of begins) {
      let drawer = this.#drawers.get(start.slot);
      if (drawer === undefined)
        this.#drawers.set(start.slot, (drawer = this.newDrawer()));
      this.#unable.delete(start.slot);
      try {
        drawer.begin(start);
      } catch (error) {
        // This sequence fails alone when its turn to draw comes; its neighbours are in
        // the same step.
        this.#unable.set(start.slot, errorMessage(error));
      }
    }
  }

  #batch({ items, tokens }: StepFrame): Item[] {
    const { context } = this;
    context.initBatch(tokens.length);
    const batched: Item[] = [];
    for (let at = 0, next = 0; at < items.length; at += ITEM_WIDTH) {
      const [slot, position, count, draws] = items.subarray(
        at,
        at + ITEM_WIDTH,
      ) as unknown as number[];
      const own = tokens.subarray(next, (next += count!));
      if (own[0] === AWAITED) own[0] = this.#drawers.get(slot!)?.newest ?? 0;
      const [place] = context.addToBatch(
        slot!,
        position!,
        own,
        draws === 1 ? Uint32Array.of(count! - 1) : NONE,
      );
      batched.push({ slot: slot!, position: position!, count: count!, place });
    }
    return batched;
  }

  async #draw(items: readonly Item[]): Promise<StepReply> {
    const drawn = new Int32Array(items.length).fill(NOT_DRAWN);
    const failures = new Map<number, string>();
    const probabilities = new Map<number, DrawnProbabilities>();
    const drawOne = async (
      { slot, position, count, place }: Item,
      index: number,
    ): Promise<void> => {
      if (place === undefined) return;
      try {
        const drawer = this.#able(slot);
        drawn[index] = await drawer.draw(position + count, place);
        const known = await drawer.probabilities(drawn[index], place);
        if (known) probabilities.set(index, known);
      } catch (error) {
        drawn[index] = NOT_DRAWN;
        failures.set(index, errorMessage(error));
      }
    };
    await Promise.all(items.map(drawOne));
    return {
      drawn,
      ...(failures.size > 0 && { failures }),
      ...(probabilities.size > 0 && { probabilities }),
    };
  }

  #able(slot: number): SequenceDrawer {
    const drawer = this.#drawers.get(slot);
    const why = this.#unable.get(slot);
    if (drawer === undefined || why !== undefined)
      throw new Error(why ?? 'No sequence is in this slot.');
    return drawer;
  }
}

const MOST_TOKENS = 32;

/**
 * The first run of everything is slow; the second one is measured: what a token of a
 * prompt, and a copy of a sequence, cost.
 */
async function warmUp(
  context: NativeContext,
  token: number,
  { rows, stepTokens, contextTokens }: ChildSettings,
): Promise<ChildInfo['costs']> {
  // Twice as many, and two more, have to fit.
  const many = Math.min(MOST_TOKENS, stepTokens, Math.floor(contextTokens / 2) - 1);
  const computing = async (
    sequence: number,
    position: number,
    count: number,
  ): Promise<number> => {
    const beginMs = performance.now();
    context.initBatch(count);
    context.addToBatch(sequence, position, new Uint32Array(count).fill(token), NONE);
    await context.decodeBatch();
    return performance.now() - beginMs;
  };
  await computing(0, 0, many);
  const computeMs = (await computing(0, many, many)) / many;
  const copyMs = rows > 1 ? await copying(context, 2 * many, computing) : 0;
  for (let slot = 0; slot < Math.min(rows, 2); slot++) context.disposeSequence(slot);
  return { computeMs, copyMs };
}

/** The library only notes a copy; the next run makes it. */
async function copying(
  context: NativeContext,
  position: number,
  computing: (sequence: number, position: number, count: number) => Promise<number>,
): Promise<number> {
  const aloneMs = await computing(0, position, 1);
  await context.copySequenceStateFromOtherSequence(1, 0);
  return Math.max(0, (await computing(1, position + 1, 1)) - aloneMs);
}

/** Compiled grammars that are kept. */
const GRAMMARS = 32;

void serveChild(open);

async function open(settings: ChildSettings): Promise<{
  readonly info: ChildInfo;
  readonly operations: LlamaOperations;
}> {
  const { modelFile } = settings;
  const { size } = await stat(modelFile);
  const opened = await openModel(settings, settings.kvTokens !== undefined);
  const { bindings, native, model, device } = opened;
  const grammar = grammarShelf(
    text =>
      new bindings.AddonGrammar(text, { addonExports: bindings, rootRuleName: 'root' }),
  );
  const decoding = await decodingOf(opened, settings, grammar);
  const costs = await warmUp(decoding.context, Math.max(0, native.tokenBos()), settings);
  const { metadata } = model.fileInfo;
  const { traits, encode } = promptEncoder(opened, settings.contextTokens);
  const drawsInLine = settings.drawThreads === 1;
  const newDrawer = sequenceDrawers(decoding, settings);
  const runner = new StepRunner(decoding.context, drawsInLine, newDrawer);
  const operations: LlamaOperations = {
    step: frame => runner.run(frame),
    encode,
    grammar: wanted => compiledGrammarText(wanted, grammar),
    vocabulary: () => vocabularyOf(opened, traits.toolForm),
  };
  const info: ChildInfo = {
    device,
    model: metadata.general.name ?? basename(modelFile),
    revision: `${basename(modelFile)} (${decoding.description}, ${size} bytes)`,
    ...traits,
    cutsBack: cutsBack(opened),
    costs,
  };
  return { info, operations };
}

function decodingOf(
  opened: OpenedModel,
  settings: ChildSettings,
  grammar: (text: string) => object,
): Decoding | Promise<Decoding> {
  const { kvTokens } = settings;
  return kvTokens === undefined
    ? openDivided(opened, settings, grammar)
    : openUnified({ ...settings, kvTokens }, opened.device !== 'cpu');
}

/** A recurrent state holds all that it has read: nothing can be taken out again. */
function cutsBack({ bindings, model }: OpenedModel): boolean {
  const { architecture } = model.fileInfo.metadata.general;
  return !(
    bindings.getIsArchRecurrent(architecture) || bindings.getIsArchHybrid(architecture)
  );
}

/**
 * Requests of one application share a few grammars; the oldest goes when there are many.
 */
function grammarShelf(compile: (text: string) => object): (text: string) => object {
  const shelf = new Map<string, object>();
  return text => {
    const grammar = shelf.get(text) ?? compile(text);
    shelf.delete(text);
    shelf.set(text, grammar);
    const [oldest] = shelf.keys();
    if (shelf.size > GRAMMARS && oldest !== undefined) shelf.delete(oldest);
    return grammar;
  };
}
