import { describe, expect, it } from '@jest/globals';
import { aKey } from '../../../test/support/requests.js';
import { type RequestView } from '../../core/dispatch/request-view.js';
import { SettledHistory } from './request-registry.js';

const view = (id: string, attempts = 1): RequestView => ({
  ...{ id, model: 'm', priority: 'batch', state: 'completed', aged: false, waitedMs: 1, attempts, phases: {} },
});

describe('SettledHistory', () => {
  it('lists the latest first and finds by id', () => {
    const history = new SettledHistory();
    ['a', 'b'].forEach(id => history.add(aKey(id), view(id)));
    expect(history.list().map(({ id }) => id)).toEqual(['b', 'a']);
    expect(history.find(aKey('a'))?.id).toBe('a');
  });

  it('keeps the newest three of four when it may keep three', () => {
    const history = new SettledHistory(3);
    ['a', 'b', 'c', 'd'].forEach(id => history.add(aKey(id), view(id)));
    expect(history.list().map(({ id }) => id)).toEqual(['d', 'c', 'b']);
    expect(history.find(aKey('a'))).toBeUndefined();
  });

  it('remembers the later of two requests that used the same id', () => {
    const history = new SettledHistory(2);
    history.add(aKey('a'), view('a', 1));
    history.add(aKey('b'), view('b'));
    history.add(aKey('a'), view('a', 2));
    history.add(aKey('c'), view('c'));
    expect(history.list().map(({ id, attempts }) => [id, attempts])).toEqual([
      ['c', 1],
      ['a', 2],
    ]);
  });
});
