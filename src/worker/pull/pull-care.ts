import { Injectable } from '@nestjs/common';
import { CallbackSender } from './callbacks/callback-sender.js';
import { Housekeeping } from './housekeeping.js';
import { LockKeeper } from './lock-keeper.js';

/** What goes on beside the loop. */
@Injectable()
export class PullCare {
  constructor(
    private readonly housekeeping: Housekeeping,
    private readonly callbacks: CallbackSender,
    private readonly locks: LockKeeper,
  ) {}

  /** Resolves when jobs may be taken. */
  async start(): Promise<void> {
    this.housekeeping.start();
    this.callbacks.start();
    await this.locks.start();
  }

  stop(): void {
    this.housekeeping.stop();
  }

  async close(): Promise<void> {
    await this.callbacks.close();
    await this.locks.close();
  }
}
