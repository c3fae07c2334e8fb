import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { inRoot } from '../setup/command.mjs';
import { SetupError } from '../setup/report.mjs';
import { freePorts } from './free-port.mjs';
import { Member } from './member.mjs';
import { switchyardMembers } from './members.mjs';
import { RoundRobinProxy } from './round-robin-proxy.mjs';
import { listens, postgresServer, redisServer } from './servers.mjs';

const SERVERS_READY_MS = 60_000;

/**
 * The topology of docker/compose.cluster.yaml as plain processes on one machine: Redis,
 * PostgreSQL, gateways behind a proxy, workers of every model, batch processors. Whatever
 * ends by itself is started again. `cluster.json` in its folder tells who is who.
 */
export class Cluster {
  #folder;
  #members = [];
  #proxy;
  #options;
  #stopped;

  /**
   * @param options {folder, host, port, env, graceMs, modelsFile, gateways,
   *   workers, processors}
   */
  constructor(options) {
    this.#options = options;
    this.#folder = options.folder;
  }

  get logs() {
    return join(this.#folder, 'logs');
  }

  get gatewayUrls() {
    return this.#of('gateway').map(({ spec }) => `http://127.0.0.1:${spec.port}`);
  }

  /** Of the batch processors. */
  get metricsUrls() {
    return this.#of('processor').map(({ spec }) => `http://127.0.0.1:${spec.port}/metrics`);
  }

  get members() {
    return this.#members;
  }

  async start() {
    this.#prepareFolder();
    const specs = await this.#plan();
    for (const spec of specs) this.#add(spec);
    await this.#startServers();
    for (const kind of ['worker', 'gateway', 'processor'])
      for (const member of this.#of(kind)) member.start();
    this.#proxy = new RoundRobinProxy(this.gatewayUrls);
    await this.#proxy.listen(this.#options.port, this.#options.host);
    this.#tell();
  }

  /**
   * Callers first: the proxy takes no more, processors give their batches back, gateways
   * drain, then workers, then what they stood on. Idempotent. @returns names of those
   * that had to be killed
   */
  stop() {
    return (this.#stopped ??= this.#stopAll());
  }

  kill() {
    for (const member of this.#members) member.kill();
  }

  async #stopAll() {
    const killed = [];
    const end = async kind => {
      const orderly = await Promise.all(
        this.#of(kind).map(async member => [member.spec.name, await member.stop()]),
      );
      killed.push(...orderly.filter(([, ok]) => !ok).map(([name]) => name));
    };
    const refused = this.#proxy?.close();
    await end('processor');
    await end('gateway');
    this.#proxy?.closeAll();
    await refused;
    for (const kind of ['worker', 'redis', 'postgres']) await end(kind);
    this.#tell();
    return killed;
  }

  async #plan() {
    const { gateways, workers, processors, port: proxy, env, graceMs } = this.#options;
    const models = await this.#readModels();
    const count = 2 + gateways + models.length * workers + processors;
    const [redis, postgres, ...rest] = await freePorts(count);
    const folder = this.#folder;
    const make = await switchyardMembers({
      folder,
      ports: { redis, postgres, proxy },
      env,
      graceMs,
    });
    const times = (number, of) =>
      Array.from({ length: number }, (_, index) => of(index + 1, rest.shift()));
    const crews = models.map(({ id }) =>
      times(workers, (number, port) => make.worker(id, number, port)),
    );
    this.#writeModels(models, crews);
    return [
      { ...redisServer({ folder, port: redis }), graceMs },
      { ...postgresServer({ folder, port: postgres }), graceMs },
      ...crews.flat(),
      ...times(gateways, make.gateway),
      ...times(processors, make.processor),
    ];
  }

  async #readModels() {
    const { parse } = await import('yaml');
    const { modelsFile } = this.#options;
    const { models } = parse(readFileSync(modelsFile, 'utf8'));
    if (models.length > 0) return models;
    throw new SetupError(
      `A cluster has workers of each model, and ${modelsFile} names none. Add some first: ` +
        'npx switchyard models add moonshine-tiny-en piper-en-joe',
    );
  }

  /**
   * The same models, whose workers are reached by address instead of being started
   * by a gateway.
   */
  #writeModels(models, crews) {
    const remote = models.map((model, index) => {
      const addresses = crews[index].map(({ port }) => `127.0.0.1:${port}`);
      return {
        ...model,
        replicas: 0,
        addresses: [...(model.addresses ?? []), ...addresses],
      };
    });
    writeFileSync(
      join(this.#folder, 'models.yaml'),
      JSON.stringify({ models: remote }, undefined, 2),
    ); // JSON is YAML
  }

  #prepareFolder() {
    this.#refuseRunning();
    for (const name of ['logs', 'data']) mkdirSync(join(this.#folder, name), { recursive: true });
    const secret = join(this.#folder, 'token-secret');
    if (!existsSync(secret))
      writeFileSync(secret, randomBytes(32).toString('hex'), { mode: 0o600 });
  }

  /**
   * Two clusters in one folder would share a database that neither expects to be shared.
   */
  #refuseRunning() {
    const state = readState(this.#folder);
    const alive = [state?.pid, ...(state?.members ?? []).map(({ pid }) => pid)].filter(pid =>
      isOurs(pid),
    );
    if (alive.length === 0) return;
    throw new SetupError(
      `A cluster runs in ${this.#folder} (processes ${alive.join(', ')}). Stop it, or: --data DIR`,
    );
  }

  #add(spec) {
    const log = join(this.logs, `${spec.name}.log`);
    this.#members.push(new Member({ ...spec, log }, () => this.#tell()));
  }

  async #startServers() {
    const servers = [...this.#of('redis'), ...this.#of('postgres')];
    for (const server of servers) server.start();
    const endMs = Date.now() + SERVERS_READY_MS;
    for (const { spec } of servers) {
      while (!(await listens(spec.port))) {
        if (Date.now() > endMs)
          throw new SetupError(
            `${spec.name} does not start; its log is ${this.logs}/${spec.name}.log`,
          );
        await pause(50);
      }
    }
  }

  #of(kind) {
    return this.#members.filter(({ spec }) => spec.kind === kind);
  }

  /** Whole or not at all: whoever reads it meanwhile sees the one before. */
  #tell() {
    const members = this.#members.map(({ spec: { name, kind, port, log }, pid, restarts }) => {
      return { name, kind, port, pid, restarts, log };
    });
    const { host, port } = this.#options;
    const text = JSON.stringify(
      { pid: process.pid, url: `http://${host}:${port}`, members },
      undefined,
      2,
    );
    const file = join(this.#folder, 'cluster.json');
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  }
}

function readState(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, 'cluster.json'), 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * A process of that number lives, and is one that a cluster starts: numbers
 * are used again.
 */
function isOurs(pid) {
  if (pid === undefined || pid === process.pid) return false;
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return ['switchyard ', inRoot('dist'), 'up.mjs', 'redis-server', 'postgres'].some(part =>
      command.includes(part),
    );
  } catch {
    return false;
  }
}
