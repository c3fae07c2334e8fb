import { DomainError } from '../errors/domain-error.js';

/** What a worker says of one call that it has (D-49). Times in milliseconds. */
export interface DeviceProgress {
  /** An engine call computes it now. False: it waits, or is being prepared. */
  readonly onDevice: boolean;
  /** Since that engine call began. */
  readonly deviceMs: number;
  /** What that engine call may take: the sum of the limits of its members. 0: unknown. */
  readonly limitMs: number;
}

export const WAITING: DeviceProgress = { onDevice: false, deviceMs: 0, limitMs: 0 };

/**
 * The inference limit (D-07, D-49) counts device time only, and a group has the limits of
 * all its members together: so no request fails for the company it is in. Returns the
 * milliseconds after which the limit may be over, 0 or less when it is.
 * @param ownMs limit of the request alone
 * @param progress undefined: its worker does not know the call, or cannot say
 */
export function leftMs(ownMs: number, progress: DeviceProgress | undefined): number {
  if (!progress) return 0;
  if (!progress.onDevice) return ownMs;
  return Math.max(ownMs, progress.limitMs) - progress.deviceMs;
}

/** The error of a request that took the device too long. @param ownMs limit of the request alone */
export const inferenceTimeout = (ownMs: number): DomainError =>
  new DomainError(
    'inference_timeout',
    `The device computed for longer than the request may take (${Math.round(ownMs)} ms; ` +
      'in a group: the limits of all members together).',
  );

/** Of several engine calls with parts of one request: the one that ends it first. */
export const mostOverdue = (all: readonly DeviceProgress[]): DeviceProgress =>
  all
    .filter(({ onDevice }) => onDevice)
    .reduce(
      (worst, one) => (leftMs(0, one) < leftMs(0, worst) || !worst.onDevice ? one : worst),
      WAITING,
    );
