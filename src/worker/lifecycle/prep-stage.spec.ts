import { describe, expect, it } from '@jest/globals';
import { DomainError } from '../../core/errors/domain-error.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { PrepStage } from './prep-stage.js';

const { REALTIME, BATCH } = RequestPriority;
const never = new AbortController().signal;
const turn = () => new Promise(resolve => setImmediate(resolve));

function setUp(parallel: number) {
  let nowMs = 0;
  const stage = new PrepStage(parallel, { nowMs: () => nowMs });
  const started: string[] = [];
  const gates = new Map<string, () => void>();
  let sequence = 0;
  const submit = (name: string, priority: RequestPriority = BATCH, signal = never) =>
    stage.run({ priority, sequence: sequence++ }, signal, () => {
      started.push(name);
      return new Promise<string>(resolve => gates.set(name, () => resolve(name)));
    });
  return {
    stage,
    started,
    submit,
    finish: (name: string) => gates.get(name)?.(),
    pass: (ms: number) => (nowMs += ms),
  };
}

describe('PrepStage', () => {
  it('prepares 4 at a time', async () => {
    const { stage, started, submit, finish } = setUp(4);
    const all = ['a', 'b', 'c', 'd', 'e', 'f'].map(name => submit(name));
    await turn();
    expect([started, stage.running, stage.waiting]).toEqual([['a', 'b', 'c', 'd'], 4, 2]);
    finish('c');
    await turn();
    expect(started).toEqual(['a', 'b', 'c', 'd', 'e']);
    for (const name of ['a', 'b', 'd', 'e']) finish(name);
    await turn();
    finish('f');
    await Promise.all(all);
    expect([stage.running, stage.waiting]).toEqual([0, 0]);
  });

  it('lets REALTIME overtake the BATCH items that wait', async () => {
    const { started, submit, finish } = setUp(1);
    const all = [submit('first'), submit('batch'), submit('realtime', REALTIME)];
    for (const name of ['first', 'realtime', 'batch']) {
      finish(name);
      await turn();
    }
    await Promise.all(all);
    expect(started).toEqual(['first', 'realtime', 'batch']);
  });

  it('times the preparation without the wait for a place', async () => {
    const { submit, finish, pass } = setUp(1);
    const first = submit('first');
    const second = submit('second');
    pass(30);
    finish('first');
    await first;
    await turn();
    pass(12);
    finish('second');
    expect(await second).toEqual({ value: 'second', prepMs: 12 });
  });

  it('lets an aborted waiter go at once and gives its place to nobody', async () => {
    const { stage, started, submit, finish } = setUp(1);
    const abort = new AbortController();
    const first = submit('first');
    const waiting = submit('waiting', BATCH, abort.signal);
    abort.abort(new DomainError('request_cancelled', 'gone'));
    await expect(waiting).rejects.toMatchObject({ code: 'request_cancelled' });
    finish('first');
    await first;
    expect([started, stage.running]).toEqual([['first'], 0]);
  });

  it('frees the place when a preparation fails', async () => {
    const { stage } = setUp(1);
    const failing = stage.run({ priority: BATCH, sequence: 0 }, never, () =>
      Promise.reject(new Error('bad')),
    );
    await expect(failing).rejects.toThrow('bad');
    expect(stage.running).toBe(0);
  });
});
