import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { aKey } from '../../../test/support/requests.js';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { logRequestEvents } from './request-log.js';

const base = {
  key: aKey('r1'),
  requestId: 'r1',
  model: 'm',
  priority: 'batch',
  atMs: 5,
} as const;
const settled = (fields: object): DispatchEvent => ({
  ...base,
  type: 'settled',
  status: 'completed',
  phases: {},
  attempts: 1,
  ...fields,
});

describe('RequestLog', () => {
  let bus: DispatchEventBus;
  const lines: unknown[][] = [];

  beforeEach(() => {
    lines.length = 0;
    jest
      .spyOn(Logger.prototype, 'log')
      .mockImplementation((...args: unknown[]) => void lines.push(['log', ...args]));
    jest
      .spyOn(Logger.prototype, 'warn')
      .mockImplementation((...args: unknown[]) => void lines.push(['warn', ...args]));
    bus = new DispatchEventBus();
    logRequestEvents(bus);
  });
  afterEach(() => void jest.restoreAllMocks());

  it('writes one line per settled request, with its phases to the microsecond', () => {
    bus.emit({ ...base, type: 'accepted', bytes: 1 });
    bus.emit(settled({ phases: { queueWaitMs: 1.23456, totalMs: 20 }, batchSize: 8 }));
    const fields = {
      requestId: 'r1',
      model: 'm',
      priority: 'batch',
      status: 'completed',
      attempts: 1,
      batchSize: 8,
    };
    expect(lines).toEqual([
      ['log', { ...fields, queueWaitMs: 1.235, totalMs: 20 }, 'request completed'],
    ]);
  });

  it('warns of what the server is to blame for, and of nothing else', () => {
    bus.emit(settled({ status: 'failed', code: 'invalid_audio' }));
    bus.emit(settled({ status: 'cancelled', code: 'request_cancelled' }));
    bus.emit(settled({ status: 'failed', code: 'worker_lost' }));
    expect(lines.map(([level]) => level)).toEqual(['log', 'log', 'warn']);
  });

  it('writes a second line for one whose answer was withdrawn', () => {
    bus.emit({ ...base, type: 'withdrawn' });
    const fields = { requestId: 'r1', model: 'm', priority: 'batch', status: 'cancelled' };
    expect(lines).toEqual([
      ['log', { ...fields, code: 'request_cancelled' }, expect.stringContaining('withdrawn')],
    ]);
  });

  it('warns when a worker died under a request', () => {
    bus.emit({ ...base, type: 'requeued', workerId: 'w1', code: 'worker_lost' });
    expect(lines).toEqual([
      ['warn', { requestId: 'r1', model: 'm', workerId: 'w1' }, expect.any(String)],
    ]);
  });

  it('does not warn when a worker that drains gave a request back', () => {
    bus.emit({ ...base, type: 'requeued', workerId: 'w1', code: 'shutting_down' });
    expect(lines).toEqual([
      ['log', { requestId: 'r1', model: 'm', workerId: 'w1' }, expect.any(String)],
    ]);
  });
});
