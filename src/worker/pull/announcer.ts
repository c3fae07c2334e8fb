import { hostname } from 'node:os';
import { Inject, Injectable } from '@nestjs/common';
import { interval, type Subscription } from 'rxjs';
import {
  ANNOUNCEMENT_TTL_MS,
  HEARTBEAT_MS,
  type WorkerAnnouncement,
} from '../../contracts/queue-jobs/queue-messages.js';
import { WORKER_SPEC, type WorkerSpec } from '../../platform/config/worker-spec.js';
import { HealthReporter } from '../execution/health-reporter.js';
import { HeldJobs } from './held-jobs.js';
import { PullConnections } from './pull-connections.js';

/** Tells gateways that this worker is there and what it can do, every heartbeat; a dead one is forgotten after three. */
@Injectable()
export class Announcer {
  /** Two gateways name their local workers alike. */
  readonly #id: string;
  #beats: Subscription | undefined;
  #told = '';

  constructor(
    @Inject(WORKER_SPEC) private readonly spec: WorkerSpec,
    private readonly connections: PullConnections,
    private readonly health: HealthReporter,
    private readonly hand: HeldJobs,
  ) {
    this.#id = `${spec.workerId}.${hostname()}.${process.pid}`;
  }

  start(): void {
    if (this.#beats) return;
    this.#beats = interval(HEARTBEAT_MS).subscribe(() => this.beat());
    // A Redis that was away has forgotten everybody.
    this.connections.for('work').on('ready', () => this.beat());
    this.beat();
  }

  /** Also when the state has changed. Lost while Redis is away, as it should be. */
  beat(): void {
    const redis = this.connections.for('work');
    if (redis.status !== 'ready') return;
    const { keys } = this.connections;
    const id = this.#id;
    const announcement = this.#announcement();
    const line = redis.pipeline();
    line.set(keys.worker(id), JSON.stringify(announcement), 'PX', ANNOUNCEMENT_TTL_MS);
    line.zadd(keys.workers, Date.now(), id);
    // What changes with every request is no news.
    const { inFlight: _, ...steady } = announcement.health;
    const told = JSON.stringify(steady);
    if (told !== this.#told) line.publish(keys.announced, id);
    this.#told = told;
    line.exec().catch(() => undefined);
  }

  /** Gateways need not wait until it is forgotten. */
  async leave(): Promise<void> {
    this.#beats?.unsubscribe();
    const redis = this.connections.for('work');
    if (redis.status !== 'ready') return;
    const { keys } = this.connections;
    const id = this.#id;
    const line = redis.pipeline().del(keys.worker(id)).zrem(keys.workers, id).publish(keys.announced, id);
    await line.exec().catch(() => undefined);
  }

  #announcement(): WorkerAnnouncement {
    return {
      v: 1,
      id: this.#id,
      model: this.spec.model.id,
      health: this.health.report(),
      slots: { total: this.hand.capacity, inUse: this.hand.size },
      host: hostname(),
      pid: process.pid,
    };
  }
}
