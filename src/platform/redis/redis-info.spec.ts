import { expect, it } from '@jest/globals';
import { judgedInfo, NO_SUCH_MASTER, unknownMaster } from './redis-info.js';

it.each([
  ['redis_mode:standalone', {}],
  ['', {}],
  ['redis_mode:cluster', { refusal: expect.stringContaining('Redis Cluster') }],
  ['redis_mode:sentinel', { refusal: expect.stringContaining('names a Sentinel') }],
  ['maxmemory:100\r\nmaxmemory_policy:noeviction', {}],
  ['maxmemory:100', {}],
  ['maxmemory:0\r\nmaxmemory_policy:allkeys-lru', {}],
  ['maxmemory_policy:allkeys-lru', {}],
  [
    '# Memory\r\nmaxmemory:1\r\nmaxmemory_policy:allkeys-lru\r\n',
    { warning: expect.stringContaining('maxmemory-policy allkeys-lru') },
  ],
])('a Redis that says %j of itself is judged %j', (info, judgement) => {
  expect(judgedInfo(info)).toEqual(judgement);
});

it('a name that the Sentinels do not know is told as the setting has it', () => {
  expect(unknownMaster('mine')).toContain('of the name mine (redis.master_name)');
  expect(NO_SUCH_MASTER.test('ERR No such master with that name')).toBe(true);
});
