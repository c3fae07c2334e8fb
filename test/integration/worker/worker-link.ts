import { channelSecurity } from '@switchyard/worker-protocol/channel-security.js';
import { WorkerChannel } from '@switchyard/worker-protocol/worker-channel.js';

const LIMITS = { maxMessageBytes: 1024 * 1024, keepaliveTimeMs: 10_000, keepaliveTimeoutMs: 5000 };

/** To be retired by the caller. */
export const linkTo = (address: string): WorkerChannel =>
  new WorkerChannel({ address, limits: LIMITS, security: channelSecurity() }, () => undefined);
