import { describe, expect, it } from '@jest/globals';
import { isLoopback } from './networks.js';

describe('isLoopback', () => {
  it.each([
    'localhost',
    'LOCALHOST',
    '127.0.0.1',
    '127.255.1.2',
    '::1',
    '[::1]',
    '0:0:0:0:0:0:0:1',
    '::ffff:127.0.0.1',
  ])('%s is this machine', host => expect(isLoopback(host)).toBe(true));

  it.each([
    '127.evil.com',
    '127.0.0.1.evil.com',
    'localhost.evil.com',
    'evil-localhost',
    '[::1',
    '127.0.0.1:80',
  ])('%s is a name or no host at all, and not this machine', host =>
    expect(isLoopback(host)).toBe(false),
  );

  it.each(['', '0.0.0.0', '::', '10.0.0.1', '128.0.0.1', '[::2]', '::ffff:10.0.0.1', '::1%lo'])(
    '%j is not this machine',
    host => expect(isLoopback(host)).toBe(false),
  );
});
