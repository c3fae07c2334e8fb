import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** States of `/proc/net/tcp`. */
const STATES = new Map([
  ['01', 'established'],
  ['04', 'fin-wait-1'],
  ['05', 'fin-wait-2'],
  ['08', 'close-wait'],
  ['0A', 'listen'],
]);

/** What each open file of a process is; TCP sockets with their ports and state. */
export function openDescriptors(pid: number | undefined): readonly string[] {
  if (pid === undefined) return [];
  const sockets = tcpSockets(pid);
  try {
    return readdirSync(`/proc/${pid}/fd`).map(fd => {
      const name = nameOf(`/proc/${pid}/fd/${fd}`);
      return sockets.get(name) ?? name;
    });
  } catch {
    return [];
  }
}

/** As the process at the other end of a connection has it. */
export const otherEnd = (name: string): string => name.replace(/^tcp:(\d+)-(\d+)/, 'tcp:$2-$1');

function tcpSockets(pid: number): ReadonlyMap<string, string> {
  const lines = ['tcp', 'tcp6'].flatMap(name =>
    read(`/proc/${pid}/net/${name}`).split('\n').slice(1),
  );
  const fields = lines.map(line => line.trim().split(/\s+/)).filter(({ length }) => length > 9);
  return new Map(
    fields.map(([, local = '', remote = '', state = '', ...rest]) => {
      const name = `tcp:${portOf(local)}-${portOf(remote)}:${STATES.get(state) ?? state}`;
      return [`socket:[${rest[5]}]`, name];
    }),
  );
}

const portOf = (address: string): number => parseInt(address.split(':').at(-1)!, 16);

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function nameOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return 'closed';
  }
}
