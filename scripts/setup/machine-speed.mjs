import { createHash } from 'node:crypto';

/**
 * CPU of a fixed piece of work on the machine that budgets and limits are written for,
 * milliseconds.
 */
export const REFERENCE_MS = 7;

/** Of this thread; of the process where Node is too old to tell. */
const cpuUsage = before => process.threadCpuUsage?.(before) ?? process.cpuUsage(before);

/** CPU time of that work here and now, milliseconds: the least of so many times. */
export function workMs(times) {
  const measured = Array.from({ length: times }, () => {
    const before = cpuUsage();
    const text = JSON.stringify(
      Array.from({ length: 20_000 }, (_, at) => ({ at, name: `n${at}` })),
    );
    createHash('sha256')
      .update(text)
      .update(JSON.stringify(JSON.parse(text)))
      .digest();
    const { user, system } = cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...measured);
}
