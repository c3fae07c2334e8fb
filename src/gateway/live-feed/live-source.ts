import { Inject, Injectable } from '@nestjs/common';
import { type LiveRoomName, type LiveState } from '../../contracts/events/live-event.js';
import { DEFAULT_TENANT } from '../../core/request/request-key.js';
import { GatewayIdentity } from '../../platform/clock/clock.module.js';
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
  readonly ledger: LiveLedger;

  constructor(
    private readonly pool: WorkerPoolService,
    private readonly batches: LiveBatchCache,
    @Inject(MODELS) models: readonly ModelSpec[],
    private readonly identity: GatewayIdentity,
  ) {
    this.ledger = new LiveLedger(models.map(({ id }) => id));
  }

  /** Of this gateway. */
  get id(): string {
    return this.identity.id;
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
