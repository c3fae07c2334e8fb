import { describe, expect, it } from '@jest/globals';
import { QueueKeys } from './keys.js';

const keys = new QueueKeys('switchyard');

describe('QueueKeys', () => {
  it('gives every model a queue name that BullMQ takes, and no two models the same', () => {
    const names = ['whisper-1', 'org/whisper:large', 'org~2f~whisper:large'].map(model =>
      keys.queue(model),
    );
    expect(names).toEqual([
      'requests-whisper-1',
      'requests-org~2f~whisper~3a~large',
      'requests-org~7e~2f~7e~whisper~3a~large',
    ]);
  });

  it('makes job ids of request ids that BullMQ refuses: numbers, colons', () => {
    expect([keys.job('17', undefined), keys.job('a:b', undefined)]).toEqual([
      'open.17',
      'open.a~3a~b',
    ]);
  });

  it('keeps the same request id of two tenants apart', () => {
    expect(
      new Set([keys.job('r', 'acme'), keys.job('r', 'other'), keys.job('r', undefined)]).size,
    ).toBe(3);
    expect(keys.job('r', 'acme')).toBe(keys.job('r', 'acme'));
  });

  it('puts every key under the prefix', () => {
    const all = [
      keys.stops,
      keys.stop('q', 'j'),
      keys.workers,
      keys.worker('w'),
      keys.announced,
      keys.dead('m:1'),
    ];
    expect(all).toEqual([
      'switchyard:plane:stops',
      'switchyard:plane:stop:q:j',
      'switchyard:plane:workers',
      'switchyard:plane:worker:w',
      'switchyard:plane:announced',
      'switchyard:plane:dead:m~3a~1',
    ]);
  });
});
