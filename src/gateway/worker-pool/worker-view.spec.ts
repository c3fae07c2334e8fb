import { describe, expect, it } from '@jest/globals';
import { isNew, isReady, whyDown, WORKER_STATES, type WorkerView } from './worker-view.js';

const view = (fields: object): WorkerView =>
  ({ id: 'm-0', state: 'lost', ...fields }) as WorkerView;
const EXIT = { lines: ['first', 'last'] };

describe('a worker', () => {
  it('takes requests while it is ready or busy', () => {
    const ready = WORKER_STATES.filter(state => isReady({ state }));
    expect(ready).toEqual(['ready', 'busy']);
  });

  it.each([
    [{ state: 'starting' }, true],
    [{ state: 'draining' }, true],
    [{ state: 'stopped' }, false],
    [{ state: 'starting', lastExit: EXIT }, false],
    [{ state: 'starting', problem: 'bad' }, false],
    [{ state: 'draining', problem: 'bad' }, false],
  ])('%j is new: %s', (fields, expected) => {
    expect(isNew(view(fields))).toBe(expected);
  });

  it.each([
    [{}, []],
    [{ lastExit: { lines: [] } }, []],
    [{ lastExit: EXIT }, ['m-0: last']],
    [{ lastExit: { ...EXIT, reason: 'killed' } }, ['m-0: killed']],
    [{ lastExit: { ...EXIT, reason: 'killed' }, problem: 'bad' }, ['m-0: bad']],
  ])('%j is down because of %j', (fields, expected) => {
    expect(whyDown(view(fields))).toEqual(expected);
  });
});
