import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Announcer } from './announcer.js';
import { InHand } from './in-hand.js';
import { PullCare } from './pull-care.js';
import { PullConnections } from './pull-connections.js';
import { PullLoop } from './pull-loop.js';
import { RequestQueue } from './request-queue.js';

/** How long answers and returned jobs may take to leave after the drain; a Redis that is away is not waited for. */
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

  async start(): Promise<void> {
    this.announcer.start();
    await this.care.start();
    this.loop.start();
  }

  /** Nothing more is taken. Resolves when what was taken and not begun is on its way back. */
  async stop(): Promise<void> {
    this.care.stop();
    await this.loop.stop();
  }

  /** Never longer than `FLUSH_MS`: then the connections go, and with them whatever still waits for Redis. */
  async close(): Promise<void> {
    await Promise.race([this.#flushed(), sleep(FLUSH_MS)]);
    this.connections.close();
    await this.care.close();
  }

  async #flushed(): Promise<void> {
    await this.stop();
    await this.hand.empty();
    await this.announcer.leave();
  }
}
