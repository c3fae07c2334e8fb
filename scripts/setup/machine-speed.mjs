import { createHash } from 'node:crypto';

/**
 * CPU of a fixed piece of work on the machine that budgets and limits are written for,
 * milliseconds.
 */
export const REFERENCE_MS = 7;

/** CPU time of that work here and now, milliseconds: the least of so many times. */
export function workMs(times) {
  const measured = Array.from({ length: times }, () => {
    const before = process.threadCpuUsage();
    const text = JSON.stringify(
      Array.from({ length: 20_000 }, (_, at) => ({ at, name: `n${at}` })),
    );
    createHash('sha256')
      .update(text)
      .update(JSON.stringify(JSON.parse(text)))
      .digest();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...measured);
}
