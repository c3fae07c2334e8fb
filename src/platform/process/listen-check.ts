import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';

/** A process that listens on a TCP port. */
interface PortHolder {
  readonly pid: number;
  /** As it was started, words separated by blanks; only the beginning of a long one. */
  readonly command: string;
  /** Its working folder. */
  readonly folder: string | undefined;
}

const LONGEST_COMMAND = 200;
/** State column of /proc/net/tcp. */
const LISTENING = '0A';
const SOCKET_LINK = /^socket:\[(\d+)\]$/;

/**
 * Who listens on that port of this machine. Undefined: no process, another user's
 * process, or a system without /proc.
 */
export function portHolder(port: number): PortHolder | undefined {
  const sockets = new Set(['tcp', 'tcp6'].flatMap(family => listeningSockets(family, port)));
  if (sockets.size === 0) return undefined;
  const pid = readable(() => readdirSync('/proc'), [])
    .filter(name => /^\d+$/.test(name))
    .find(name => holdsAny(name, sockets));
  return pid === undefined ? undefined : describe(pid);
}

/**
 * Inodes of the listening sockets, from lines such as `0: 0100007F:1F40 00000000:0000
 * 0A … inode`.
 */
function listeningSockets(family: string, port: number): string[] {
  const [, ...lines] = readable(() => readFileSync(`/proc/net/${family}`, 'utf8'), '')
    .trim()
    .split('\n');
  return lines
    .map(line => line.trim().split(/\s+/))
    .filter(
      ([, local, , state]) => state === LISTENING && Number(`0x${local?.split(':')[1]}`) === port,
    )
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
    folder,
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

interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Listens for a moment. @returns the port. @throws why it cannot */
async function listenOnce({ host, port }: ListenAddress): Promise<number> {
  const server = createServer().listen({ host, port, exclusive: true });
  await once(server, 'listening');
  const { port: taken } = server.address() as AddressInfo;
  await server[Symbol.asyncDispose]();
  return taken;
}

/**
 * What keeps this process from listening there: an error code such as
 * EADDRINUSE, or undefined.
 */
export const listenProblem = (address: ListenAddress): Promise<string | undefined> =>
  listenOnce(address).then(
    () => undefined,
    ({ code, message }: NodeJS.ErrnoException) => code ?? message,
  );

/** A free port of that address, for a program that cannot report the one it got. */
export const freePort = (host: string): Promise<number> => listenOnce({ host, port: 0 });

/**
 * Why the address cannot be listened on, which process holds it and what to do; undefined
 * when it is free.
 * @param another how to choose another port, such as `npm run up -- --port 8001`
 */
export async function explainListenProblem(
  address: ListenAddress,
  another: (port: number) => string,
): Promise<string | undefined> {
  const { host, port } = address;
  const problem = await listenProblem(address);
  if (problem === undefined) return undefined;
  if (problem !== 'EADDRINUSE') return `Cannot listen on ${host}, port ${port}: ${problem}`;
  const other = another(port < 65_535 ? port + 1 : port - 1);
  return `Port ${port} on ${host} is in use by ${holderText(portHolder(port), port)}\nOr take another port: ${other}`;
}

function holderText(holder: PortHolder | undefined, port: number): string {
  if (!holder)
    return `a process that may not be looked at from here.\nThis names it: sudo ss -ltnp 'sport = :${port}'`;
  const { pid, command, folder } = holder;
  return `process ${pid}: ${command}${folder === undefined ? '' : ` (in ${folder})`}\nStop it with: kill ${pid}`;
}
