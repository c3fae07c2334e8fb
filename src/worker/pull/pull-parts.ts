import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Announcer } from './announcer.js';
import { InHand } from './in-hand.js';
import { PullCare } from './pull-care.js';
import { PullConnections } from './pull-connections.js';
import { PullLoop } from './pull-loop.js';
import { RequestQueue } from './request-queue.js';

/** How long answers and returned jobs may take to leave after the drain. */
const FLUSH_MS = 2000;

/** The parts of a worker that pulls, in the order in which they start and stop. */
@Injectable()
export class PullParts {
  constructor(
    readonly announcer: Announcer,
    readonly queue: RequestQueue,
    private readonly loop: PullLoop,
    private readonly care: PullCare,
    private readonly hand: InHand,
    private readonly connections: PullConnections,
  ) {}

  start(): void {
    this.announcer.start();
    this.care.start();
    this.loop.start();
  }

  /** Nothing more is taken. */
  async stop(): Promise<void> {
    this.care.stop();
    await this.loop.stop();
  }

  async close(): Promise<void> {
    await Promise.race([this.hand.empty(), sleep(FLUSH_MS)]);
    await this.announcer.leave();
    await this.care.close();
    this.connections.close();
  }
}
