import {
  Injectable,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { type Subscription } from 'rxjs';
import { Authenticator } from '../../platform/auth/authenticator.js';
import { KeyRing } from '../../platform/auth/key-ring.js';
import { RealtimeSessions } from './realtime-sessions.js';

/**
 * Ends sessions with the key that opened them, or with the key of
 * their short-lived token.
 */
@Injectable()
export class WithdrawnKeys implements OnModuleInit, OnApplicationShutdown {
  #changes: Subscription | undefined;

  constructor(
    private readonly keys: KeyRing,
    private readonly authenticator: Authenticator,
    private readonly sessions: RealtimeSessions,
  ) {}

  onModuleInit(): void {
    this.#changes = this.keys.changed$.subscribe(() =>
      this.sessions.endWithdrawn(owner => this.authenticator.isCurrent(owner)),
    );
  }

  onApplicationShutdown(): void {
    this.#changes?.unsubscribe();
  }
}
