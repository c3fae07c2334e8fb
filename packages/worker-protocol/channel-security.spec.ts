import { describe, expect, it } from '@jest/globals';
import { channelSecurity, knownAs } from './channel-security.js';

describe('the name that the certificate of a worker must carry', () => {
  const named = channelSecurity({ tls: { serverName: 'gpu' } });

  it.each([
    ['that of the settings', named, 'pod-17', 'gpu'],
    ['else the host that was looked up', channelSecurity({ tls: {} }), 'pod-17', 'pod-17'],
    ['else none of its own', channelSecurity({ tls: {} }), undefined, undefined],
  ])('is %s', (_, security, host, name) => {
    expect(knownAs(security, host).serverName).toBe(name);
  });
});
