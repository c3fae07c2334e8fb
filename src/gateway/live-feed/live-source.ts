import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type LiveRoomName, type LiveState } from '../../contracts/events/live-event.js';
import { DEFAULT_TENANT } from '../../core/request/request-key.js';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { LiveBatchCache } from './live-batch-cache.js';
import { LiveLedger } from './live-ledger.js';
import { liveWorkers } from './live-workers.js';

export interface OwnPart {
  readonly state: LiveState;
  /** Absent: visible to all. */
  readonly tenant?: string;
}

/** This gateway's part of each room, as it is now. */
@Injectable()
export class LiveSource {
  /** Names this process: a restarted one has another id and counts from the start. */
  readonly id = `gw_${randomUUID().slice(0, 8)}`;
  readonly ledger: LiveLedger;

  constructor(
    private readonly pool: WorkerPoolService,
    private readonly batches: LiveBatchCache,
    @Inject(MODELS) models: readonly ModelSpec[],
  ) {
    this.ledger = new LiveLedger(models.map(({ id }) => id));
  }

  /** Empty: this gateway has no part of that room. Several: that many tenants have a request of that id (D-31). */
  read(room: LiveRoomName): OwnPart[] {
    if (room === 'queue') return [{ state: this.ledger.queues() }];
    if (room === 'workers') return [{ state: liveWorkers(this.pool.workers()) }];
    const id = room.slice(room.indexOf(':') + 1);
    const found = room.startsWith('request:') ? this.ledger.named(id) : [this.batches.find(id) ?? []].flat();
    return found.map(({ tenant, view }) => ({ state: { [id]: view }, tenant }));
  }

  /** A part numbers its own changes: one per gateway and, where several tenants share a room, per tenant. */
  partId(tenant: string | undefined): string {
    return tenant === undefined || tenant === DEFAULT_TENANT ? this.id : `${this.id}~${tenant}`;
  }
}

/** The gateway that a part comes from. */
export const gatewayOf = (source: string): string => source.split('~', 1)[0] ?? source;
