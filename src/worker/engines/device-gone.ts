import { DomainError } from '../../core/shared/domain-error.js';

/**
 * What had the device, a thread or a process of the engine's, died under the call: any of its items may have been the cause. Callers are
 * told `engine_failed`; a pull worker lets the halves of the group try again.
 */
export class DeviceGone extends DomainError {
  constructor(message: string, cause?: unknown) {
    super('engine_failed', message, { cause });
  }
}
