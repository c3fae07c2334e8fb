import { type ServerResponse } from 'node:http';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DomainError } from '../../core/errors/domain-error.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { LimitEvents } from './limits.metrics.js';

const RETRY_MS = 1000;

/**
 * Bounds the requests that are being received and are not queued yet: too many at once
 * hold up the event loop.
 */
@Injectable()
export class IntakeBound implements OnModuleInit {
  readonly #receiving = new Set<string>();

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly bus: DispatchEventBus,
    private readonly events: LimitEvents,
  ) {}

  onModuleInit(): void {
    this.bus.on('accepted', ({ requestId }) => this.#receiving.delete(requestId));
  }

  /** @throws DomainError `queue_full` */
  enter(requestId: string, response: ServerResponse): void {
    const { maxReceiving } = this.settings.server;
    if (this.#receiving.size >= maxReceiving) {
      this.events.refused('intake');
      const message = `The gateway receives ${maxReceiving} requests already (server.max_receiving); try again in 1 s.`;
      throw new DomainError('queue_full', message, { retryAfterMs: RETRY_MS });
    }
    this.#receiving.add(requestId);
    response.once('close', () => this.#receiving.delete(requestId));
  }
}
