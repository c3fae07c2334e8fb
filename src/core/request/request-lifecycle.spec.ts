import { describe, expect, it } from '@jest/globals';
import { aRequest } from '../../../test/support/requests.js';
import { DomainError } from '../shared/domain-error.js';
import { RequestLifecycle } from './request-lifecycle.js';
import { type Settlement } from './settlement.js';

const completed: Settlement<string> = { status: 'completed', reply: 'hello' };
const cancelled: Settlement<string> = { status: 'cancelled', error: new DomainError('request_cancelled', 'gone') };

function aLifecycle(): RequestLifecycle<undefined, string> {
  return new RequestLifecycle<undefined, string>(aRequest('r'));
}

describe('RequestLifecycle', () => {
  it('starts queued, with 0 attempts and no worker', () => {
    expect(aLifecycle()).toMatchObject({ state: 'queued', attempts: 0, workerId: undefined, promoted: false });
  });

  it('walks queued → leased → settled and names its worker', () => {
    const lifecycle = aLifecycle();
    lifecycle.leased('w1');
    expect(lifecycle).toMatchObject({ state: 'leased', attempts: 1, workerId: 'w1' });
    expect(lifecycle.settle(completed)).toBe(true);
    expect(lifecycle).toMatchObject({ state: 'settled', workerId: 'w1', settlement: completed });
  });

  it('counts 2 attempts over a re-queue and forgets the dead worker', () => {
    const lifecycle = aLifecycle();
    lifecycle.leased('w1');
    lifecycle.requeued();
    expect(lifecycle).toMatchObject({ state: 'queued', attempts: 1, workerId: undefined });
    lifecycle.leased('w2');
    expect(lifecycle).toMatchObject({ state: 'leased', attempts: 2, workerId: 'w2' });
  });

  it('settles exactly once: the first settlement stays, later ones return false', () => {
    const lifecycle = aLifecycle();
    expect([lifecycle.settle(cancelled), lifecycle.settle(completed), lifecycle.settle(cancelled)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(lifecycle.settlement).toBe(cancelled);
  });

  it('settles from the queue, for a cancel before any worker had it', () => {
    const lifecycle = aLifecycle();
    expect(lifecycle.settle(cancelled)).toBe(true);
    expect(lifecycle).toMatchObject({ state: 'settled', attempts: 0 });
  });

  it('promotes once, also across a re-queue', () => {
    const lifecycle = aLifecycle();
    expect(lifecycle.promote()).toBe(true);
    lifecycle.leased('w1');
    lifecycle.requeued();
    expect(lifecycle.promote()).toBe(false);
    expect(lifecycle.promoted).toBe(true);
  });

  it('throws on moves the diagram does not have', () => {
    const leased = aLifecycle();
    leased.leased('w1');
    expect(() => leased.leased('w2')).toThrow('Request r cannot go from leased to leased.');
    expect(() => aLifecycle().requeued()).toThrow('Request r cannot go from queued to queued.');
    const settled = aLifecycle();
    settled.settle(completed);
    expect(() => settled.leased('w1')).toThrow('from settled to leased');
    expect(() => settled.requeued()).toThrow('from settled to queued');
  });
});
