import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { innerModel, READY } from '../../../test/support/inner-worker.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { LastReport } from './last-report.js';

describe('the last report of a worker', () => {
  const say = jest.fn();
  let report: LastReport;

  beforeEach(() => {
    say.mockReset();
    const settings = settingsFrom({});
    report = new LastReport({ model: innerModel(), settings, log: { say } as never });
  });

  const upstream = { ...READY, engine: 'openai-http', state: 'starting' } as const;

  it('is sound and ready, or says what is wrong or missing', () => {
    expect(report.take(READY)).toEqual({ unready: undefined, isSound: true });
    expect([report.health, report.problem]).toEqual([READY, undefined]);
    const starting = { ...READY, state: 'starting' } as const;
    expect(report.take(starting)).toMatchObject({
      unready: expect.stringContaining('starting'),
      isSound: true,
    });
    expect(report.problem).toBeUndefined();
    expect(report.take({ ...READY, model: 'other' }).isSound).toBe(false);
    expect(report.problem).toContain('"other"');
    report.take(READY);
    expect(report.problem).toBeUndefined();
  });

  it('keeps why its upstream is away, until that is there', () => {
    report.explain('refused');
    report.take(upstream);
    expect(report.problem).toBe('refused');
    report.take({ ...upstream, state: 'ready' });
    expect(report.problem).toBeUndefined();
    report.take(upstream);
    expect(report.problem).toContain('upstream');
  });

  it('logs a problem when it is another one', () => {
    for (const problem of ['one', 'one', undefined, 'one', 'two']) report.explain(problem);
    expect(say.mock.calls.map(([, problem]) => problem)).toEqual(['one', 'one', 'two']);
  });

  it('is forgotten with its process', () => {
    report.take({ ...READY, model: 'other' });
    report.clear();
    expect([report.health, report.problem]).toEqual([undefined, undefined]);
  });
});
