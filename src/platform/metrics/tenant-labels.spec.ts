import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isTenantSetting, TenantLabels } from './tenant-labels.js';

describe('metrics.tenants', () => {
  let nowMs = 0;
  const labels = (text: string, dropped: string[] = []) =>
    new TenantLabels(
      text,
      () => nowMs,
      tenant => dropped.push(tenant),
    );
  const send = (to: TenantLabels, tenant: string, times: number) => {
    for (let n = 0; n < times; n += 1) to.count(tenant);
  };

  it('is off, top-1 to top-100, or names with commas', () => {
    expect(
      ['off', 'top-1', 'top-100', 'acme', 'acme, globex,a.b', 'acme~ada'].filter(
        text => !isTenantSetting(text),
      ),
    ).toEqual([]);
    expect(['', 'acme,', 'a b', 'a/b', '{}'].filter(isTenantSetting)).toEqual([]);
  });

  it('names those that are listed, and no other', () => {
    const listed = labels('acme, globex');
    send(listed, 'hooli', 1000);
    expect(['acme', 'globex', 'hooli'].map(tenant => listed.labelOf(tenant))).toEqual([
      'acme',
      'globex',
      'other',
    ]);
  });

  it('top-N names the first, and within a minute the busiest tenant; the series of others end', () => {
    const dropped: string[] = [];
    const top = labels('top-2', dropped);
    for (const tenant of ['a', 'b', 'c']) send(top, tenant, 2);
    expect([top.named, top.labelOf('c')]).toEqual([['a', 'b'], 'other']);
    send(top, 'b', 10);
    send(top, 'flood', 500);
    expect(top.labelOf('flood')).toBe('other');
    nowMs += 60_000;
    send(top, 'a', 1);
    expect([top.labelOf('flood'), top.labelOf('b'), top.labelOf('a')]).toEqual([
      'flood',
      'b',
      'other',
    ]);
    expect(dropped).toEqual(['a']);
    // No other tenant sent more: a silent one stays named.
    nowMs += 60_000;
    send(top, 'a', 1);
    nowMs += 60_000;
    send(top, 'flood', 1);
    expect(dropped).toEqual(['a', 'flood']);
    expect(top.named).toEqual(['b', 'a']);
  });

  it('off names nobody, and a list those of the list whoever sends', () => {
    const off = labels('off');
    send(off, 'a', 5);
    expect([off.enabled, off.named, off.values]).toEqual([false, [], ['other']]);
    const listed = labels(' a , b');
    expect([listed.enabled, listed.values]).toEqual([true, ['a', 'b', 'other']]);
  });

  it('decides after a minute, by the requests of that minute; of two with as many the named one stays', () => {
    const top = labels('top-1');
    send(top, 'a', 2);
    send(top, 'b', 2);
    nowMs += 59_999;
    send(top, 'b', 1);
    expect(top.named).toEqual(['a']);
    nowMs += 1;
    send(top, 'c', 1);
    expect(top.named).toEqual(['b']);
    nowMs += 59_999;
    send(top, 'b', 1);
    nowMs += 1;
    send(top, 'a', 1);
    expect(top.named).toEqual(['b']);
  });

  it('counts 10,000 tenants in a minute, and those that it counts on and on', () => {
    const top = labels('top-1');
    for (let tenant = 0; tenant < 9999; tenant++) top.count(`t${tenant}`);
    send(top, 'last', 2);
    send(top, 'late', 5);
    nowMs += 60_000;
    top.count('t1');
    expect(top.named).toEqual(['last']);
  });

  it('never names more than N, whatever comes', () => {
    const steps = fc.array(
      fc.tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 70_000 })),
    );
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 5 }), (sent, most) => {
        const top = labels(`top-${most}`);
        for (const [tenant, afterMs] of sent) {
          nowMs += afterMs;
          top.count(`t${tenant}`);
          if (top.named.length > most) return false;
        }
        return true;
      }),
    );
  });
});
