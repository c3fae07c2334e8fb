import { expect, it } from '@jest/globals';
import { fullErrorMessage } from './error-message.js';

it.each([
  [
    new Error('The database is away.', { cause: new Error('no answer') }),
    'The database is away: no answer',
  ],
  [
    new AggregateError([new Error('connect ECONNREFUSED ::1:5432')]),
    'connect ECONNREFUSED ::1:5432',
  ],
  ['text', 'text'],
])('names every cause of %p', (error, reason) => {
  expect(fullErrorMessage(error)).toBe(reason);
});
