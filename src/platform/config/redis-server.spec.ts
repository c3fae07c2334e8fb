import { describe, expect, it } from '@jest/globals';
import { redisServer } from './redis-server.js';

const at = (url: string) => redisServer({ url, sentinels: '', masterName: '' });
const behind = (sentinels: string) => redisServer({ url: '', sentinels, masterName: 'mine' });

describe('the Redis that the settings name', () => {
  it('is the address of redis.url with its user, password, database, TLS and options', () => {
    expect(at('redis://10.0.0.1')).toEqual({ host: '10.0.0.1', port: 6379 });
    expect(at('rediss://app:p%40ss@[::1]:6380/2?family=6')).toEqual({
      host: '::1',
      port: 6380,
      username: 'app',
      password: 'p@ss',
      db: 2,
      tls: {},
      family: 6,
    });
  });

  it('is the master that the Sentinels name; they get the password without the user', () => {
    expect(behind('rediss://app:pw@s1,s2:26380/1')).toEqual({
      name: 'mine',
      sentinels: [
        { host: 's1', port: 26_379 },
        { host: 's2', port: 26_380 },
      ],
      username: 'app',
      password: 'pw',
      sentinelPassword: 'pw',
      db: 1,
      tls: {},
      enableTLSForSentinelMode: true,
      sentinelTLS: {},
    });
    expect(behind('redis://s1')).toEqual({
      name: 'mine',
      sentinels: [{ host: 's1', port: 26_379 }],
    });
  });
});
