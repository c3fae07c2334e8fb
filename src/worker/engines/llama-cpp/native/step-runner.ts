import {
  CUT,
  DRAW_FAILED,
  type DrawnProbabilities,
  ITEM_WIDTH,
  NOT_DRAWN,
  OPERATION_WIDTH,
  type StepFrame,
  type StepReply,
} from '../llama-protocol.js';
import { type DrawingPlace, SequenceDrawer } from './sequence-drawer.js';

interface Item {
  readonly slot: number;
  readonly position: number;
  readonly count: number;
  /** Of its last token's logits in the batch; undefined: nothing is drawn. */
  readonly place: number | undefined;
}

const NONE = new Uint32Array(0);

/** Executes a step: memory operations, one native decode for all items, one draw for each that wants one. */
export class StepRunner {
  readonly #place: DrawingPlace;
  readonly #drawers = new Map<number, SequenceDrawer>();
  /** Why the sequence in a slot cannot draw. */
  readonly #unable = new Map<number, string>();

  constructor(place: DrawingPlace) {
    this.#place = place;
  }

  async run(frame: StepFrame): Promise<StepReply> {
    try {
      await this.#operate(frame.operations);
      this.#begin(frame);
      const items = this.#batch(frame);
      await this.#place.context.decodeBatch();
      return await this.#draw(items);
    } catch (error) {
      return { drawn: new Int32Array(0), failure: messageOf(error) };
    }
  }

  async #operate(operations: Int32Array): Promise<void> {
    const { context } = this.#place;
    for (let at = 0; at < operations.length; at += OPERATION_WIDTH) {
      const [kind, slot, keep, from] = operations.subarray(at, at + OPERATION_WIDTH) as unknown as number[];
      if (kind !== CUT) await context.copySequenceStateFromOtherSequence(slot!, from!);
      if (keep === 0) context.disposeSequence(slot!);
      else if (!context.removeTokenCellsFromSequence(slot!, keep!, -1)) throw new Error(`Slot ${slot} cannot be cut.`);
    }
  }

  #begin({ begins }: StepFrame): void {
    for (const start of begins) {
      let drawer = this.#drawers.get(start.slot);
      if (drawer === undefined) this.#drawers.set(start.slot, (drawer = new SequenceDrawer(this.#place)));
      this.#unable.delete(start.slot);
      try {
        drawer.begin(start);
      } catch (error) {
        // This sequence fails alone when its turn to draw comes; its neighbours are in the same step.
        this.#unable.set(start.slot, messageOf(error));
      }
    }
  }

  #batch({ items, tokens }: StepFrame): Item[] {
    const { context } = this.#place;
    context.initBatch(tokens.length);
    const batched: Item[] = [];
    for (let at = 0, next = 0; at < items.length; at += ITEM_WIDTH) {
      const [slot, position, count, draws] = items.subarray(at, at + ITEM_WIDTH) as unknown as number[];
      const own = tokens.subarray(next, (next += count!));
      const [place] = context.addToBatch(slot!, position!, own, draws === 1 ? Uint32Array.of(count! - 1) : NONE);
      batched.push({ slot: slot!, position: position!, count: count!, place });
    }
    return batched;
  }

  async #draw(items: readonly Item[]): Promise<StepReply> {
    const drawn = new Int32Array(items.length).fill(NOT_DRAWN);
    const failures = new Map<number, string>();
    const probabilities = new Map<number, DrawnProbabilities>();
    const drawOne = async ({ slot, position, count, place }: Item, index: number): Promise<void> => {
      if (place === undefined) return;
      try {
        const drawer = this.#able(slot);
        drawn[index] = await drawer.draw(position + count, place);
        const known = await drawer.probabilities(drawn[index], place);
        if (known) probabilities.set(index, known);
      } catch (error) {
        drawn[index] = DRAW_FAILED;
        failures.set(index, messageOf(error));
      }
    };
    await Promise.all(items.map(drawOne));
    return { drawn, ...(failures.size > 0 && { failures }), ...(probabilities.size > 0 && { probabilities }) };
  }

  #able(slot: number): SequenceDrawer {
    const drawer = this.#drawers.get(slot);
    const why = this.#unable.get(slot);
    if (drawer === undefined || why !== undefined) throw new Error(why ?? 'No sequence is in this slot.');
    return drawer;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
