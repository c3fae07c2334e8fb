import {
  type LiveDelta,
  type LiveGone,
  type LiveRoomName,
  type LiveSnapshot,
} from '../../contracts/events/live-event.js';
import { LiveView } from '../../contracts/events/live-view.js';
import { type LiveListener } from './live-listener.js';

/** A change or a state, and its tenant; undefined: visible to all. */
export interface Owned<M> {
  readonly message: M;
  readonly tenant?: string;
}

/** One room while it has listeners, here or at another gateway. */
export class LiveRoom {
  readonly listeners = new Set<LiveListener>();
  readonly #view: LiveView;
  readonly #tenants = new Map<string, string | undefined>();
  /** Other gateways with listeners, and until when. */
  readonly #watchers = new Map<string, number>();

  constructor(readonly name: LiveRoomName) {
    this.#view = new LiveView(name);
  }

  get isWatched(): boolean {
    return this.listeners.size > 0 || this.#watchers.size > 0;
  }

  get isWatchedElsewhere(): boolean {
    return this.#watchers.size > 0;
  }

  /**
   * True when that gateway was not watching before, and so has nothing of this room yet.
   */
  watch(source: string, untilMs: number): boolean {
    const fresh = !this.#watchers.has(source);
    this.#watchers.set(source, untilMs);
    return fresh;
  }

  expireWatchers(nowMs: number): void {
    for (const [source, untilMs] of this.#watchers)
      if (untilMs <= nowMs) this.#watchers.delete(source);
  }

  part(source: string): LiveSnapshot | undefined {
    return this.#view.part(source);
  }

  /** The parts of that gateway. */
  partsOf(gateway: string): Owned<LiveSnapshot>[] {
    const parts = this.#view
      .snapshots()
      .filter(({ source }) => source.split('~', 1)[0] === gateway);
    return parts.map(message => ({ message, tenant: this.#tenants.get(message.source) }));
  }

  /** What that listener may see of the room. */
  snapshotsFor(listener: LiveListener): LiveSnapshot[] {
    return this.#view
      .snapshots()
      .filter(({ source }) => listener.sees(this.#tenants.get(source)));
  }

  adopt({ message, tenant }: Owned<LiveSnapshot>): void {
    this.#tenants.set(message.source, tenant);
    this.#view.adopt(message);
    for (const listener of this.listeners)
      if (listener.sees(tenant)) listener.send('snapshot', message);
  }

  /** False: a change before this one was lost. */
  apply({ message, tenant }: Owned<LiveDelta>): boolean {
    if (!this.#view.apply(message)) return false;
    this.#tenants.set(message.source, tenant);
    for (const listener of this.listeners)
      if (listener.sees(tenant)) listener.send('delta', message);
    return true;
  }

  /** That gateway is gone, and its parts with it. */
  drop(gateway: string): void {
    this.#watchers.delete(gateway);
    for (const { message } of this.partsOf(gateway)) this.#dropPart(message.source);
  }

  #dropPart(source: string): void {
    const gone: LiveGone = { room: this.name, source };
    const tenant = this.#tenants.get(source);
    this.#view.drop(gone);
    this.#tenants.delete(source);
    for (const listener of this.listeners) if (listener.sees(tenant)) listener.gone(gone);
  }
}
