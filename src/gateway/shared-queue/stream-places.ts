import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { QueueJobClass } from '@switchyard/shared-queue/keys.js';
import { type StreamConfig } from '@switchyard/worker-protocol/call.codec.js';
import { Lease } from '../../core/dispatch/lease.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { type StreamHandle } from '../../worker-client/stream-handle.js';
import { sharedStreams } from '../worker-pool/shared-slots.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { AwaitedStream } from './awaited-stream.js';
import { GatewayPlaces } from './gateway-places.js';
import { type GrantedRequest, type ModelPlaces } from './model-places.js';
import { SharedQueueLink } from './shared-queue-link.js';

/** A place is released when a session ends. */
const TRY_AGAIN_MS = 1000;

/** A stream that asks for a slot; each is another one. */
interface Opening {
  readonly key: RequestKey;
}

/** What a gateway has in the order of the live streams of one model. */
interface Order {
  readonly places: ModelPlaces<Opening>;
  readonly openings: Map<RequestKey, Opening>;
  readonly granted: Map<RequestKey, GrantedRequest>;
}

/**
 * Slots for live streams at workers that other gateways send to as well are leased from the
 * account of all of them (D-58), in an order that nobody waits in (D-20). While Redis is away
 * each gateway opens streams as it does alone, and the worker refuses what is too much.
 */
@Injectable()
export class StreamPlaces implements OnApplicationBootstrap {
  readonly #orders = new Map<string, Order>();

  constructor(
    private readonly all: GatewayPlaces,
    private readonly link: SharedQueueLink,
    private readonly pool: WorkerPoolService,
  ) {}

  onApplicationBootstrap(): void {
    this.pool.capacity$.subscribe(model => this.#of(model)?.places.changed());
  }

  /**
   * A stream that finds no slot at any gateway ends with `queue_full`.
   * @throws DomainError as `WorkerPoolService.streamHost`
   */
  open(model: string, config: StreamConfig, tenant: string): StreamHandle {
    const host = this.pool.streamHost(model, tenant);
    const order = this.#of(model);
    if (order?.places.isShared) return new AwaitedStream(this.#granted(model, order, config));
    const stream = this.pool.openStream(host, config);
    const extra = order?.places.extra(host, [new Lease(() => undefined)]) ?? [];
    void stream.finished.then(() => extra.forEach(lease => lease.release()));
    return stream;
  }

  async #granted(model: string, order: Order, config: StreamConfig): Promise<StreamHandle> {
    const opening = { key: config.sessionId as RequestKey };
    order.openings.set(opening.key, opening);
    await order.places.enter(opening);
    order.openings.delete(opening.key);
    const granted = order.granted.get(opening.key);
    order.granted.delete(opening.key);
    if (!granted) {
      order.places.left(opening.key);
      const message = `All live streams of \`${model}\` are taken; try again later.`;
      throw new DomainError('queue_full', message, { retryAfterMs: TRY_AGAIN_MS });
    }
    try {
      const stream = this.pool.openStream(granted.workerId, config);
      void stream.finished.then(granted.free);
      return stream;
    } catch (error) {
      granted.free();
      throw error;
    }
  }

  /** Undefined: nobody else sends streams to its workers. */
  #of(model: string): Order | undefined {
    if (!this.link.enabled) return undefined;
    const known = this.#orders.get(model);
    if (known || !this.#slots(model)) return known;
    const [openings, granted] = [
      new Map<RequestKey, Opening>(),
      new Map<RequestKey, GrantedRequest>(),
    ];
    // No model has a name with a space.
    const places = this.all.add<Opening>(`${model} streams`, {
      slots: () => this.#slots(model) ?? [],
      waiting: () => openings.values(),
      placeOf: ({ key }, nonce) => ({
        id: `${this.link.keys.job(key, undefined)}.${nonce}`,
        class: QueueJobClass.REALTIME,
        sinceMs: this.link.clock.nowMs(),
        costMs: 1,
        weight: 1,
        mostTogether: undefined,
        isReturned: false,
        shown: { v: 1, kind: 'stream', model },
      }),
      onDue: () => {
        for (const one of places.granted()) granted.set(one.key, one);
      },
    });
    const order = { places, openings, granted };
    this.#orders.set(model, order);
    return order;
  }

  #slots(model: string) {
    return sharedStreams(this.pool.of(model)?.roster.all ?? []);
  }
}
