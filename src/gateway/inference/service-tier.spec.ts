import { describe, expect, it } from '@jest/globals';
import { SERVICE_TIERS } from '../../contracts/openai/field-types.js';
import { requestPriority, usedTier } from './service-tier.js';

describe('service_tier', () => {
  it('serves both names of priority as REALTIME, all else as BATCH, and reports the tier that was used', () => {
    const used = SERVICE_TIERS.map(tier => [
      tier,
      usedTier(requestPriority(undefined, tier), tier),
    ]);
    expect(Object.fromEntries(used)).toEqual({
      auto: 'default',
      default: 'default',
      flex: 'flex',
      scale: 'default',
      priority: 'priority',
      fast: 'priority',
    });
  });

  it('yields to X-Priority', () => {
    expect(usedTier(requestPriority('batch', 'fast'), 'fast')).toBe('default');
    expect(usedTier(requestPriority('realtime', 'flex'), 'flex')).toBe('priority');
  });
});
