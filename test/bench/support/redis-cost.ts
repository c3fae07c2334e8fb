import { Redis } from 'ioredis';

export interface RedisCost {
  /** Scripts called, most of the round trips. */
  readonly scripts: number;
  /** Commands, those inside of scripts included. */
  readonly commands: number;
  /** Milliseconds of CPU. */
  readonly cpuMs: number;
}

/** What Redis has done since it started; of its statistics. */
export async function redisCost(url: string): Promise<RedisCost> {
  const client = new Redis(url, { maxRetriesPerRequest: null });
  const info = await client.info('all');
  client.disconnect();
  const calls = (name: string): number =>
    Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(info)?.[1] ?? 0);
  const number = (name: string): number =>
    Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1] ?? 0);
  const all = [...info.matchAll(/^cmdstat_[^:]+:calls=(\d+)/gm)];
  return {
    scripts: calls('evalsha') + calls('eval'),
    commands: all.reduce((sum, [, count]) => sum + Number(count), 0),
    cpuMs: 1000 * (number('used_cpu_user') + number('used_cpu_sys')),
  };
}

/** Of `count` requests, without what it does in that time anyway. */
export function perRequest(
  [before, after]: readonly [RedisCost, RedisCost],
  count: number,
  idle: { readonly perS: RedisCost; readonly seconds: number },
): RedisCost {
  const of = (figure: keyof RedisCost): number =>
    (after[figure] - before[figure] - idle.perS[figure] * idle.seconds) / count;
  return { scripts: of('scripts'), commands: of('commands'), cpuMs: of('cpuMs') };
}
