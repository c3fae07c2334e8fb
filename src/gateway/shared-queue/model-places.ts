import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import {
  type Beat,
  type Grant,
  type Place,
  type PlaceCounts,
  type SharedPlaces,
} from '@switchyard/shared-queue/client/shared-places.js';
import { HEARTBEAT_MS } from '@switchyard/shared-queue/heartbeat.js';
import { QueueJobClass } from '@switchyard/shared-queue/keys.js';
import { Lease } from '../../core/dispatch/lease.js';
import { type SlotOffer } from '../../core/dispatch/worker.port.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { type SharedSlots } from '../worker-pool/shared-slots.js';
import { rankOf } from '../worker-pool/worker-choice.js';

/** A grant that took longer may have been given to others as well. */
const FRESH_MS = 2 * HEARTBEAT_MS;
/** Heartbeats without an answer after which Redis is away: by then it is known who died. */
const MISSES = 3;
/** Accounts that a request names as its favourites. */
const MOST_FAVOURITES = 8;

interface OwnPlace {
  readonly key: RequestKey;
  readonly class: QueueJobClass;
  /** Undefined: it waits. */
  account?: string;
  /** It is granted, and the account of all forgot it. */
  isLost?: boolean;
}

/** What waits in this gateway. */
export type Waiter = Pick<ScheduledRequest, 'key' | 'affinity' | 'avoid'>;

export interface PlacesOptions<W extends Waiter> {
  readonly slots: () => readonly SharedSlots[];
  /** All that wait in this gateway, in its order. */
  readonly waiting: () => Iterable<W>;
  readonly placeOf: (waiter: W, id: string) => Omit<Place, 'prefer' | 'avoid'>;
  /** Something may be sent now. */
  readonly onDue: () => void;
}

/** A request of this gateway that was granted a slot. */
export interface GrantedRequest {
  readonly key: RequestKey;
  readonly workerId: string;
  /** Call it when its slot is free again. */
  readonly free: () => void;
}

/**
 * What this gateway has in the shared order of one model (D-58).
 *
 * `joining`: Redis was not heard for a moment, nothing is sent. `shared`: Redis decides, by
 * grants. `alone`: Redis is away, and this gateway sends to its share of the slots it knew
 * last, in the order of its own queue; such requests are `extra` in the account once it is back.
 *
 * Who writes what: events of requests enter and leave places, grants move them from waiting to
 * granted, and the heartbeat, one at a time, sets what is out right.
 */
export class ModelPlaces<W extends Waiter = ScheduledRequest> {
  readonly #logger = new Logger('Places');
  #mode: 'joining' | 'shared' | 'alone' = 'joining';
  /** Ids of places that wait, by request. */
  readonly #waiting = new Map<RequestKey, string>();
  /** Places that wait, and granted ones whose slots are not free again, by id. */
  readonly #places = new Map<string, OwnPlace>();
  /** Requests that nobody granted, by account. */
  readonly #extra = new Map<string, number>();
  /** Ids that Redis was not told to forget. */
  readonly #gone = new Set<string>();
  /** Granted, and not sent yet. */
  readonly #due: { readonly key: RequestKey; readonly id: string; readonly account: string }[] = [];
  #peers: Pick<Beat, 'gateways' | 'number'> = { gateways: 1, number: 0 };
  #elsewhere: PlaceCounts | undefined;
  #told = '';
  #misses = 0;
  #beating: Promise<void> | undefined;

  constructor(
    private readonly model: string,
    private readonly deps: PlacesOptions<W> & {
      readonly places: SharedPlaces;
      /** Epoch milliseconds of Redis. */
      readonly nowMs: () => number;
      readonly usable: () => boolean;
    },
  ) {}

  /**
   * It waits from now on, or in another class. Resolves when Redis has said whether there is a
   * slot now. Never rejects. @param isReturned its worker gave it back
   */
  async enter(request: W, isReturned = false): Promise<void> {
    this.left(request.key);
    const place = { ...this.deps.placeOf(request, randomUUID()), isReturned };
    this.#waiting.set(request.key, place.id);
    this.#places.set(place.id, { key: request.key, class: place.class });
    if (this.#mode !== 'shared') return;
    await this.#ask(this.deps.places.enter(this.model, { ...place, ...this.#choice(request) }));
  }

  /** It does not wait any longer. */
  left(key: RequestKey): void {
    const id = this.#waiting.get(key);
    if (id === undefined) return;
    this.#waiting.delete(key);
    this.#places.delete(id);
    this.#leave(id);
  }

  /** Granted requests that wait to be sent; each once. */
  *granted(): Generator<GrantedRequest> {
    for (const { key, id, account } of this.#due.splice(0)) {
      if (this.#waiting.get(key) !== id) continue;
      const workerId = this.deps.slots().find(slots => slots.account === account)?.workerId;
      this.#waiting.delete(key);
      this.#places.set(id, { ...this.#places.get(id)!, account });
      yield { key, workerId: workerId ?? '', free: () => this.#free(id) };
    }
  }

  /** What the local order may send to: nothing while Redis decides, else the share of this gateway. */
  limited(offer: SlotOffer | undefined): SlotOffer | undefined {
    if (this.#mode !== 'alone' || !offer) return undefined;
    const { gateways, number } = this.#peers;
    const slots = this.deps.slots().find(({ workerId }) => workerId === offer.workerId);
    if (!slots) return undefined;
    const { credits, inUse } = slots;
    const share = Math.floor(credits / gateways) + (number < credits % gateways ? 1 : 0);
    const left = Math.min(offer.free, share - inUse);
    return left > 0 ? { ...offer, free: left, urgent: left } : undefined;
  }

  /** Redis decides the order, for all gateways. */
  get isShared(): boolean {
    return this.#mode === 'shared';
  }

  /** What other gateways have, a heartbeat ago at most. Undefined: Redis does not decide. */
  get elsewhere(): PlaceCounts | undefined {
    return this.isShared ? this.#elsewhere : undefined;
  }

  /** Of a place of this gateway. */
  keyOf(id: string): RequestKey | undefined {
    return this.#places.get(id)?.key;
  }

  sendsTo(workerId: string): boolean {
    return this.deps.slots().some(slots => slots.workerId === workerId);
  }

  /** Slots that nobody granted: the account learns of them. */
  extra(workerId: string, leases: readonly Lease[]): readonly Lease[] {
    const account = this.deps.slots().find(slots => slots.workerId === workerId)?.account ?? '';
    const count = (change: number): void =>
      void this.#extra.set(account, (this.#extra.get(account) ?? 0) + change);
    count(leases.length);
    return leases.map(
      lease =>
        new Lease(() => {
          lease.release();
          count(-1);
          void this.beat();
        }),
    );
  }

  /** Its slots are others than it told last. */
  changed(): void {
    if (this.#mode === 'shared' && this.#signature() !== this.#told) void this.beat();
  }

  /** Never rejects. Calls at the same time are one. */
  beat(): Promise<void> {
    return (this.#beating ??= this.#beat().finally(() => (this.#beating = undefined)));
  }

  /** A grant came, in whatever way. */
  receive(grants: readonly Grant[], atMs = this.deps.nowMs()): void {
    for (const { id, account } of grants) {
      const place = this.#places.get(id);
      if (!place) this.#leave(id);
      else if (place.account !== undefined) continue;
      else if (this.deps.nowMs() - atMs > FRESH_MS) this.#again(place.key);
      else this.#due.push({ key: place.key, id, account });
    }
    if (this.#due.length > 0) this.deps.onDue();
  }

  /** It could not be sent to where it was granted. */
  refused(request: W): void {
    void this.beat().then(() => this.enter(request, true));
  }

  async #beat(): Promise<void> {
    try {
      if (!this.deps.usable()) throw new Error('Redis is away');
      const accounts = this.deps.slots().map(({ account, credits, overdraft }) => ({
        account,
        credits,
        overdraft,
        extra: this.#extraAt(account),
      }));
      this.#told = this.#signature();
      const isEmpty = this.#granted.length === 0 && accounts.every(({ extra }) => extra === 0);
      const beat = await this.deps.places.beat(this.model, accounts, isEmpty);
      this.#misses = 0;
      await this.#heard(beat, isEmpty);
    } catch (error) {
      this.#missed(error);
    }
  }

  async #heard(beat: Beat, isEmpty: boolean): Promise<void> {
    this.#peers = beat;
    this.#elsewhere = this.without(beat.all);
    if (!beat.isKnown) for (const place of this.#granted) place.isLost = true;
    const gone = [...this.#gone];
    this.receive(await this.deps.places.leave(this.model, gone));
    for (const id of gone) this.#gone.delete(id);
    if (beat.waits) return;
    const wasShared = this.#mode === 'shared';
    this.#mode = 'shared';
    if (!beat.isKnown && !isEmpty) await this.#beat();
    if (!wasShared || !beat.isKnown)
      for (const request of this.deps.waiting()) void this.enter(request);
    else this.receive([...beat.held, ...beat.granted]);
  }

  /** All but what this gateway has. */
  without({ realtime, batch, running }: PlaceCounts): PlaceCounts {
    const waiting = [...this.#places.values()].filter(({ account }) => account === undefined);
    const urgent = waiting.filter(place => place.class === QueueJobClass.REALTIME).length;
    return {
      realtime: Math.max(0, realtime - urgent),
      batch: Math.max(0, batch - (waiting.length - urgent)),
      running: Math.max(0, running - this.#granted.length),
    };
  }

  #missed(error: unknown): void {
    this.#misses += 1;
    if (this.#mode === 'shared') this.#mode = 'joining';
    if (this.#mode === 'alone' || this.#misses < MISSES) return;
    this.#logger.warn(
      { model: this.model, err: error, gateways: this.#peers.gateways },
      'Redis does not answer: requests go on with the share of this gateway',
    );
    this.#mode = 'alone';
    this.deps.onDue();
  }

  #free(id: string): void {
    const isLost = this.#places.get(id)?.isLost;
    this.#places.delete(id);
    if (isLost) void this.beat();
    else this.#leave(id);
  }

  get #granted(): OwnPlace[] {
    return [...this.#places.values()].filter(({ account }) => account !== undefined);
  }

  #extraAt(account: string): number {
    const lost = this.#granted.filter(one => one.isLost && one.account === account);
    return (this.#extra.get(account) ?? 0) + lost.length;
  }

  #again(key: RequestKey): void {
    const request = [...this.deps.waiting()].find(one => one.key === key);
    if (request) void this.enter(request, true);
  }

  #leave(id: string): void {
    const failed = (): void => void this.#gone.add(id);
    if (this.#mode === 'shared') void this.#ask(this.deps.places.leave(this.model, [id]), failed);
    else failed();
  }

  #ask(reply: Promise<readonly Grant[]>, failed?: () => void): Promise<void> {
    return reply.then(
      grants => this.receive(grants),
      (error: unknown) => {
        failed?.();
        this.#logger.debug({ model: this.model, err: error }, 'Redis did not take it');
        this.#mode = 'joining';
        void this.beat();
      },
    );
  }

  #choice({ affinity, avoid = [] }: Waiter): Pick<Place, 'prefer' | 'avoid'> {
    const slots = this.deps.slots();
    const ranked =
      affinity === undefined
        ? []
        : slots.toSorted((a, b) => rankOf(affinity, b.workerId) - rankOf(affinity, a.workerId));
    return {
      prefer: ranked.slice(0, MOST_FAVOURITES).map(({ account }) => account),
      avoid: slots.filter(({ workerId }) => avoid.includes(workerId)).map(({ account }) => account),
    };
  }

  #signature(): string {
    return this.deps
      .slots()
      .map(({ account, credits, overdraft }) => `${account} ${credits} ${overdraft}`)
      .join('\n');
  }
}
