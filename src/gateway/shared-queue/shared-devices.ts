import { hostname } from 'node:os';
import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import {
  DEVICE_LEASE_MS,
  DeviceLeases,
  type DeviceOwner,
} from '@switchyard/shared-queue/client/device-leases.js';
import { ModelQueues } from '@switchyard/shared-queue/client/model-queues.js';
import { filter, merge, type Subscription } from 'rxjs';
import { GatewayIdentity } from '../../platform/clock/gateway-identity.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import {
  type DeviceRole,
  type DeviceShare,
  type SharedDemand,
} from '../devices/device-share.port.js';
import { DeviceSwaps } from '../devices/device-swaps.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { AllWorkers } from './all-workers.js';
import { QueueEvents } from './queue-events.js';
import { SharedQueueLink } from './shared-queue-link.js';
import { TextPlaces } from './text-places.js';

/**
 * Of the gateways that share devices, the one that has their leases in Redis loads models
 * (D-28). Asked with each heartbeat, and when the first request for a model comes. Times are
 * monotonic milliseconds.
 *
 * Who has lost the leases learns from Redis who has them, and unloads then; until that it keeps
 * what it loaded and changes nothing. Who takes them waits until no worker of another gateway
 * is on the devices. So two gateways never load at a time, and nothing is cut off.
 */
@Injectable()
export class SharedDevices implements DeviceShare, OnApplicationBootstrap, OnApplicationShutdown {
  @Inject() private readonly events!: QueueEvents;
  @Inject() private readonly clock!: ProcessClock;
  @Inject() private readonly places!: TextPlaces;
  readonly #logger = new Logger('Devices');
  readonly #leases: DeviceLeases;
  readonly #demand = new Map<string, SharedDemand>();
  owner: string | undefined;
  /** The leases were renewed until then. */
  #untilMs = -Infinity;
  /** Redis answered since then; at first since this process began. */
  #heardSinceMs = 0;
  #asks: Subscription | undefined;
  #asking: Promise<void> | undefined;

  constructor(
    private readonly link: SharedQueueLink,
    private readonly gateway: GatewayIdentity,
    private readonly swaps: DeviceSwaps,
    private readonly queues: ModelQueues,
    private readonly workers: AllWorkers,
    private readonly pool: WorkerPoolService,
  ) {
    this.#leases = new DeviceLeases(link, { id: gateway.id, host: hostname() });
    if (link.enabled) swaps.share = this;
  }

  onApplicationBootstrap(): void {
    if (!this.link.enabled) return;
    this.link.back$.subscribe(() => (this.#heardSinceMs = this.clock.nowMs()));
    // Of a model that is not there: what is left to know of others has time.
    const first$ = this.events.events$.pipe(
      filter(({ model }) => this.#demand.get(model)?.waiting === 0 && this.swaps.isAway(model)),
    );
    this.#asks = merge(this.workers.heard$, first$).subscribe(() => this.#ask());
  }

  /** Its workers have ended. */
  async onApplicationShutdown(): Promise<void> {
    this.#asks?.unsubscribe();
    await this.#asking;
    if (this.#isOurs) await this.#leases.release(this.#devices).catch(() => undefined);
  }

  get role(): DeviceRole {
    if (this.owner !== undefined && !this.#isOurs) return 'leave';
    const isCertain = this.#isOurs && this.clock.nowMs() < this.#untilMs;
    return isCertain && !this.workers.areElsewhere(this.#devices) ? 'load' : 'keep';
  }

  demandOf(model: string): SharedDemand | undefined {
    return this.#demand.get(model);
  }

  chargeLoad(model: string, tookMs: number): void {
    this.queues.charge(model, tookMs).catch(this.#failed);
  }

  refuse(model: string, reason: string, ms: number): void {
    this.#leases.refuse({ model, reason, leftMs: ms }).catch(this.#failed);
  }

  get #isOurs(): boolean {
    return this.owner === this.gateway.id;
  }

  get #devices(): readonly string[] {
    return this.swaps.devices().map(({ id }) => id);
  }

  get #models(): readonly string[] {
    return this.swaps.placed().map(({ id }) => id);
  }

  #ask(): void {
    if (this.#models.length === 0) return;
    this.#asking ??= this.#look()
      .catch(this.#failed)
      .finally(() => (this.#asking = undefined));
  }

  async #look(): Promise<void> {
    const askedMs = this.clock.nowMs();
    // Who had the leases before a break has this time to take them again.
    const mayTake = this.#isOurs || askedMs - this.#heardSinceMs >= DEVICE_LEASE_MS;
    const owner = await this.#leases.hold(this.#devices, mayTake);
    if (owner?.id !== this.owner) this.#logger.log({ owner }, 'who loads models on devices');
    this.owner = owner?.id;
    const isNear = owner?.host === hostname();
    if (owner && !isNear) this.#refuseText(owner);
    if (this.#isOurs) {
      this.#untilMs = askedMs + DEVICE_LEASE_MS;
      for (const model of await this.#leases.requestedLoads(this.#models))
        this.pool.of(model)?.requestLoad();
      await Promise.all(this.#models.map(model => this.#count(model)));
    } else await Promise.all([this.#hearRefusals(), ...(isNear ? this.#requestLoads() : [])]);
    this.swaps.look();
  }

  async #count(model: string): Promise<void> {
    const counts = await this.queues.counts(model);
    const laterMs = this.clock.nowMs() - this.link.clock.nowMs();
    const oldestRealtimeMs = counts.oldestRealtimeMs + laterMs;
    const oldestBatchMs = counts.oldestBatchMs + laterMs;
    // It is needed, by whichever gateway.
    if (counts.realtime + counts.batch + counts.running > 0) this.pool.of(model)?.demand();
    const { realtime, batch, ...others } = this.places.others(model, counts);
    const own = this.pool.of(model)?.running ?? 0;
    // Live sessions are in no queue.
    const running = Math.max(others.running, this.workers.placedCalls(model) - own);
    const waiting = realtime + batch;
    this.#demand.set(model, {
      waiting,
      running,
      oldestRealtimeMs,
      oldestMs: Math.min(oldestRealtimeMs, oldestBatchMs),
      dueMs: Math.min(oldestRealtimeMs, oldestBatchMs + this.link.access.agingMs),
    });
  }

  /** It is sent to workers, which listen on the loopback interface. */
  #refuseText({ id, host }: DeviceOwner): void {
    const reason = `${id} loads it on the host ${host}, and text is sent from gateways of that host`;
    for (const { id: model, kind } of this.swaps.placed())
      if (kind === 'llm')
        this.pool.of(model)?.place.refuse(reason, this.clock.nowMs() + DEVICE_LEASE_MS);
  }

  /** Asks the gateway that loads for the models that requests of this one need. */
  #requestLoads(): readonly Promise<void>[] {
    const isRequested = (id: string) =>
      (this.pool.of(id)?.place.loadRequestedSinceMs ?? Infinity) < Infinity;
    return this.#models.filter(isRequested).map(id => this.#leases.requestLoad(id));
  }

  async #hearRefusals(): Promise<void> {
    for (const { model, reason, leftMs } of await this.#leases.refusals(this.#models)) {
      const place = this.pool.of(model)?.place;
      if (place?.refusal === undefined) place?.refuse(reason, this.clock.nowMs() + leftMs);
    }
  }

  readonly #failed = (error: unknown): void =>
    this.#logger.debug({ err: error }, 'Redis did not say who loads models on devices');
}
