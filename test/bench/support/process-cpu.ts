import { readFileSync } from 'node:fs';

/** Jiffies per second in /proc, a constant of the Linux ABI. */
const USER_HZ = 100;

/**
 * CPU milliseconds of a process since its start, user and system; 0 where there is no
 * /proc. Resolution 10 ms.
 */
export function processCpuMs(pid: number | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / USER_HZ;
  } catch {
    return 0;
  }
}
