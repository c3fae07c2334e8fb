import { Injectable, Logger } from '@nestjs/common';
import {
  type GatewayMessage,
  type ProcessorMessage,
} from '../../contracts/batch-processor/processor-link.js';
import {
  onParentLost,
  type ParentedProcess,
  sendToParent,
} from '../../platform/process/parent-loss.js';
import { WebhookSender } from '../finalize/webhook-sender.js';
import { LineGrace } from '../lease/job-stop.js';
import { StoreMetrics } from '../observe/job.metrics.js';
import { LeftoverFolders } from '../recovery/leftover-folders.js';
import { ClaimLoop } from './claim-loop.js';

/**
 * IPC channel to the gateway that started this process. A processor started by
 * hand has none.
 */
export class ParentLink {
  constructor(
    private readonly ipc: ParentedProcess & {
      on(event: 'message', listener: (message: unknown) => void): unknown;
    },
  ) {}

  /** @param lost called when the gateway is gone */
  listen(listener: (message: GatewayMessage) => void, lost: () => void): void {
    onParentLost(this.ipc, lost);
    if (!this.ipc.connected) return;
    this.ipc.on('message', message => {
      const { type } = (message ?? {}) as { type?: unknown };
      if (type === 'wake' || type === 'metrics') listener({ type });
    });
  }

  /** Resolves when the message is sent or cannot be sent. */
  send(message: ProcessorMessage): Promise<void> {
    return sendToParent(this.ipc, message);
  }
}

/** Starts, wakes and stops the batch processor. */
@Injectable()
export class BatchProcessor {
  readonly #logger = new Logger('BatchProcessor');
  #stopping: Promise<void> | undefined;

  constructor(
    private readonly claims: ClaimLoop,
    private readonly leftovers: LeftoverFolders,
    private readonly webhooks: WebhookSender,
    private readonly grace: LineGrace,
    private readonly metrics: StoreMetrics,
  ) {}

  /** @param isWoken `wake` is called for all new work of a gateway */
  async start(isWoken = false): Promise<void> {
    for (const { status, action } of await this.leftovers.sweep())
      this.metrics.recovered(status, action);
    this.claims.start(isWoken);
    this.webhooks.start();
    this.#logger.log('looking for batches');
  }

  /** A batch was created or cancelled: look for work now. */
  wake(): void {
    this.claims.wake();
  }

  /**
   * Hands every job over.
   * @param hurry drop the lines in flight: the gateway is gone, and another processor
   *   sends them again
   */
  stop(hurry = false): Promise<void> {
    if (hurry) this.grace.hurry();
    return (this.#stopping ??= this.#stop());
  }

  async #stop(): Promise<void> {
    await Promise.all([this.claims.stop(), this.webhooks.stop()]);
  }
}
