import { describe, expect, it } from '@jest/globals';
import { DomainError } from '../../core/errors/domain-error.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { StopErrors } from './stop-errors.js';

const BROKEN = new DomainError('no_worker', 'It cannot start.');
const request = { model: 'm', inferenceTimeoutMs: 2000 } as never;

/** @param workers of the model; undefined: there is no such model */
function failures(workers?: { readonly isHeld?: boolean; readonly loadFailure?: DomainError }) {
  const pool = { of: (model: string) => (model === 'm' ? workers : undefined) } as never;
  return new StopErrors(pool, settingsFrom({ 'inference.generation_idle_ms': 1500 }));
}

describe('how a stopped request ends', () => {
  it.each([
    ['client', 'cancelled', 'request_cancelled', 'by its caller'],
    ['disconnect', 'cancelled', 'request_cancelled', 'went away'],
    ['operator', 'cancelled', 'request_cancelled', 'by an operator'],
    ['deadline', 'failed', 'inference_timeout', '2000 ms'],
    ['silence', 'failed', 'inference_timeout', '1500 ms'],
    ['shutdown', 'failed', 'shutting_down', 'shutting down'],
    ['unload', 'failed', 'model_unloaded', 'unloaded by an operator'],
    ['load_failed', 'failed', 'no_worker', 'cannot start'],
  ] as const)('after %s: %s, %s', (reason, status, code, words) => {
    const settled = failures({ loadFailure: BROKEN }).stopped(request, reason);
    expect(settled).toMatchObject({ status, error: { code } });
    expect(settled.error.message).toContain(words);
  });

  it('says that its model is unloaded where no failure to load is known, and when to come again', () => {
    const { error } = failures().stopped(request, 'load_failed');
    expect(error).toMatchObject({ code: 'model_unloaded', retryAfterMs: 30_000 });
  });
});

describe('a request that waits', () => {
  const waiting = (hasReady: boolean) =>
    ({ request, queue: { backlog: () => ({ hasReady }) } }) as never;

  it('is unserved when its model is unloaded, or cannot start and no worker elsewhere is ready', () => {
    expect(failures({ isHeld: true }).unserved(waiting(true))?.code).toBe('model_unloaded');
    expect(failures({ loadFailure: BROKEN }).unserved(waiting(false))).toBe(BROKEN);
    expect(failures({ loadFailure: BROKEN }).unserved(waiting(true))).toBeUndefined();
    expect(failures({}).unserved(waiting(false))).toBeUndefined();
  });
});
