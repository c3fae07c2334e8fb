import { type IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { demandOneHost, requestIdFor } from './request-headers.js';

describe('the id of a request', () => {
  it.each(['a', 'A-z_0.9:', 'x'.repeat(128)])('is that of its caller: %s', id => {
    expect(requestIdFor({ headers: { 'x-request-id': id } })).toBe(id);
  });

  it.each(['', 'x'.repeat(129), 'a b', 'ü', undefined, ['a', 'b']])(
    'is a new one in place of %j',
    id => {
      const headers = { 'x-request-id': id } as IncomingMessage['headers'];
      expect(requestIdFor({ headers })).toMatch(/^req_[0-9a-f]{32}$/);
    },
  );
});

describe('the host of a request', () => {
  const demand = (rawHeaders: string[], httpVersion = '1.1') =>
    demandOneHost({
      httpVersion,
      rawHeaders,
      headers: { host: rawHeaders.some(name => /^host$/i.test(name)) ? 'h' : undefined },
    } as IncomingMessage);

  it.each([
    [['Host', 'h'], '1.1'],
    [['A', 'host', 'host', 'h'], '1.1'],
    [['hosT', 'h', 'hose', 'x', 'hosts', 'y'], '1.1'],
    [[], '1.0'],
  ])('is given once: %j of HTTP/%s', (raw, version) => {
    expect(() => demand(raw, version)).not.toThrow();
  });

  it.each([
    [[], /needs the header `Host`|need the header `Host`/],
    [['Host', 'h', 'HOST', 'h'], /must be given once/],
    [['A', 'b', 'Host', 'h', 'C', 'd', 'host', 'h'], /must be given once/],
  ])('is refused for %j', (raw, message) => {
    expect(() => demand(raw)).toThrow(message);
  });
});
