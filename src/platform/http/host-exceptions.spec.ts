import { describe, expect, it } from '@jest/globals';
import { HostExceptions } from './host-exceptions.js';

const exceptions = new HostExceptions(
  'files.lan, Media.LAN:9000 , 10.1.0.0/16,fd00:1::/32, [::1]:8080,127.1:81',
);

describe('fetch.allow_hosts', () => {
  it.each([
    ['example.com', '80', true],
    ['example.com', '443', true],
    ['example.com', '8080', false],
    ['files.lan', '9000', false],
    ['media.lan', '9000', true],
    ['media.lan', '9001', false],
    ['[::1]', '8080', true],
    ['127.0.0.1', '81', true],
  ])('%s, port %s: open %p', (hostname, port, open) => {
    expect(exceptions.isPortOpen(hostname, port)).toBe(open);
  });

  it.each([
    ['files.lan', '80', true],
    ['files.lan', '9000', false],
    ['media.lan', '9000', true],
    ['media.lan', '80', false],
    ['example.com', '443', false],
    ['sub.files.lan', '80', false],
  ])('%s, port %s: trusted %p', (hostname, port, trusted) => {
    expect(exceptions.isHostTrusted(hostname, port)).toBe(trusted);
  });

  it.each([
    ['10.1.2.3', true],
    ['10.2.0.1', false],
    ['fd00:1::5', true],
    ['fd00:2::5', false],
    ['localhost', false],
  ])('%s: address trusted %p', (address, trusted) => {
    expect(exceptions.isAddressTrusted(address)).toBe(trusted);
  });

  it('is nothing when empty', () => {
    const none = new HostExceptions('');
    expect([
      none.isPortOpen('a', '80'),
      none.isHostTrusted('a', '80'),
      none.isAddressTrusted('1.1.1.1'),
    ]).toEqual([true, false, false]);
  });

  it.each([
    '10.0.0.0/33',
    'fd00::/129',
    '10.0.0.0/',
    'lan/8',
    '1.2.3.4/8/8',
    'a b',
    'a:99999',
    '::1',
    'me@host',
    'a?b',
  ])('refuses %j, naming it', entry => {
    expect(() => new HostExceptions(`files.lan,${entry}`)).toThrow(`\`${entry}\` is no host`);
  });
});
