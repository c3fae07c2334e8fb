import { describe, expect, it } from '@jest/globals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CrossOrigins } from './cross-origins.js';

describe('CrossOrigins', () => {
  it('allows the origins that are named, exactly', () => {
    const origins = new CrossOrigins('https://app.example.com, http://localhost:3000/');
    expect(
      ['https://app.example.com', 'http://localhost:3000'].every(each => origins.allows(each)),
    ).toBe(true);
    const others = [
      'http://app.example.com',
      'https://app.example.com:444',
      'https://app.example.com.evil.io',
      'null',
    ];
    expect(others.filter(each => origins.allows(each))).toEqual([]);
  });

  it('allows none when empty, all with *', () => {
    expect(new CrossOrigins('').allows('https://a.example')).toBe(false);
    expect(new CrossOrigins('*').allows('https://a.example')).toBe(true);
  });

  it('allows the pages of apps that are named with their own scheme, exactly', () => {
    const origins = new CrossOrigins(
      'tauri://localhost, app://-/, capacitor://localhost, chrome-extension://abcdef',
    );
    const named = [
      'tauri://localhost',
      'app://-',
      'capacitor://localhost',
      'chrome-extension://abcdef',
    ];
    expect(named.filter(each => !origins.allows(each))).toEqual([]);
    const others = [
      'app://other',
      'tauri://localhost:1',
      'http://localhost',
      'chrome-extension://abc',
      'null',
      '',
    ];
    expect(others.filter(each => origins.allows(each))).toEqual([]);
  });

  // What has no host is `null` to a browser, as every sandboxed page is.
  it.each([
    'app.example.com',
    'https://app.example.com/path',
    'https://*.example.com',
    'app://*',
    'app://a/b',
    'app://a@b',
    'file://',
    'data:text/html',
    'null',
    'javascript:1',
  ])('refuses %s', text => {
    expect(() => new CrossOrigins(text)).toThrow(`\`${text}\` is no origin`);
  });

  it.each([
    ['https://other.example', 'OPTIONS', { 'access-control-request-method': 'POST' }, undefined],
    ['https://a.example', 'GET', { 'access-control-request-method': 'POST' }, false],
    ['https://a.example', 'OPTIONS', {}, false],
    ['https://a.example', 'OPTIONS', { 'access-control-request-method': 'POST' }, true],
  ])(
    'marks the answer to %s, %s %j; a preflight is answered: %p',
    (origin, method, headers, is) => {
      const said: Record<string, unknown> = {};
      const reply = {
        headers: (more: object) => Object.assign(said, more) && reply,
        code: (status: number) => Object.assign(said, { status }) && reply,
        send: () => Object.assign(said, { sent: true }),
      };
      const request = { method, headers } as FastifyRequest;
      const origins = new CrossOrigins('https://a.example');
      const answered = origins.answersPreflight(origin, request, reply as unknown as FastifyReply);
      expect(answered).toBe(is ?? false);
      const marked = { 'access-control-allow-origin': origin, vary: 'Origin' };
      const preflight = {
        'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
        'access-control-allow-headers': '',
        'access-control-max-age': '600',
        ...{ status: 204, sent: true },
      };
      expect(said).toEqual({ ...(is !== undefined && marked), ...(is && preflight) });
    },
  );
});
