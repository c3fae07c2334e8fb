import { describe, expect, it } from '@jest/globals';
import { aRequest } from '../../../test/support/requests.js';
import { RequestPriority } from '../request/request-priority.js';
import { ModelLane } from './model-lane.js';
import { TenantShares } from './tenant-shares.js';

/** A lane of which each call serves the next request; prints its tenants. */
function served(lane: ModelLane<undefined>, count: number): string {
  let tenants = '';
  for (let left = count; left > 0 && lane.next; left -= 1) {
    const node = lane.next;
    tenants += node.request.tenant;
    lane.charge(node);
    lane.remove(node);
  }
  return tenants;
}

function aLane(weights: Record<string, number> = {}): ModelLane<undefined> {
  return new ModelLane<undefined>('m', RequestPriority.BATCH, { weightOf: tenant => weights[tenant] ?? 1 });
}

function fill(lane: ModelLane<undefined>, tenant: string, count: number, costMs = 1): void {
  for (let index = 0; index < count; index += 1)
    lane.append(aRequest(`${tenant}${index}`, { tenant, costMs, enqueuedAtMs: index + (tenant === 'b' ? 0.5 : 0) }));
}

describe('TenantShares', () => {
  it('serves two tenants in turn, however many requests one of them has', () => {
    const lane = aLane();
    fill(lane, 'a', 6);
    fill(lane, 'b', 3);
    expect(served(lane, 9)).toBe('abababaaa');
  });

  it('a tenant of weight 3 gets three turns for one of weight 1', () => {
    const lane = aLane({ a: 3 });
    fill(lane, 'a', 9);
    fill(lane, 'b', 9);
    const first = served(lane, 8);
    expect([...first].filter(tenant => tenant === 'a')).toHaveLength(6);
  });

  it('counts work, not requests: one of 4 ms is worth four of 1 ms', () => {
    const lane = aLane();
    fill(lane, 'a', 5, 4);
    fill(lane, 'b', 20, 1);
    expect([...served(lane, 15)].filter(tenant => tenant === 'b')).toHaveLength(12);
  });

  it('a tenant that returns has saved nothing up, and owes nothing', () => {
    const lane = aLane();
    fill(lane, 'a', 10);
    served(lane, 5);
    fill(lane, 'b', 4);
    expect(served(lane, 6)).toBe('bbabab');
  });

  it('one that took longer than estimated waits until the others have caught up', () => {
    const lane = aLane();
    fill(lane, 'a', 4);
    fill(lane, 'b', 5);
    const [sent] = [lane.next!];
    served(lane, 1);
    lane.correct(sent.request, 3);
    expect(served(lane, 8)).toBe('bbbbabaa');
  });

  it('forgets idle tenants: at most 1000 accounts beside those that wait', () => {
    const shares = new TenantShares<undefined>(() => 1);
    const lane = aLane();
    for (let index = 0; index < 5000; index += 1) {
      const node = lane.append(aRequest(`r${index}`, { tenant: `t${index}` }));
      const { behind } = node;
      node.queue?.remove(node);
      shares.append(node);
      shares.charge(node);
      shares.remove(node);
      expect(behind).toBeUndefined();
    }
    expect(shares.accounts).toBeLessThanOrEqual(1000);
  });
});
