import { type IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import { type Observable } from 'rxjs';
import { CrossOrigins } from '../../../platform/auth/cross-origin.js';
import { KeyRing } from '../../../platform/auth/key-ring.js';

/** Whom to let in, by where they come from and by what they hold. */
@Injectable()
export class LiveDoor {
  constructor(
    private readonly origins: CrossOrigins,
    private readonly keys: KeyRing,
  ) {}

  /** After every change of the keys. */
  get keysChanged$(): Observable<void> {
    return this.keys.changed$;
  }

  admits(headers: IncomingHttpHeaders): boolean {
    return this.origins.admits(headers);
  }
}
