import { readdirSync, readFileSync } from 'node:fs';

export interface TreeProcess {
  readonly pid: number;
  readonly command: string;
}

/**
 * A process and all that it started, and they in turn; nothing where there is no /proc.
 */
export function processTree(root: number | undefined): readonly TreeProcess[] {
  const parents = new Map<number, number>();
  for (const pid of running()) {
    const fields = read(pid, 'stat').split(') ').at(-1)?.split(' ') ?? [];
    parents.set(pid, Number(fields[1]));
  }
  const belongs = (pid: number | undefined): boolean =>
    pid === root || (pid !== undefined && parents.has(pid) && belongs(parents.get(pid)));
  return [...parents.keys()]
    .filter(belongs)
    .map(pid => ({ pid, command: read(pid, 'cmdline').replaceAll('\0', ' ').trim() }));
}

/** The file that a process has mapped whose name fits; undefined when there is none. */
export function mappedFile(pid: number, name: RegExp): string | undefined {
  const paths = read(pid, 'maps')
    .split('\n')
    .map(line => line.slice(line.indexOf('/')));
  return paths.find(path => name.test(path));
}

function running(): number[] {
  try {
    return readdirSync('/proc').filter(isNumber).map(Number);
  } catch {
    return [];
  }
}

const isNumber = (name: string): boolean => /^\d+$/.test(name);

/** Empty for a process that has just ended. */
function read(pid: number, file: 'stat' | 'cmdline' | 'maps'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
