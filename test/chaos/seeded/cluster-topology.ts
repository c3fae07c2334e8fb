import { switchyardMembers } from '../../../scripts/topology/members.mjs';
import { RoundRobinProxy } from '../../../scripts/topology/round-robin-proxy.mjs';
import { listens, postgresServer, redisServer } from '../../../scripts/topology/servers.mjs';
import { freePort } from '../../support/free-port.js';
import { SmallDisk } from '../../support/small-disk.js';
import { pause } from '../../support/waiting.js';
import { type SupervisedProcess } from './supervised-process.js';
import { Topology, type TopologyOptions } from './topology.js';

const GATEWAYS = 2;
const PROCESSORS = 2;
/** Of each model whose workers are processes of their own. */
const WORKERS = 2;
const SERVER_MS = 60_000;
/** For a new PostgreSQL cluster and its log. */
const DATABASE_MIB = 192;

/**
 * Two gateways behind a proxy, Redis with the queue, PostgreSQL, workers that pull,
 * two batch processors.
 */
export class ClusterTopology extends Topology {
  readonly name = 'cluster';
  readonly databaseDisk: SmallDisk | undefined;
  #port = 0;
  #proxy: RoundRobinProxy | undefined;

  constructor(options: TopologyOptions) {
    super(options);
    if (options.faults.has('postgres-full')) this.databaseDisk = SmallDisk.mount(DATABASE_MIB);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    this.#port = await freePort();
    this.renewTokenSecret();
    await this.addNeighbours();
    await this.#addServers();
    await this.#addMembers();
    for (const kind of ['redis', 'postgres'] as const)
      for (const server of this.of(kind)) await startServer(server);
    for (const process of this.processes) if (process.pid === undefined) process.start();
    this.#proxy = new RoundRobinProxy(this.gatewayUrls);
    await this.#proxy.listen(this.#port, '127.0.0.1');
    if (!(await this.untilReady()))
      throw new Error(`The cluster did not become ready; logs: ${this.logs}`);
  }

  override kill(): void {
    super.kill();
    this.databaseDisk?.[Symbol.dispose]();
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    this.#proxy?.closeAll();
    await super[Symbol.asyncDispose]();
    await this.#proxy?.close();
    this.databaseDisk?.[Symbol.dispose]();
  }

  async #addServers(): Promise<void> {
    const { folder } = this.options;
    this.add(redisServer({ folder, port: await freePort() }));
    this.add(
      postgresServer({
        folder: this.databaseDisk?.path ?? folder,
        port: await freePort(),
      }),
    );
  }

  async #addMembers(): Promise<void> {
    const linked = (kind: 'redis' | 'postgres'): Promise<number> =>
      this.linked(kind, this.of(kind)[0]!.spec.port);
    const ports = {
      ...{ redis: await linked('redis'), postgres: await linked('postgres') },
      proxy: this.#port,
    };
    const { folder } = this.options;
    const make = await switchyardMembers({
      folder,
      ports,
      env: this.environment(),
      graceMs: 0,
    });
    const models = [];
    for (const model of this.models) {
      if (model.engine !== 'synthetic') {
        models.push(model);
        continue;
      }
      const addresses: string[] = [];
      for (let number = 1; number <= WORKERS; number++) {
        const port = await freePort();
        addresses.push(`127.0.0.1:${await this.linked('worker', port)}`);
        this.add(this.#ours(make.worker(model.id, number, port)));
      }
      models.push({ ...model, replicas: 0, addresses });
    }
    this.writeModels(models);
    for (let number = 1; number <= GATEWAYS; number++)
      this.add(this.#ours(make.gateway(number, await freePort())));
    for (let number = 1; number <= PROCESSORS; number++)
      this.add(this.#ours(make.processor(number, await freePort())));
  }

  /**
   * The plan of a cluster puts its data folder beside its logs; here it may be on a small
   * disk, and secrets may be replaced.
   */
  #ours<T extends { readonly env?: NodeJS.ProcessEnv }>(spec: T): T {
    const rotates = this.options.faults.has('rotate-secrets');
    return {
      ...spec,
      env: {
        ...{ ...spec.env, SWITCHYARD_DATA_DIR: this.dataFolder },
        ...(rotates && { SWITCHYARD_AUTH_PREVIOUS_TOKEN_SECRET_FILE: this.previousSecret }),
      },
    };
  }
}

/** @throws Error when it takes no connections in time */
export async function startServer(server: SupervisedProcess): Promise<void> {
  server.start();
  await untilListening(server);
}

export async function untilListening({ spec }: SupervisedProcess): Promise<void> {
  for (const endMs = performance.now() + SERVER_MS; performance.now() < endMs; await pause(50)) {
    if (await listens(spec.port)) return;
  }
  throw new Error(`${spec.name} took no connections in ${SERVER_MS / 1000} s`);
}
