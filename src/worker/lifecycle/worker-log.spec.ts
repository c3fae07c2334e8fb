import { describe, expect, it } from '@jest/globals';
import { nestLog, workerLog } from './worker-log.js';

const SPEC = { workerId: 'w1', model: { id: 'm' }, logLevel: 'info' } as const;

describe('worker log', () => {
  it('writes one JSON line per message with worker, model and the context of the class', () => {
    const lines: string[] = [];
    const log = nestLog(workerLog(SPEC, { write: line => void lines.push(line) }));
    log.log('hello', 'WorkerDrain');
    log.error(new Error('broken'), 'WorkerDrain');
    log.warn({ err: new Error('gone'), running: 3 }, 'opened again', 'StepLoop');
    log.debug('quiet');
    const [first, second, third, ...rest] = lines.map(
      line => JSON.parse(line) as Record<string, unknown>,
    );
    expect(first).toMatchObject({
      level: 30,
      msg: 'hello',
      context: 'WorkerDrain',
      worker: 'w1',
      model: 'm',
    });
    expect(second).toMatchObject({ level: 50, msg: 'broken', err: { type: 'Error' } });
    expect(third).toMatchObject({
      level: 40,
      msg: 'opened again',
      context: 'StepLoop',
      running: 3,
    });
    expect(third?.err).toMatchObject({ type: 'Error', message: 'gone' });
    expect(rest).toEqual([]);
  });
});
