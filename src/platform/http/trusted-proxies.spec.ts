import { describe, expect, it } from '@jest/globals';
import { TrustedProxies } from './trusted-proxies.js';

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
