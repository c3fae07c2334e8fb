import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { Subject } from 'rxjs';
import {
  type LiveDelta,
  type LiveGone,
  type LiveRoomName,
  type LiveSnapshot,
  type LiveState,
} from '../../contracts/events/live-event.js';
import { LiveView } from '../../contracts/events/live-view.js';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { type LiveListener } from './live-listener.js';
import { LiveSource, partGateway, partId, partTenant } from './live-source.js';

/** One room while it has listeners, here or at another gateway. */
class LiveRoom {
  readonly listeners = new Set<LiveListener>();
  readonly #view: LiveView;
  /** Other gateway → time until which it counts as having listeners. */
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
  partsOf(gateway: string): LiveSnapshot[] {
    return this.#view.snapshots().filter(part => partGateway(part) === gateway);
  }

  /** Snapshots of the parts of the room that a listener may see. */
  snapshotsFor(listener: LiveListener): LiveSnapshot[] {
    return this.#view.snapshots().filter(part => listener.sees(partTenant(part)));
  }

  adopt(snapshot: LiveSnapshot): void {
    this.#view.adopt(snapshot);
    for (const listener of this.#readersOf(snapshot)) listener.send('snapshot', snapshot);
  }

  /** False: a change before this one was lost. */
  apply(delta: LiveDelta): boolean {
    if (!this.#view.apply(delta)) return false;
    for (const listener of this.#readersOf(delta)) listener.send('delta', delta);
    return true;
  }

  /** That gateway is gone, and its parts with it. */
  drop(gateway: string): void {
    this.#watchers.delete(gateway);
    for (const { source } of this.partsOf(gateway)) {
      const gone: LiveGone = { room: this.name, source };
      this.#view.drop(gone);
      for (const listener of this.#readersOf(gone)) listener.gone(gone);
    }
  }

  /** Listeners that may see that part. */
  #readersOf(part: LiveGone): LiveListener[] {
    const tenant = partTenant(part);
    return [...this.listeners].filter(listener => listener.sees(tenant));
  }
}

/** A model's queue is sent at most ten times a second, however often it changes. */
const QUEUE_EVERY_MS = 100;
const WORKERS_EVERY_MS = 250;
const CATCH_UP_EVERY_MS = 1000;

/**
 * What listeners of this gateway get. Fed by dispatch events and the states of workers
 * only (D-23). Rooms without listeners do not exist; without any listener no timer runs
 * and no message is made.
 */
@Injectable()
export class LiveFeed implements OnApplicationShutdown {
  readonly #rooms = new Map<LiveRoomName, LiveRoom>();
  readonly #outgoing = new Subject<LiveDelta>();
  readonly #listeners = new Set<LiveListener>();
  readonly #changedModels = new Set<string>();
  #queueTimer: NodeJS.Timeout | undefined;
  #workersTimer: NodeJS.Timeout | undefined;
  #catchUpTimer: NodeJS.Timeout | undefined;

  /** Changes of this gateway's part for other gateways. */
  readonly outgoing$ = this.#outgoing.asObservable();

  constructor(
    bus: DispatchEventBus,
    private readonly source: LiveSource,
  ) {
    bus.events$.subscribe(event => {
      const isQueueChanged = this.source.apply(event);
      if (this.#rooms.size > 0) this.#publish(event, isQueueChanged);
    });
  }

  onApplicationShutdown(): void {
    clearTimeout(this.#queueTimer);
    clearInterval(this.#workersTimer);
    clearInterval(this.#catchUpTimer);
  }

  find(name: LiveRoomName): LiveRoom | undefined {
    return this.#rooms.get(name);
  }

  all(): LiveRoom[] {
    return [...this.#rooms.values()];
  }

  /** The room, with this gateway's part in it from the start. */
  open(name: LiveRoomName): LiveRoom {
    const known = this.#rooms.get(name);
    if (known) return known;
    const room = new LiveRoom(name);
    for (const { state, tenant } of this.source.read(name))
      room.adopt({ room: name, source: partId(this.source.id, tenant), seq: 0, state });
    this.#rooms.set(name, room);
    return room;
  }

  /** Sends a change of this gateway's part to all listeners. */
  publish(room: LiveRoom, change: Pick<LiveDelta, 'set' | 'removed'>, tenant?: string): void {
    const source = partId(this.source.id, tenant);
    const seq = (room.part(source)?.seq ?? 0) + 1;
    const delta = { room: room.name, source, seq, ...change };
    room.apply(delta);
    if (room.isWatchedElsewhere) this.#outgoing.next(delta);
  }

  /** True when it is the first listener here, so that other gateways have to be asked. */
  join(listener: LiveListener, name: LiveRoomName): boolean {
    const room = this.open(name);
    const isFirst = room.listeners.size === 0;
    room.listeners.add(listener);
    listener.rooms.add(name);
    this.#listeners.add(listener);
    this.#catchUpTimer ??= setInterval(() => this.#catchUp(), CATCH_UP_EVERY_MS).unref();
    this.watchWorkers();
    return isFirst;
  }

  leave(listener: LiveListener, name: LiveRoomName): void {
    this.find(name)?.listeners.delete(listener);
    listener.left(name);
    if (listener.rooms.size === 0) this.#listeners.delete(listener);
    this.settle();
  }

  leaveAll(listener: LiveListener): void {
    for (const name of [...listener.rooms]) this.leave(listener, name);
  }

  snapshots(listener: LiveListener, name: LiveRoomName): LiveSnapshot[] {
    return this.find(name)?.snapshotsFor(listener) ?? [];
  }

  /** Polls the workers while that room has listeners, here or elsewhere. */
  watchWorkers(): void {
    if (!this.find('workers')) return;
    this.#workersTimer ??= setInterval(() => this.#publishWorkers(), WORKERS_EVERY_MS).unref();
  }

  /** After listeners left: stops the timers that have none. */
  settle(): void {
    for (const room of this.#rooms.values()) if (!room.isWatched) this.#rooms.delete(room.name);
    if (!this.find('workers')) {
      clearInterval(this.#workersTimer);
      this.#workersTimer = undefined;
    }
    if (this.#listeners.size === 0) {
      clearInterval(this.#catchUpTimer);
      this.#catchUpTimer = undefined;
    }
  }

  #publish(event: DispatchEvent, isQueueChanged: boolean): void {
    if (isQueueChanged && this.find('queue')) {
      this.#changedModels.add(event.model);
      this.#queueTimer ??= setTimeout(() => this.#publishQueue(), QUEUE_EVERY_MS).unref();
    }
    const room = this.find(`request:${event.requestId}`);
    const request = room && this.source.find(event.key);
    if (room && request)
      this.publish(room, { set: { [event.requestId]: request.view } }, request.tenant);
  }

  #publishQueue(): void {
    this.#queueTimer = undefined;
    const models = [...this.#changedModels];
    this.#changedModels.clear();
    const room = this.find('queue');
    if (room) this.publish(room, { set: this.source.queues(models) });
  }

  #publishWorkers(): void {
    const room = this.find('workers');
    const now = this.source.read('workers')[0]?.state;
    const change = now && stateChange(room?.part(this.source.id)?.state ?? {}, now);
    if (room && change) this.publish(room, change);
  }

  #catchUp(): void {
    for (const listener of this.#listeners) {
      if (listener.lagging) listener.catchUp(name => this.snapshots(listener, name));
    }
  }
}

/** Undefined when nothing changed. */
export function stateChange(
  before: LiveState,
  now: LiveState,
): Pick<LiveDelta, 'set' | 'removed'> | undefined {
  const set = Object.entries(now).filter(
    ([key, entry]) => writeJson(before[key]) !== writeJson(entry),
  );
  const removed = Object.keys(before).filter(key => !(key in now));
  if (set.length === 0 && removed.length === 0) return undefined;
  return { set: Object.fromEntries(set), ...(removed.length > 0 && { removed }) };
}
