import { Injectable } from '@nestjs/common';
import { type QueueJobResult } from '../../contracts/queue-jobs/job-result.js';
import { type LatencyPhases } from '../../core/latency/latency-summary.js';
import { DEFAULT_TENANT, type RequestKey, requestKey, type RequestRef } from '../../core/request/request-key.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { QueueDepths } from '../shared-queue/queue-depth.js';
import { QueueListing, type WorkerSighting } from '../shared-queue/queue-listing.js';
import { SharedQueue } from '../shared-queue/shared-queue.service.js';
import { keyOf, matchesFilter, type RequestFilter, type RequestView } from './request-view.js';
import { type QueueLine, RequestViews } from './request-views.js';

/**
 * The requests of all gateways that share a queue, read from Redis; with an embedded queue, and while Redis is away, those of
 * this one.
 */
@Injectable()
export class FleetRequests {
  constructor(
    private readonly own: RequestViews,
    private readonly plane: SharedQueue,
    private readonly listing: QueueListing,
    private readonly depths: QueueDepths,
  ) {}

  /** Those that ended are known to the gateway that accepted them. */
  async list(filter: RequestFilter = {}): Promise<RequestView[]> {
    const isLive = filter.state === undefined || filter.state === 'queued' || filter.state === 'running';
    const shared = isLive ? await this.#shared() : [];
    const views = shared.map(sighting => this.#view(sighting)).filter(view => matchesFilter(view, filter));
    const seen = new Set(views.map(keyOf));
    const own = this.own.list(filter).filter(view => !seen.has(keyOf(view)));
    return [...views, ...own];
  }

  async find(ref: RequestRef): Promise<RequestView | undefined> {
    const own = this.own.find(requestKey(ref));
    if (own && own.state !== 'queued') return own;
    const found = await this.plane.look(() => this.listing.find(ref.id, ref.tenant), undefined);
    if (found) return this.#view(found);
    if (own) return own;
    const [written] = await this.#written(ref);
    return written && this.#view(written);
  }

  /** Of every tenant. */
  async named(id: string): Promise<RequestView[]> {
    const own = this.own.named(id);
    const known = new Set(own.map(keyOf));
    const shared = (await this.#shared()).filter(sighting => sighting.id === id).map(sighting => this.#view(sighting));
    return [...own, ...shared.filter(view => !known.has(keyOf(view)))];
  }

  async lines(): Promise<QueueLine[]> {
    const own = this.own.lines();
    const shared = await this.plane.look(() => this.depths.all(), []);
    return own.map(line => {
      const depth = shared.find(({ model }) => model === line.model);
      if (!depth) return line;
      const { realtime, batch, running, oldestMs } = depth;
      return {
        ...line,
        realtime: line.realtime + realtime,
        batch: line.batch + batch,
        running: Math.max(line.running, running),
        ...(oldestMs !== undefined && { oldestWaitMs: Math.max(line.oldestWaitMs ?? 0, Date.now() - oldestMs) }),
      };
    });
  }

  /** Stops what another gateway accepted. */
  async stop(ref: RequestRef, reason: CancelReason): Promise<boolean> {
    if (!this.plane.usable) return false;
    if (await this.plane.stopKnown(ref.id, ref.tenant, reason)) return true;
    const found = await this.#written(ref);
    await Promise.all(found.map(sighting => this.plane.stop(sighting.ref, reason)));
    return found.length > 0;
  }

  /** Stops those that match, of all gateways. */
  async stopMatching(filter: RequestFilter, reason: CancelReason): Promise<RequestKey[]> {
    const found = (await this.#shared()).filter(sighting => matchesFilter(this.#view(sighting), filter));
    await Promise.all(found.map(({ ref }) => this.plane.stop(ref, reason)));
    return found.map(sighting => keyOf(sighting));
  }

  /** Jobs that other BullMQ clients wrote: named as they like, and without a tenant they are the default one's. */
  async #written(ref: RequestRef): Promise<WorkerSighting[]> {
    if (ref.tenant !== undefined && ref.tenant !== DEFAULT_TENANT) return [];
    const key = requestKey(ref);
    return (await this.#shared()).filter(sighting => keyOf(sighting) === key);
  }

  async #shared(): Promise<WorkerSighting[]> {
    return this.plane.look(() => this.listing.live(), []);
  }

  #view(sighting: WorkerSighting): RequestView {
    const { id, tenant, priority, aged, facts, acceptedMs, position, result, ref } = sighting;
    const state = result ? result.outcome : facts.taken ? 'running' : 'queued';
    const waitedMs = (facts.takenMs ?? Date.now()) - acceptedMs;
    return {
      ...{ id, model: ref.model, priority, aged, state, waitedMs: Math.max(0, waitedMs), attempts: facts.attempts },
      ...(tenant !== undefined && { tenant }),
      ...(facts.workerId !== undefined && { workerId: facts.workerId }),
      ...(state === 'queued' && { waitsFor: this.plane.hasReady(ref.model) ? 'slot' : 'worker' }),
      ...(state === 'queued' && position !== undefined && { position }),
      ...codeOf(result),
      phases: result ? phasesOf(result, waitedMs) : {},
    };
  }
}

function phasesOf(result: QueueJobResult, waitedMs: number): LatencyPhases {
  const readyMs = result.outcome === 'completed' ? result.execution.readyWaitMs : undefined;
  const phases = { queueWaitMs: Math.max(0, waitedMs), grpcMs: result.phases.totalMs };
  return { ...phases, ...(readyMs !== undefined && { readyMs }) };
}

function codeOf(result: QueueJobResult | undefined): Pick<RequestView, 'code'> {
  if (result?.outcome === 'failed') return { code: result.error.code };
  return result?.outcome === 'cancelled' ? { code: 'request_cancelled' } : {};
}
