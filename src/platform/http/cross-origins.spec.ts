import { describe, expect, it } from '@jest/globals';
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
});
