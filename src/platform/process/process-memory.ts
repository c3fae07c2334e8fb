import { readFileSync } from 'node:fs';

/**
 * The most memory that a process of this machine has had at once, with its children, which
 * may hold a model for it. Bytes; 0: it is gone, or runs where `/proc` does not say.
 */
export function peakBytes(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .filter(Boolean);
    const own = 1024 * Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0);
    return children.reduce((sum, child) => sum + peakBytes(Number(child)), own);
  } catch {
    return 0;
  }
}
