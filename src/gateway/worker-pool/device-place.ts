import { type MonotonicClock } from '../../core/batching/window-timers.js';
import { type ModelSpec, replicaSpecs } from '../../platform/config/model-spec.js';

/** A session that waits for a model asks again within this time. */
const LOAD_REQUEST_MS = 5000;

/** Who waits for a model that shares a device besides requests, and why its load failed. */
export class DevicePlace {
  /** What engines call the device that the model is on. Its `ModelWorkers` writes it. */
  device: string | undefined;
  /** By the tenant of sessions; '': an operator's, or another gateway's. */
  readonly #loadRequests = new Map<string, { readonly sinceMs: number; untilMs: number }>();
  #refusal: { readonly reason: string; readonly untilMs: number } | undefined;

  constructor(
    private readonly clock: MonotonicClock,
    private readonly events: {
      /** A session or an operator began to wait for the model, or stopped. */
      readonly onChange: () => void;
      readonly onRefused: () => void;
    },
  ) {}

  /** Since when a session or an operator waits for it; Infinity: none does. */
  get loadRequestedSinceMs(): number {
    this.#forgetOld();
    return Math.min(...Array.from(this.#loadRequests.values(), ({ sinceMs }) => sinceMs));
  }

  /** Why its requests are refused; undefined: they are not. */
  get refusal(): string | undefined {
    const { reason, untilMs = -Infinity } = this.#refusal ?? {};
    return this.clock.nowMs() < untilMs ? reason : undefined;
  }

  /**
   * @param tenant of the session that waits for it
   * @param ms how long it is waited for; Infinity: until it is loaded or has failed
   */
  requestLoad(tenant = '', ms = LOAD_REQUEST_MS): void {
    this.#forgetOld();
    const nowMs = this.clock.nowMs();
    const { sinceMs = nowMs } = this.#loadRequests.get(tenant) ?? {};
    this.#loadRequests.set(tenant, { sinceMs, untilMs: nowMs + ms });
    const { onChange } = this.events;
    onChange();
    if (ms < Infinity) setTimeout(onChange, ms + 1).unref();
  }

  /** Its load failed, here or at the gateway that loads it. */
  refuse(reason: string, untilMs: number): void {
    this.#loadRequests.clear();
    this.#refusal = { reason, untilMs };
    this.events.onRefused();
  }

  /** Its workers take requests now. @returns tenants whose sessions waited for it */
  arrived(): readonly string[] {
    this.#forgetOld();
    const tenants = [...this.#loadRequests.keys()].filter(Boolean);
    this.#loadRequests.clear();
    this.#refusal = undefined;
    return tenants;
  }

  /** Sessions that have given up. */
  #forgetOld(): void {
    for (const [tenant, { untilMs }] of this.#loadRequests)
      if (untilMs <= this.clock.nowMs()) this.#loadRequests.delete(tenant);
  }
}

/**
 * A model with its replicas on a device.
 * @param device what the engine calls it; undefined: as the model says
 */
export const onDevice = (model: ModelSpec, device: string | undefined): ModelSpec =>
  device === undefined
    ? model
    : { ...model, replicas: replicaSpecs(model).map(replica => ({ ...replica, device })) };
