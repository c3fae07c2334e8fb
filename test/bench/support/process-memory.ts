import { readFileSync } from 'node:fs';

const MIB = 1024;

/** Largest resident set of a process since its start, MiB; 0 where there is no /proc. */
export const peakRssMib = (pid: number | undefined): number => statusKib(pid, 'VmHWM') / MIB;

/** Resident set of a process now, MiB; 0 where there is no /proc. */
export const rssMib = (pid: number | undefined): number => statusKib(pid, 'VmRSS') / MIB;

function statusKib(pid: number | undefined, field: string): number {
  try {
    const line = readFileSync(`/proc/${pid}/status`, 'utf8')
      .split('\n')
      .find(text => text.startsWith(`${field}:`));
    return Number(/\d+/.exec(line ?? '')?.[0] ?? 0);
  } catch {
    return 0;
  }
}
