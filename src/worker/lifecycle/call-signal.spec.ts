import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { DomainError } from '../../core/shared/domain-error.js';
import { CallSignal } from './in-flight-calls.js';

const callOf = (cancelled = false) => Object.assign(new EventEmitter(), { cancelled });

describe('CallSignal', () => {
  it('aborts when the caller leaves', () => {
    const call = callOf();
    const { signal } = new CallSignal(call);
    expect(signal.aborted).toBe(false);
    call.emit('cancelled');
    expect(signal.reason).toMatchObject({ code: 'request_cancelled' });
  });

  it('is aborted from the start when the caller had left before', () => {
    expect(new CallSignal(callOf(true)).signal.aborted).toBe(true);
  });

  it('keeps the first cause when several come', () => {
    const call = callOf();
    const callSignal = new CallSignal(call);
    callSignal.abort(new DomainError('shutting_down', 'first'));
    call.emit('cancelled');
    expect(callSignal.signal.reason).toMatchObject({ code: 'shutting_down' });
  });

  it('leaves no listener on the call when disposed', () => {
    const call = callOf();
    new CallSignal(call)[Symbol.dispose]();
    expect(call.listenerCount('cancelled')).toBe(0);
  });
});
