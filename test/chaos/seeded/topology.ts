import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { addApiKey } from '../../../src/platform/auth/keys-file.js';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { environmentName, type SettingPath } from '../../../src/platform/config/settings.js';
import { freePort } from '../../support/free-port.js';
import { MetricsScrape } from '../../support/metrics-scrape.js';
import { processTree } from '../../support/process-tree.js';
import { SmallDisk } from '../../support/small-disk.js';
import { pause } from '../../support/waiting.js';
import { chaosModels } from './models.js';
import { type TopologyName } from './plan.js';
import { type ProcessSpec, sendSignal, SupervisedProcess } from './supervised-process.js';

const READY_MS = 60_000;
const PROBE_MS = 5000;
const DATA_MIB = 64;

export interface TopologyOptions {
  readonly folder: string;
  /** A process ended that nobody had told to. */
  readonly onCrash: (how: string) => void;
  /** Differences from the defaults, by flag. */
  readonly settings: Readonly<Record<string, string>>;
  /** The data folder is on a disk that can be filled. */
  readonly hasSmallDisk: boolean;
}

/** Something that a fault can strike: a process of the topology, or a child of one. */
export interface Victim {
  readonly name: string;
  readonly pid: number | undefined;
  /** Undefined: a child of a gateway, which starts it again by itself. */
  readonly process?: SupervisedProcess;
  signal(signal: NodeJS.Signals): void;
}

export type VictimKind = ProcessSpec['kind'];

/**
 * A running Switchyard of several processes, all of them the built product,
 * with default settings.
 */
export abstract class Topology implements AsyncDisposable {
  readonly processes: SupervisedProcess[] = [];
  readonly disk: SmallDisk | undefined;
  readonly keys: Readonly<Record<string, string>>;
  abstract readonly name: TopologyName;
  /** Where callers send their requests. */
  abstract readonly url: string;
  protected upstreamPort = 0;

  constructor(protected readonly options: TopologyOptions) {
    const { folder, hasSmallDisk } = options;
    mkdirSync(this.logs, { recursive: true });
    if (hasSmallDisk) this.disk = SmallDisk.mount(DATA_MIB);
    const add = (tenant: string, scope: 'inference' | 'admin'): string =>
      addApiKey(join(folder, 'keys.yaml'), { tenant, scopes: [scope] }).key;
    this.keys = {
      acme: add('acme', 'inference'),
      globex: add('globex', 'inference'),
      operations: add('operations', 'admin'),
    };
  }

  /** Resolves when every gateway has every model. */
  abstract start(): Promise<void>;

  get logs(): string {
    return join(this.options.folder, 'logs');
  }

  of(kind: VictimKind): SupervisedProcess[] {
    return this.processes.filter(({ spec }) => spec.kind === kind);
  }

  /** Those that a fault may choose from, in a fixed order. */
  victims(kind: VictimKind): readonly Victim[] {
    const own = this.of(kind).map(process => ({
      ...{ name: process.spec.name, pid: process.pid, process },
      signal: (signal: NodeJS.Signals) => process.signal(signal),
    }));
    return [...own, ...this.#children(kind)];
  }

  get gatewayUrls(): readonly string[] {
    return this.of('gateway').map(({ spec }) => `http://127.0.0.1:${spec.port}`);
  }

  async untilReady(limitMs = READY_MS): Promise<boolean> {
    for (const endMs = performance.now() + limitMs; performance.now() < endMs; await pause(100)) {
      const statuses = await Promise.all(this.gatewayUrls.map(url => this.#health(url)));
      if (statuses.every(status => status === 'ok')) return true;
    }
    return false;
  }

  async scrape(gatewayUrl: string): Promise<MetricsScrape> {
    const headers = { authorization: `Bearer ${this.keys.operations!}` };
    const answer = await fetch(`${gatewayUrl}/metrics`, {
      headers,
      signal: AbortSignal.timeout(PROBE_MS),
    });
    return new MetricsScrape(await answer.text());
  }

  /** At once: all processes, and its disks. */
  kill(): void {
    for (const process of this.processes) process.signal('SIGKILL');
    this.disk?.[Symbol.dispose]();
  }

  /** Kills what is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.processes) process.signal('SIGCONT');
    await Promise.all(this.processes.map(process => process.end('SIGKILL')));
    this.disk?.[Symbol.dispose]();
  }

  protected add(spec: ProcessSpec): SupervisedProcess {
    const added = new SupervisedProcess(spec, this.logs, this.options.onCrash);
    this.processes.push(added);
    return added;
  }

  protected async addUpstream(): Promise<void> {
    this.upstreamPort = await freePort();
    const loader = resolve('test/support/typescript-loader.mjs');
    const script = resolve('test/chaos/seeded/upstream-process.ts');
    const args = ['--import', loader, script, String(this.upstreamPort)];
    const place = {
      name: 'upstream',
      kind: 'upstream',
      port: this.upstreamPort,
      tied: true,
    } as const;
    this.add({ ...place, file: process.execPath, args, env: cleanEnvironment() });
  }

  protected get models(): readonly ModelSpec[] {
    return chaosModels(`http://127.0.0.1:${this.upstreamPort}/v1`);
  }

  protected get dataFolder(): string {
    return this.disk?.path ?? join(this.options.folder, 'data');
  }

  protected environment(): NodeJS.ProcessEnv {
    const { folder, settings } = this.options;
    const own: Partial<Record<SettingPath, string>> = {
      'data.dir': this.dataFolder,
      'auth.keys_file': join(folder, 'keys.yaml'),
      'workers.models_file': join(folder, 'models.yaml'),
      'logging.pretty': 'false',
    };
    const named = Object.entries({ ...own, ...settings }).map(([path, value]) => [
      environmentName(path),
      value,
    ]);
    return {
      ...cleanEnvironment(),
      ...(Object.fromEntries(named) as Record<string, string>),
    };
  }

  protected writeModels(models: readonly ModelSpec[]): void {
    writeFileSync(
      join(this.options.folder, 'models.yaml'),
      JSON.stringify({ models }, undefined, 2),
    ); // JSON is YAML
  }

  protected writeTokenSecret(): void {
    writeFileSync(join(this.options.folder, 'token-secret'), randomBytes(32).toString('hex'), {
      mode: 0o600,
    });
  }

  /** Workers and processors that gateways started themselves. */
  #children(kind: VictimKind): Victim[] {
    const script = { worker: 'switchyard worker', processor: 'switchyard batch' }[kind as string];
    if (!script) return [];
    const trees = this.of('gateway').flatMap(({ pid }) =>
      processTree(pid).filter(child => child.pid !== pid),
    );
    return trees
      .filter(({ command }) => command.includes(script))
      .map(({ pid }) => ({
        name: `${kind} ${pid}`,
        pid,
        signal: signal => sendSignal(pid, signal),
      }));
  }

  async #health(url: string): Promise<string | undefined> {
    try {
      const signal = AbortSignal.timeout(PROBE_MS);
      return ((await (await fetch(`${url}/health`, { signal })).json()) as { status: string })
        .status;
    } catch {
      return undefined;
    }
  }
}

/** Settings of the person's shell must not decide what an episode shows. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('SWITCHYARD_'));
  return {
    ...Object.fromEntries(kept),
    NODE_OPTIONS: '',
    NODE_COMPILE_CACHE: resolve('node_modules/.cache/node-compile'),
  };
}
