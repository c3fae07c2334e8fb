import { randomUUID } from 'node:crypto';
import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { SharedPlaces } from '@switchyard/shared-queue/client/shared-places.js';
import { HEARTBEAT_MS } from '@switchyard/shared-queue/heartbeat.js';
import { type QueueJobClass } from '@switchyard/shared-queue/keys.js';
import { ModelPlaces, type PlacesOptions, type Waiter } from './model-places.js';
import { SharedQueueLink } from './shared-queue-link.js';

/** All that this gateway has in orders that it shares with others, and its heartbeats there (D-58). */
@Injectable()
export class GatewayPlaces implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #places: SharedPlaces;
  readonly #orders = new Map<string, Pick<ModelPlaces, 'receive' | 'beat'>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly link: SharedQueueLink) {
    this.#places = new SharedPlaces(link, randomUUID());
  }

  onApplicationBootstrap(): void {
    if (!this.link.enabled) return;
    this.#places.granted$.subscribe(({ model, atMs, ...grant }) =>
      this.#orders.get(model)?.receive([grant], atMs),
    );
    this.link.back$.subscribe(() => this.#beat());
    this.#timer = setInterval(() => this.#beat(), HEARTBEAT_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.#timer);
    const names = this.link.enabled && this.link.usable ? [...this.#orders.keys()] : [];
    await Promise.all(names.map(name => this.#places.close(name).catch(() => undefined)));
  }

  /** @param name the model of requests, or another name of what waits for the same slots */
  add<W extends Waiter>(name: string, options: PlacesOptions<W>): ModelPlaces<W> {
    const order = new ModelPlaces<W>(name, {
      ...options,
      places: this.#places,
      nowMs: () => this.link.clock.nowMs(),
      usable: () => this.link.usable,
    });
    this.#orders.set(name, order);
    this.#places.listen(name);
    void order.beat();
    return order;
  }

  /** Without effect while Redis is away. @param beyondMs as `SharedPlaces.settle` */
  settle(name: string, owner: string, level: QueueJobClass, beyondMs: number): void {
    if (this.link.usable) this.#places.settle(name, owner, level, beyondMs).catch(() => undefined);
  }

  #beat(): void {
    for (const order of this.#orders.values()) void order.beat();
  }
}
