import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { addApiKey } from '../../../src/platform/auth/keys-file.js';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { environmentName, type SettingPath } from '../../../src/platform/config/settings.js';
import { freePort } from '../../support/free-port.js';
import { MetricsScrape } from '../../support/metrics-scrape.js';
import { processTree } from '../../support/process-tree.js';
import { BUCKET, S3_CREDENTIAL } from '../../support/s3-server.js';
import { SmallDisk } from '../../support/small-disk.js';
import { pause } from '../../support/waiting.js';
import { HalfOpenLink } from './half-open-link.js';
import { chaosModels } from './models.js';
import { type TopologyName } from './plan.js';
import { type ProcessSpec, sendSignal, SupervisedProcess } from './supervised-process.js';

const READY_MS = 60_000;
const PROBE_MS = 5000;
const DATA_MIB = 64;
const PREVIOUS_SECRET = 'previous-token-secret';

export interface TopologyOptions {
  readonly folder: string;
  /** A process ended that nobody had told to. */
  readonly onCrash: (spec: ProcessSpec, how: string) => void;
  /** Differences from the defaults, by flag. */
  readonly settings: Readonly<Record<string, string>>;
  /** All that will strike: a small disk, a bucket, clocks and links are there for them only. */
  readonly faults: ReadonlySet<string>;
  /** Folder of a built release that runs until a rolling restart; absent: this one. */
  readonly from?: string | undefined;
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
  readonly #links = new Map<VictimKind, HalfOpenLink[]>();
  #upstreamPort = 0;
  #bucketPort = 0;

  constructor(protected readonly options: TopologyOptions) {
    const { folder, faults } = options;
    mkdirSync(this.logs, { recursive: true });
    if (faults.has('disk-full')) this.disk = SmallDisk.mount(DATA_MIB);
    const add = (tenant: string, scope: 'inference' | 'admin'): string =>
      addApiKey(join(folder, 'keys.yaml'), { tenant, scopes: [scope] }).key;
    this.keys = {
      acme: add('acme', 'inference'),
      globex: add('globex', 'inference'),
      initech: add('initech', 'inference'),
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
    return new MetricsScrape(await (await this.#asOperator(`${gatewayUrl}/metrics`)).text());
  }

  /** What a GET of the operator is answered. */
  async operations<T>(path: string): Promise<T> {
    return (await (await this.#asOperator(this.url + path)).json()) as T;
  }

  #asOperator(url: string): Promise<Response> {
    const headers = { authorization: `Bearer ${this.keys.operations!}` };
    return fetch(url, { headers, signal: AbortSignal.timeout(PROBE_MS) });
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
    for (const link of [...this.#links.values()].flat()) await link[Symbol.asyncDispose]();
    this.disk?.[Symbol.dispose]();
  }

  protected add(spec: ProcessSpec): SupervisedProcess {
    const { onCrash, from } = this.options;
    const own = { ...spec, env: { ...spec.env, ...this.#clockOf(spec) } };
    const before = from ? { args: spec.args.map(arg => inRelease(from, arg)), cwd: from } : spec;
    const added = new SupervisedProcess(own, this.logs, onCrash, before);
    this.processes.push(added);
    return added;
  }

  /** What is not Switchyard and that it needs everywhere. */
  protected async addNeighbours(): Promise<void> {
    this.#upstreamPort = await this.linked('upstream', await this.#addScript('upstream'));
    if ([...this.options.faults].some(name => name.includes('s3')))
      this.#bucketPort = await this.linked('s3', await this.#addScript('s3'));
  }

  /** Of the server behind `openai-http`. */
  get upstreamUrl(): string {
    return `http://127.0.0.1:${this.#upstreamPort}/v1`;
  }

  protected get models(): readonly ModelSpec[] {
    return chaosModels(this.upstreamUrl);
  }

  /** @returns the port by which others reach it: one that can be cut, when that will be */
  protected async linked(kind: VictimKind, port: number): Promise<number> {
    const { faults } = this.options;
    if (!faults.has(`half-open-${kind}`) && !faults.has(`link-${kind}`)) return port;
    const [link, near] = [new HalfOpenLink(port), await freePort()];
    await link.listen(near);
    this.#links.set(kind, [...this.linksTo(kind), link]);
    return near;
  }

  linksTo(kind: VictimKind): readonly HalfOpenLink[] {
    return this.#links.get(kind) ?? [];
  }

  /** Sets the clock of one process, ahead or back. It is noticed within 100 ms. */
  setClock({ spec }: SupervisedProcess, aheadMs: number): void {
    writeFileSync(this.#clockFile(spec.name), String(aheadMs));
  }

  #clockFile(name: string): string {
    return join(this.options.folder, `clock-${name}`);
  }

  #clockOf({ kind, name }: ProcessSpec): NodeJS.ProcessEnv {
    const isShifted = [...this.options.faults].some(fault => fault.startsWith('clock-'));
    if (!isShifted || !['gateway', 'worker', 'processor'].includes(kind)) return {};
    const hook = pathToFileURL(resolve('test/support/clock-hook.mjs')).href;
    return { NODE_OPTIONS: `--import ${hook}`, TEST_CLOCK_FILE: this.#clockFile(name) };
  }

  /** @returns the port that it will listen on */
  async #addScript(kind: 'upstream' | 's3'): Promise<number> {
    const port = await freePort();
    const folder = join(this.options.folder, kind);
    mkdirSync(folder, { recursive: true });
    const loader = resolve('test/support/typescript-loader.mjs');
    const script = resolve(`test/chaos/seeded/${kind}-process.ts`);
    const args = ['--import', loader, script, String(port), folder];
    const place = { name: kind, kind, port, tied: true } as const;
    this.add({ ...place, file: process.execPath, args, env: cleanEnvironment() });
    return port;
  }

  #bucketSettings(): Partial<Record<SettingPath, string>> {
    if (this.#bucketPort === 0) return {};
    return {
      'blobs.driver': 's3',
      'blobs.s3_bucket': BUCKET,
      'blobs.s3_endpoint': `http://127.0.0.1:${this.#bucketPort}`,
      'blobs.s3_path_style': 'true',
    };
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
    const all = { ...own, ...this.#bucketSettings(), ...settings };
    const named = Object.entries(all).map(([path, value]) => [environmentName(path), value]);
    return {
      ...cleanEnvironment(),
      ...{ AWS_ACCESS_KEY_ID: S3_CREDENTIAL, AWS_SECRET_ACCESS_KEY: S3_CREDENTIAL },
      ...(Object.fromEntries(named) as Record<string, string>),
    };
  }

  protected writeModels(models: readonly ModelSpec[]): void {
    writeFileSync(
      join(this.options.folder, 'models.yaml'),
      JSON.stringify({ models }, undefined, 2),
    ); // JSON is YAML
  }

  /** A new one; the one of before is still accepted. */
  renewTokenSecret(): void {
    const { folder } = this.options;
    const [current, previous] = ['token-secret', PREVIOUS_SECRET].map(name => join(folder, name));
    const secret = (): string => randomBytes(32).toString('hex');
    const old = existsSync(current!) ? readFileSync(current!, 'utf8') : secret();
    writeFileSync(previous!, old, { mode: 0o600 });
    writeFileSync(current!, secret(), { mode: 0o600 });
  }

  protected get previousSecret(): string {
    return join(this.options.folder, PREVIOUS_SECRET);
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

/** A program of this release in another one. */
const inRelease = (folder: string, arg: string): string =>
  arg.startsWith(resolve('dist')) ? join(folder, relative(resolve('.'), arg)) : arg;

/** Settings of the person's shell must not decide what an episode shows. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('SWITCHYARD_'));
  return {
    ...Object.fromEntries(kept),
    NODE_OPTIONS: '',
    NODE_COMPILE_CACHE: resolve('node_modules/.cache/node-compile'),
  };
}
