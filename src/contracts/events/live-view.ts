import {
  type LiveDelta,
  type LiveGone,
  type LiveRoomName,
  type LiveSnapshot,
  type LiveState,
} from './live-event.js';

/**
 * One room as a listener knows it: parts by gateway. Server and clients keep it by
 * the same rules.
 */
export class LiveView {
  readonly #parts = new Map<string, Pick<LiveSnapshot, 'seq' | 'state'>>();

  constructor(readonly room: LiveRoomName) {}

  /** Replaces that gateway's part, whatever was known. */
  adopt({ source, seq, state }: LiveSnapshot): void {
    this.#parts.set(source, { seq, state });
  }

  /**
   * False: a delta is missing before this one; it was not applied, ask for a snapshot.
   * Old ones change nothing.
   */
  apply(delta: LiveDelta): boolean {
    const part = this.#parts.get(delta.source) ?? { seq: 0, state: {} };
    if (delta.seq <= part.seq) return true;
    if (delta.seq !== part.seq + 1) return false;
    this.#parts.set(delta.source, { seq: delta.seq, state: changed(part.state, delta) });
    return true;
  }

  drop({ source }: LiveGone): void {
    this.#parts.delete(source);
  }

  part(source: string): LiveSnapshot | undefined {
    const part = this.#parts.get(source);
    return part && { room: this.room, source, ...part };
  }

  snapshots(): LiveSnapshot[] {
    return [...this.#parts].map(([source, part]) => ({
      room: this.room,
      source,
      ...part,
    }));
  }
}

function changed(
  state: LiveState,
  { set, removed }: Pick<LiveDelta, 'set' | 'removed'>,
): LiveState {
  const next = { ...state, ...set };
  if (!removed) return next;
  return Object.fromEntries(Object.entries(next).filter(([key]) => !removed.includes(key)));
}
