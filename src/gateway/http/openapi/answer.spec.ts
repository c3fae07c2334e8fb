import { describe, expect, it } from '@jest/globals';
import { pageView, secondsOrNull, unixSeconds } from './answer.js';

const shown = (id: string) => ({ id });

describe('the page of a list', () => {
  it('names its first and last entry, and says whether there are more', () => {
    expect(pageView({ data: ['a', 'b', 'c'], hasMore: true }, shown)).toEqual({
      object: 'list',
      data: [{ id: 'a' }, { id: 'b' }, { id: 'c' }],
      first_id: 'a',
      last_id: 'c',
      has_more: true,
    });
  });

  it('names none when it is empty', () => {
    expect(pageView({ data: [], hasMore: false }, shown)).toMatchObject({
      data: [],
      first_id: null,
      last_id: null,
    });
  });

  it('is refused behind an entry that is not of this list', () => {
    expect(() => pageView(undefined, shown)).toThrow('`after` must be the id of an entry');
  });
});

describe('times of answers', () => {
  it('are whole seconds, rounded down, and null where there is none', () => {
    expect([unixSeconds(1999), secondsOrNull(0), secondsOrNull(undefined)]).toEqual([1, 0, null]);
  });
});
