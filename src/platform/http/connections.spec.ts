import { describe, expect, it } from '@jest/globals';
import { listenHost } from './connections.js';

describe('listenHost', () => {
  it('is one address for localhost, in any case, and any other host as it is', () => {
    expect(['localhost', 'LocalHost'].map(listenHost)).toEqual(['127.0.0.1', '127.0.0.1']);
    const others = ['127.0.0.1', '::1', '0.0.0.0', '::', 'localhost.example', 'gateway.lan'];
    expect(others.map(listenHost)).toEqual(others);
  });
});
