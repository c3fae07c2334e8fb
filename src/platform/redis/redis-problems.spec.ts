import { expect, it } from '@jest/globals';
import { DomainError } from '../../core/errors/domain-error.js';
import { isFull, isTimeout, redisProblem, redisUnavailable } from './redis-problems.js';

const reply = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' });
const caused = (message: string) => new Error('outer', { cause: new Error(message) });

it.each([
  [new Error('OOM command not allowed'), true, false],
  [caused('OOM command not allowed'), true, false],
  [new Error('Command timed out'), false, true],
  [caused('Command timed out'), false, true],
  [new Error('other'), false, false],
  ['OOM', false, false],
  [undefined, false, false],
])('%p: full %p, timed out %p', (error, full, timeout) => {
  expect([isFull(error), isTimeout(error)]).toEqual([full, timeout]);
});

it.each(['OOM command not allowed', 'LOADING Redis is loading', 'READONLY You cannot write'])(
  'the reply %s means that the queue is unavailable',
  message => expect(redisProblem(reply(message))).toMatchObject({ code: 'queue_unavailable' }),
);

it('a wrong command passes as it is, and a lost connection is no reply', () => {
  for (const message of ['WRONGTYPE Operation', 'BUSYGROUP exists']) {
    const wrong = reply(message);
    expect(redisProblem(wrong)).toBe(wrong);
  }
  const lost = new Error('WRONGTYPE Operation');
  expect(redisProblem(lost)).toMatchObject({ code: 'queue_unavailable', cause: lost });
  expect(redisProblem('gone')).toMatchObject({ code: 'queue_unavailable' });
});

it('an error that says what it means stays; a full Redis is told from one that is away', () => {
  const known = new DomainError('queue_unavailable', 'known');
  expect(redisUnavailable(known)).toBe(known);
  expect(redisUnavailable(new Error('OOM'))).toMatchObject({
    message: expect.stringContaining('is full'),
  });
  expect(redisUnavailable(new Error('x'))).toMatchObject({
    message: expect.stringContaining('cannot be reached'),
  });
});
