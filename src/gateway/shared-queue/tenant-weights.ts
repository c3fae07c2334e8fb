import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  Optional,
} from '@nestjs/common';
import { type Subscription } from 'rxjs';
import { KeyRing } from '../../platform/auth/key-ring.js';
import { ModelQueues } from './model-queues.js';
import { SharedQueueLink } from './shared-queue-link.js';
import { SharedRequests } from './shared-requests.js';

/**
 * Brings weights that changed to Redis for what waits already; new requests
 * bring theirs along.
 */
@Injectable()
export class TenantWeights implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #logger = new Logger(TenantWeights.name);
  #changes: Subscription | undefined;

  constructor(
    private readonly link: SharedQueueLink,
    private readonly queues: ModelQueues,
    private readonly requests: SharedRequests,
    @Optional() private readonly keyRing?: KeyRing,
  ) {}

  onApplicationBootstrap(): void {
    if (this.link.enabled)
      this.#changes = this.keyRing?.changed$.subscribe(() => void this.#weigh());
  }

  onApplicationShutdown(): void {
    this.#changes?.unsubscribe();
  }

  async #weigh(): Promise<void> {
    const own = this.requests.all().filter(({ isWaiting }) => isWaiting);
    const waiting = new Map(own.map(({ request }) => [request.tenant, request.model]));
    try {
      for (const [tenant, model] of waiting) await this.queues.weigh(model, tenant);
    } catch (error) {
      this.#logger.debug({ err: error }, 'new weights apply with the next requests');
    }
  }
}
