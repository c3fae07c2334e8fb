import { hostname } from 'node:os';
import {
  Injectable,
  type OnApplicationShutdown,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import {
  ANNOUNCEMENT_TTL_MS,
  DRAINED_TTL_MS,
  HEARTBEAT_MS,
} from '@switchyard/shared-queue/heartbeat.js';
import { type WorkerAnnouncement } from '@switchyard/shared-queue/messages.codec.js';
import { type WorkerHealthReport } from '@switchyard/worker-protocol/health.codec.js';
import { slotsOf } from '@switchyard/worker-protocol/worker-slots.js';
import { interval, type Subscription } from 'rxjs';
import { WorkerSpec } from '../../platform/config/worker-spec.js';
import { HealthReporter } from '../execution/health-reporter.js';
import { WorkerState } from '../lifecycle/worker-state.js';
import { PullConnections } from './pull-connections.js';
import { type PullLoop } from './pull-loop.js';

/** Place of the mark among the replies of a heartbeat. */
const DRAINED_REPLY = 2;

/**
 * Announces this worker and its abilities to gateways with every heartbeat, also while it loads,
 * when its memory is taken; an announcement expires after three.
 */
@Injectable()
export class Announcer implements OnModuleInit, OnApplicationShutdown {
  #beats: Subscription | undefined;
  #published = '';
  /** Set in workers that pull. */
  #loop: PullLoop | undefined;

  constructor(
    private readonly spec: WorkerSpec,
    private readonly connections: PullConnections,
    private readonly health: HealthReporter,
    private readonly state: WorkerState,
  ) {}

  onModuleInit(): void {
    this.#beats = interval(HEARTBEAT_MS).subscribe(() => this.#beat());
    this.#beats.add(this.state.phase$.subscribe(() => this.#beat()));
    // A restarted Redis knows no worker.
    this.connections.for('work').on('ready', () => this.#beat());
  }

  /** The worker pulls, with this loop. */
  pulls(loop: PullLoop): void {
    this.#loop = loop;
  }

  /** For a worker that pulls, `PullWorker` does this after its results are delivered. */
  async onApplicationShutdown(): Promise<void> {
    if (this.#loop) return;
    await this.leave();
    this.close();
  }

  /** Without effect while Redis is unreachable. */
  #beat(): void {
    const redis = this.connections.for('work');
    if (redis.status !== 'ready') return;
    const { keys, clock, announcedId: id } = this.connections;
    const announcement = this.#announcement();
    const commands = redis.pipeline();
    commands.set(keys.worker(id), writeJson(announcement), 'PX', ANNOUNCEMENT_TTL_MS);
    void clock.read(redis);
    commands.zadd(keys.workers, clock.nowMs(), id);
    commands.get(keys.drained(id));
    commands.pexpire(keys.drained(id), DRAINED_TTL_MS);
    // What changes with every request is not published.
    const { inFlight: _, generation: __, ...steady } = announcement.health;
    const published = writeJson([steady, announcement.drained]);
    if (published !== this.#published) commands.publish(keys.announced, id);
    this.#published = published;
    commands.exec().then(
      replies => this.#obey(replies?.[DRAINED_REPLY]),
      () => undefined,
    );
  }

  /** Applies what an operator ordered, and announces it at once. */
  #obey(reply: [error: Error | null, value: unknown] | undefined): void {
    const loop = this.#loop;
    if (!loop || !reply || reply[0] || (reply[1] !== null) === loop.held.drained) return;
    loop.drain(!loop.held.drained);
    this.#beat();
  }

  /** Removes the announcement before it expires; on a device not before its process has ended. */
  async leave(): Promise<void> {
    this.#beats?.unsubscribe();
    const redis = this.connections.for('work');
    if (redis.status !== 'ready' || this.#announcement().placed) return;
    const { keys, announcedId: id } = this.connections;
    const commands = redis
      .pipeline()
      .del(keys.worker(id))
      .zrem(keys.workers, id)
      .publish(keys.announced, id);
    await commands.exec().catch(() => undefined);
  }

  /** Ends all connections to Redis. */
  close(): void {
    this.connections.close();
  }

  #announcement(): WorkerAnnouncement<WorkerHealthReport> {
    const { workerId: worker, model, localToken: token, host } = this.spec;
    const { port } = this.state;
    // A worker that was started by hand is not on a device.
    const devices = token === undefined ? undefined : model.device?.map(({ id }) => id);
    const isPlaced = token !== undefined && devices !== undefined;
    const { held } = this.#loop ?? {};
    const health = this.health.report();
    return {
      v: 1,
      id: this.connections.announcedId,
      model: model.id,
      health,
      slots: { total: slotsOf(health).credits, inUse: held?.size ?? health.inFlight },
      host: hostname(),
      pid: process.pid,
      ...(held && { lockOwner: this.connections.owner, drained: held.drained }),
      placed: devices && { by: process.ppid, devices },
      at: isPlaced && port > 0 ? { worker, address: `${host}:${port}`, token } : undefined,
    };
  }
}

/** Of a worker that announces itself and does not pull. */
export const ANNOUNCING: readonly Provider[] = [PullConnections, Announcer];
