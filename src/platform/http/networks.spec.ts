import { describe, expect, it } from '@jest/globals';
import { isLoopback, TrustedProxies, HostExceptions } from './networks.js';

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

describe('the address of a client', () => {
  const proxies = new TrustedProxies('10.0.0.0/8, 2001:db8::1');
  it.each([
    ['192.0.2.1', '203.0.113.9', '192.0.2.1'],
    ['10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['::ffff:10.0.0.1', '203.0.113.9, 10.0.0.2', '203.0.113.9'],
    ['10.0.0.1', '192.0.2.66, 203.0.113.9, 10.1.2.3', '203.0.113.9'],
    ['2001:db8::1', '10.0.0.5', '10.0.0.5'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', ', ,', '10.0.0.1'],
    ['10.0.0.1', 'unknown', 'unknown'],
  ])('of peer %s with X-Forwarded-For %j is %s', (peer, forwarded, client) => {
    expect(proxies.clientOf({ 'x-forwarded-for': forwarded }, peer)).toBe(client);
  });

  it('is that of the peer where none is trusted', () => {
    expect(new TrustedProxies('').clientOf({ 'x-forwarded-for': '1.2.3.4' }, '10.0.0.1')).toBe(
      '10.0.0.1',
    );
    expect(() => new TrustedProxies('proxy.local')).toThrow(
      '`proxy.local` is no address and no network',
    );
  });
});

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
