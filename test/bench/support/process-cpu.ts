import { readFileSync } from 'node:fs';

/** Jiffies per second in /proc, a constant of the Linux ABI. */
const USER_HZ = 100;

/**
 * CPU milliseconds of a process since its start, user and system; 0 where there is no
 * /proc. Resolution 10 ms.
 */
export const processCpuMs = (pid: number | undefined): number => cpuMs(pid, 11);

/** Of the children of this process that have ended, and theirs. */
export const childrenCpuMs = (): number => cpuMs(process.pid, 13);

/** @param field the first of two in `/proc/PID/stat`, counted from the state */
function cpuMs(pid: number | undefined, field: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return ((Number(fields[field]) + Number(fields[field + 1])) * 1000) / USER_HZ;
  } catch {
    return 0;
  }
}
