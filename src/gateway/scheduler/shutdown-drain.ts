import { Inject, Injectable, Logger } from '@nestjs/common';
import { Dispatcher } from '../../core/dispatch/dispatcher.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { type WorkerTask } from '../worker-pool/worker-task.js';
import { DispatchLoop } from './dispatch-loop.js';
import { RequestBook } from './request-book.js';
import { RequestCanceller } from './request-canceller.js';

/**
 * The end, in order (DESIGN "Shutdown"): windows close and the queue is sent while time remains → what is left at
 * `server.shutdown_grace_ms` is stopped, each settled → the loop stops → the pool closes its channels last.
 */
@Injectable()
export class ShutdownDrain {
  readonly #logger = new Logger(ShutdownDrain.name);

  constructor(
    private readonly dispatcher: Dispatcher<WorkerTask>,
    private readonly loop: DispatchLoop,
    private readonly book: RequestBook,
    private readonly canceller: RequestCanceller,
    private readonly pool: WorkerPoolService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** The intake must be closed already: what is accepted later would not be waited for. */
  async run(): Promise<void> {
    this.dispatcher.draining();
    this.loop.wake();
    await this.#graceful();
    const left = this.book.live().map(({ id }) => id);
    if (left.length > 0) this.#logger.warn({ requests: left.length }, 'grace is over: stopping what still runs');
    await this.canceller.cancelAll(left, 'shutdown');
    this.loop.stop();
    await this.pool.close();
  }

  /** Until nothing runs or the time is up; the time for telling workers is taken off, so that the whole fits the grace. */
  async #graceful(): Promise<void> {
    const { server, cancellation } = this.settings;
    const waitMs = Math.max(0, server.shutdownGraceMs - cancellation.rpcTimeoutMs);
    let timer: NodeJS.Timeout | undefined;
    const timeIsUp = new Promise<void>(resolve => (timer = setTimeout(resolve, waitMs)));
    await Promise.race([this.book.idle(), timeIsUp]);
    clearTimeout(timer);
  }
}
