import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';

/**
 * The addresses a host name stands for now, as the operating system resolves names,
 * `/etc/hosts` included. A host with addresses of both families is one machine, not two:
 * IPv6 counts only where there is no IPv4. Rejects, or is empty, when there are none.
 */
export async function systemResolver(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true });
  const ipv4 = found.filter(({ family }) => family === 4);
  return (ipv4.length > 0 ? ipv4 : found).map(({ address }) => address);
}

/** Where one remote worker is. */
export interface RemoteEndpoint {
  /** ip:port, or host:port for a host that is written as a number. */
  readonly address: string;
  /** The host as configured: the name that its certificate carries. */
  readonly host: string;
}

/**
 * Follows host names: each address record is a worker. Numeric addresses are reported at
 * once and need no timer. A name server that is down removes no worker.
 */
export class AddressWatch {
  /** Endpoints that need no name server. */
  readonly fixed: readonly RemoteEndpoint[];
  readonly #named: readonly HostPort[];
  readonly #known = new Map<string, readonly RemoteEndpoint[]>();
  #timer: NodeJS.Timeout | undefined;
  #running = false;

  constructor(
    private readonly options: {
      /** host:port, as configured. */
      readonly addresses: readonly string[];
      readonly resolve: typeof systemResolver;
      /** Milliseconds between two resolutions of the names. */
      readonly refreshMs: number;
      /** All current endpoints; also called when nothing changed. */
      onEndpoints(endpoints: readonly RemoteEndpoint[]): void;
      /** A name could not be resolved: its last addresses stay in use. */
      onProblem(host: string, error: unknown): void;
    },
  ) {
    const endpoints = options.addresses.map(splitAddress);
    this.fixed = endpoints
      .filter(isNumeric)
      .map(({ host, port }) => ({ address: `${host}:${port}`, host: bare(host) }));
    this.#named = endpoints.filter(endpoint => !isNumeric(endpoint));
  }

  start(): void {
    this.#running = true;
    this.#emit();
    if (this.#named.length > 0) void this.#refresh();
  }

  /** An answer that is still on its way is ignored. */
  stop(): void {
    this.#running = false;
    clearTimeout(this.#timer);
  }

  async #refresh(): Promise<void> {
    await Promise.all(this.#named.map(name => this.#resolve(name)));
    if (!this.#running) return;
    this.#emit();
    this.#timer = setTimeout(() => void this.#refresh(), this.options.refreshMs);
  }

  async #resolve({ host, port }: HostPort): Promise<void> {
    try {
      const found = await this.options.resolve(host);
      if (found.length === 0) throw new Error(`${host} has no address`);
      const endpoints = found.map(ip => ({
        address: `${isIP(ip) === 6 ? `[${ip}]` : ip}:${port}`,
        host,
      }));
      this.#known.set(`${host}:${port}`, endpoints);
    } catch (error) {
      if (this.#running) this.options.onProblem(host, error);
    }
  }

  /** Reports its endpoints again, unless it was stopped. */
  repeat(): void {
    if (this.#running) this.#emit();
  }

  #emit(): void {
    const all = [...this.fixed, ...[...this.#known.values()].flat()];
    this.options.onEndpoints([
      ...new Map(all.map(endpoint => [endpoint.address, endpoint])).values(),
    ]);
  }
}

function splitAddress(address: string) {
  const colon = address.lastIndexOf(':');
  return { host: address.slice(0, colon), port: address.slice(colon + 1) };
}

type HostPort = ReturnType<typeof splitAddress>;

const bare = (host: string): string => host.replace(/^\[|\]$/g, '');
const isNumeric = ({ host }: HostPort): boolean => isIP(bare(host)) !== 0;
