import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type LiveRoomName, type LiveState } from '../../../contracts/events/live-event.js';
import { MODELS } from '../../../platform/config/config.module.js';
import { type ModelSpec } from '../../../platform/config/model-spec.js';
import { WorkerPoolService } from '../../worker-pool/worker-pool.service.js';
import { LiveBatchBook } from './live-batch-book.js';
import { LiveLedger } from './live-ledger.js';
import { liveWorkers } from './live-workers.js';

/** What this gateway knows of each room: its own part, as it is now. */
@Injectable()
export class LiveSource {
  /** Names this process: after a restart it is another one, and counts from the start. */
  readonly id = `gw_${randomUUID().slice(0, 8)}`;
  readonly ledger: LiveLedger;

  constructor(
    private readonly pool: WorkerPoolService,
    private readonly batches: LiveBatchBook,
    @Inject(MODELS) models: readonly ModelSpec[],
  ) {
    this.ledger = new LiveLedger(models.map(({ id }) => id));
  }

  /** Undefined: this gateway knows nothing of that room. */
  read(room: LiveRoomName): { readonly state: LiveState; readonly tenant?: string } | undefined {
    if (room === 'queue') return { state: this.ledger.lines() };
    if (room === 'workers') return { state: liveWorkers(this.pool.workers()) };
    const id = room.slice(room.indexOf(':') + 1);
    const found = room.startsWith('request:') ? this.ledger.find(id) : this.batches.find(id);
    return found && { state: { [id]: found.view }, tenant: found.tenant };
  }
}
