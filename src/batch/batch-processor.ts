import { Injectable, Logger } from '@nestjs/common';
import { ShutdownGrace } from './execute/shutdown-grace.js';
import { WebhookSender } from './finalize/webhook-sender.js';
import { ClaimLoop } from './lease/claim-loop.js';
import { StoreMetrics } from './observe/store.metrics.js';
import { LeftoverFolders } from './recovery/leftover-folders.js';

/** The processor as a whole: start, wake, stop. */
@Injectable()
export class BatchProcessor {
  readonly #logger = new Logger('BatchProcessor');
  #stopping: Promise<void> | undefined;

  constructor(
    private readonly claims: ClaimLoop,
    private readonly leftovers: LeftoverFolders,
    private readonly webhooks: WebhookSender,
    private readonly grace: ShutdownGrace,
    private readonly metrics: StoreMetrics,
  ) {}

  async start(): Promise<void> {
    for (const { status, action } of await this.leftovers.sweep()) this.metrics.recovered(status, action);
    this.claims.start();
    this.webhooks.start();
    this.#logger.log('looking for batches');
  }

  /** Look now: a batch was made, or cancelled. */
  wake(): void {
    this.claims.wake();
  }

  /** Hands every job over. @param hurry nobody is left to wait for: lines in flight are dropped, and sent again by another */
  stop(hurry = false): Promise<void> {
    if (hurry) this.grace.hurry();
    return (this.#stopping ??= this.#stop());
  }

  async #stop(): Promise<void> {
    await Promise.all([this.claims.stop(), this.webhooks.stop()]);
  }
}
