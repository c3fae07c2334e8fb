import { Injectable, Logger } from '@nestjs/common';
import { Dispatcher } from '../../core/dispatch/dispatcher.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { type WorkerTask } from '../worker-pool/worker-task.js';
import { DispatchLoop } from './dispatch-loop.js';
import { RequestRegistry } from './request-registry.js';
import { RequestCanceller } from './request-canceller.js';
import { ShutdownGrace } from './shutdown-grace.js';

/**
 * The end, in order: windows close and the queue is sent while time remains, live sessions hear their last
 * words meanwhile → what is left at `server.shutdown_grace_ms` is stopped, each settled → the loop stops → the pool closes its channels last.
 */
@Injectable()
export class ShutdownDrain {
  readonly #logger = new Logger(ShutdownDrain.name);

  constructor(
    private readonly dispatcher: Dispatcher<WorkerTask>,
    private readonly loop: DispatchLoop,
    private readonly registry: RequestRegistry,
    private readonly canceller: RequestCanceller,
    private readonly pool: WorkerPoolService,
    private readonly grace: ShutdownGrace,
  ) {}

  /** The intake must be closed already: what is accepted later would not be waited for. */
  async run(): Promise<void> {
    this.dispatcher.draining();
    this.loop.wake();
    await this.grace.wait(this.registry.idle());
    const left = this.registry.live().map(({ key }) => key);
    if (left.length > 0) this.#logger.warn({ requests: left.length }, 'grace is over: stopping what still runs');
    await this.canceller.cancelAll(left, 'shutdown');
    this.loop.stop();
    await this.pool.close();
  }
}
