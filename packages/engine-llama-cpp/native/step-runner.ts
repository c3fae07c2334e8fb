import {
  AWAITED,
  DRAW_FAILED,
  type DrawnProbabilities,
  ITEM_WIDTH,
  NOT_DRAWN,
  type SlotOperation,
  type StepFrame,
  type StepReply,
} from '../protocol.js';
import { type DrawingPlace, SequenceDrawer } from './sequence-drawer.js';
import { errorMessage } from '@switchyard/engine-api/error-message.js';

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
export class StepRunner {
  readonly #drawers = new Map<number, SequenceDrawer>();
  /** Why the sequence in a slot cannot draw. */
  readonly #unable = new Map<number, string>();
  readonly #waiting: {
    readonly frame: StepFrame;
    readonly answer: (reply: StepReply) => void;
  }[] = [];
  #isRunning = false;
  #isBroken = false;

  constructor(private readonly place: DrawingPlace) {}

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
      const decoded = this.place.context.decodeBatch();
      // Draws are queued behind the run, so that no thread has to be woken in between; of
      // a run that fails they draw nothing.
      if (!this.place.drawsInLine) await decoded;
      const [, reply] = await Promise.all([decoded, this.#draw(items)]);
      return reply;
    } catch (error) {
      return { drawn: new Int32Array(0), failure: errorMessage(error) };
    }
  }

  async #operate(operations: readonly SlotOperation[]): Promise<void> {
    const { context } = this.place;
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
        this.#drawers.set(start.slot, (drawer = new SequenceDrawer(this.place)));
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
    const { context } = this.place;
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
        drawn[index] = DRAW_FAILED;
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
