import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A process that listens on a TCP port. */
export interface PortHolder {
  readonly pid: number;
  /** As it was started, words separated by blanks; only the beginning of a long one. */
  readonly command: string;
  /** Its working folder. */
  readonly folder?: string;
}

const LONGEST_COMMAND = 200;
/** State column of /proc/net/tcp. */
const LISTENING = '0A';
const SOCKET_LINK = /^socket:\[(\d+)\]$/;

/** Who listens on that port of this machine. Undefined: nobody, another user's process, or a system without /proc. */
export function portHolder(port: number): PortHolder | undefined {
  const sockets = new Set(['tcp', 'tcp6'].flatMap(family => listeningSockets(family, port)));
  if (sockets.size === 0) return undefined;
  const pid = readable(() => readdirSync('/proc'), [])
    .filter(name => /^\d+$/.test(name))
    .find(name => holdsAny(name, sockets));
  return pid === undefined ? undefined : describe(pid);
}

/** Inodes of the listening sockets, from lines such as `0: 0100007F:1F40 00000000:0000 0A … inode`. */
function listeningSockets(family: string, port: number): string[] {
  const [, ...lines] = readable(() => readFileSync(`/proc/net/${family}`, 'utf8'), '')
    .trim()
    .split('\n');
  return lines
    .map(line => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === LISTENING && Number(`0x${local?.split(':')[1]}`) === port)
    .map(columns => columns[9] ?? '');
}

function holdsAny(pid: string, sockets: ReadonlySet<string>): boolean {
  return readable(() => readdirSync(`/proc/${pid}/fd`), []).some(fd => {
    const inode = SOCKET_LINK.exec(readable(() => readlinkSync(`/proc/${pid}/fd/${fd}`), ''))?.[1];
    return inode !== undefined && sockets.has(inode);
  });
}

function describe(pid: string): PortHolder {
  const words = readable(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'), '').split('\0');
  const folder = readable(() => readlinkSync(`/proc/${pid}/cwd`), undefined);
  return {
    pid: Number(pid),
    command: words.join(' ').trim().slice(0, LONGEST_COMMAND),
    ...(folder !== undefined && { folder }),
  };
}

/** Processes end and belong to others: what cannot be read is as good as not there. */
function readable<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
