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

/** Announces this worker and its abilities to gateways with every heartbeat; an announcement expires after three. */
@Injectable()
export class Announcer {
  /** Unique: two gateways give their local workers the same names. */
  readonly #id: string;
  #beats: Subscription | undefined;
  #published = '';

  constructor(
    @Inject(WORKER_SPEC) private readonly spec: WorkerSpec,
    private readonly connections: PullConnections,
    private readonly health: HealthReporter,
    private readonly held: HeldJobs,
  ) {
    this.#id = `${spec.workerId}.${hostname()}.${process.pid}`;
  }

  start(): void {
    if (this.#beats) return;
    this.#beats = interval(HEARTBEAT_MS).subscribe(() => this.beat());
    // A restarted Redis knows no worker.
    this.connections.for('work').on('ready', () => this.beat());
    this.beat();
  }

  /** Call also when the state has changed. Without effect while Redis is unreachable. */
  beat(): void {
    const redis = this.connections.for('work');
    if (redis.status !== 'ready') return;
    const { keys } = this.connections;
    const id = this.#id;
    const announcement = this.#announcement();
    const commands = redis.pipeline();
    commands.set(keys.worker(id), JSON.stringify(announcement), 'PX', ANNOUNCEMENT_TTL_MS);
    commands.zadd(keys.workers, Date.now(), id);
    // What changes with every request is not published.
    const { inFlight: _, ...steady } = announcement.health;
    const published = JSON.stringify(steady);
    if (published !== this.#published) commands.publish(keys.announced, id);
    this.#published = published;
    commands.exec().catch(() => undefined);
  }

  /** Removes the announcement before it expires. */
  async leave(): Promise<void> {
    this.#beats?.unsubscribe();
    const redis = this.connections.for('work');
    if (redis.status !== 'ready') return;
    const { keys } = this.connections;
    const id = this.#id;
    const commands = redis.pipeline().del(keys.worker(id)).zrem(keys.workers, id).publish(keys.announced, id);
    await commands.exec().catch(() => undefined);
  }

  #announcement(): WorkerAnnouncement {
    return {
      v: 1,
      id: this.#id,
      model: this.spec.model.id,
      health: this.health.report(),
      slots: { total: this.held.capacity, inUse: this.held.size },
      host: hostname(),
      pid: process.pid,
    };
  }
}
