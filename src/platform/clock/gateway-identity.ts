import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';

/** Names this process: a restarted gateway has another id and counts from the start. */
@Injectable()
export class GatewayIdentity {
  readonly id = `gw_${randomUUID().slice(0, 8)}`;
  /** Unix milliseconds. */
  readonly startedAtMs = Date.now();
}
