import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { shuttingDown } from '../../platform/http/passing-errors.js';

/**
 * What still answers while the server drains: probes, scrapes, and a look at or the
 * cancel of what is running.
 */
const OPEN_WHILE_DRAINING =
  /^\/(health|readyz|metrics|v1\/(requests|audio\/\w+)\/[^/]+(\/(cancel|content))?\/?$|admin)/;

/**
 * Shuts at the first sign of shutdown, before the drain begins. Nest's and Fastify's own
 * switches come too late or answer in another shape.
 */
@Injectable()
export class IntakeGate implements OnModuleDestroy {
  draining = false;

  onModuleDestroy(): void {
    this.draining = true;
  }

  /** While it drains. @throws DomainError `shutting_down` */
  pass(url: string): void {
    if (OPEN_WHILE_DRAINING.test(url.split('?', 1)[0] ?? '')) return;
    throw shuttingDown();
  }
}
