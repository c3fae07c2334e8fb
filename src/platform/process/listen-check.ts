import { createServer } from 'node:net';
import { portHolder, type PortHolder } from './port-holder.js';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** What keeps this process from listening there: an error code such as EADDRINUSE, or undefined. */
export function listenProblem({ host, port }: ListenAddress): Promise<string | undefined> {
  return new Promise(resolve => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/**
 * Tells a person why nobody can listen there, who is in the way and what to do; undefined when the address is free.
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
  if (!holder) return `a process that may not be looked at from here.\nThis names it: sudo ss -ltnp 'sport = :${port}'`;
  const { pid, command, folder } = holder;
  return `process ${pid}: ${command}${folder === undefined ? '' : ` (in ${folder})`}\nStop it with: kill ${pid}`;
}
