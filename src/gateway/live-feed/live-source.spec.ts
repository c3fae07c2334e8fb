import { describe, expect, it } from '@jest/globals';
import { DEFAULT_TENANT } from '../../core/request/request-key.js';
import { partTenant } from './live-source.js';

describe('the tenant whose part of a room a source is', () => {
  const tenantOf = (room: string, source: string) =>
    partTenant({ room, source } as Parameters<typeof partTenant>[0]);

  it.each(['queue', 'workers'])('is none in %s, which all may see', room => {
    expect(tenantOf(room, 'gateway~alice')).toBeUndefined();
  });

  it('is behind the name of the gateway, else the default one', () => {
    expect(tenantOf('request:req_1', 'gateway~alice')).toBe('alice');
    expect(tenantOf('request:req_1', '~alice')).toBe('alice');
    expect(tenantOf('request:req_1', 'gateway')).toBe(DEFAULT_TENANT);
  });
});
