import { readFileSync } from 'node:fs';

const MIB = 1024;

/** Largest resident set of a process since its start, MiB; 0 where there is no /proc. */
export const peakRssMib = (pid: number | undefined): number => statusKib(pid, 'VmHWM') / MIB;

/** Resident set of a process now, MiB; 0 where there is no /proc. */
export const rssMib = (pid: number | undefined): number => statusKib(pid, 'VmRSS') / MIB;

/**
 * Memory of a process now, MiB; 0 where there is no /proc. `private`: what ends with it;
 * pages of Node and of libraries that other processes use as well are not in it. `pss`:
 * with its share of those.
 */
export function memoryMib(pid: number | undefined) {
  const kib = (field: string): number => fieldKib(pid, 'smaps_rollup', field);
  return {
    private: (kib('Private_Clean') + kib('Private_Dirty')) / MIB,
    pss: kib('Pss') / MIB,
  };
}

const statusKib = (pid: number | undefined, field: string): number =>
  fieldKib(pid, 'status', field);

function fieldKib(pid: number | undefined, file: string, field: string): number {
  try {
    const line = readFileSync(`/proc/${pid}/${file}`, 'utf8')
      .split('\n')
      .find(text => text.startsWith(`${field}:`));
    return Number(/\d+/.exec(line ?? '')?.[0] ?? 0);
  } catch {
    return 0;
  }
}
