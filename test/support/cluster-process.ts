import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { environmentName } from '../../src/platform/config/settings.js';
import { freePort } from './free-port.js';
import { type SettingOverrides } from './gateway-process.js';
import { leftover } from './leftovers.js';
import { MetricsScrape } from './metrics-scrape.js';
import { temporaryFolder } from './temporary-folder.js';
import { pause, WAIT_LIMIT_MS } from './waiting.js';

export interface ClusterMember {
  readonly name: string;
  readonly kind: 'redis' | 'postgres' | 'gateway' | 'worker' | 'processor';
  readonly port: number;
  /** Absent while it is down. */
  readonly pid?: number;
  readonly restarts: number;
}

/** `npm run up -- --topology cluster` as a person meets it, in a folder of its own. */
export class ClusterProcess implements AsyncDisposable {
  output = '';
  #disposed: Promise<void> | undefined;

  private constructor(
    readonly folder: string,
    readonly url: string,
    private readonly child: ChildProcess,
  ) {
    const keep = (chunk: Buffer): string => (this.output += chunk.toString());
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    leftover(() => this[Symbol.asyncDispose]());
  }

  /** Resolves when every model is ready at every gateway. */
  static async start(
    models: readonly ModelSpec[],
    settings: SettingOverrides = {},
    args: readonly string[] = [],
  ): Promise<ClusterProcess> {
    const folder = temporaryFolder();
    // PostgreSQL's own account passes through it; else its data would go elsewhere
    // and stay there.
    chmodSync(folder, 0o755);
    const modelsFile = join(folder, 'its-models.yaml');
    writeFileSync(modelsFile, JSON.stringify({ models })); // JSON is YAML
    const port = await freePort();
    // Else the models of the clone's own data folder are added.
    const own = { 'workers.models_file': modelsFile, 'data.dir': join(folder, 'data') };
    const overrides = { ...own, ...settings };
    const env = Object.entries(overrides).map(([path, value]) => [
      environmentName(path),
      String(value),
    ]);
    const up = [
      'scripts/up.mjs',
      '--topology',
      'cluster',
      '--no-install',
      '--port',
      String(port),
      '--data',
      folder,
    ];
    const child = spawn(process.execPath, [...up, ...args], {
      env: { ...process.env, NODE_OPTIONS: '', ...Object.fromEntries(env) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const cluster = new ClusterProcess(folder, `http://127.0.0.1:${port}`, child);
    await cluster.until('the cluster is ready', () =>
      cluster.output.includes('Switchyard is ready'),
    );
    return cluster;
  }

  get members(): readonly ClusterMember[] {
    const { members } = JSON.parse(readFileSync(join(this.folder, 'cluster.json'), 'utf8')) as {
      members: ClusterMember[];
    };
    return members;
  }

  of(kind: ClusterMember['kind']): readonly ClusterMember[] {
    return this.members.filter(member => member.kind === kind);
  }

  /**
   * kill -9, by name. @returns how long until the one that replaces it runs; not whether
   * it is ready, milliseconds
   */
  async kill(name: string): Promise<number> {
    const find = (): ClusterMember => this.members.find(member => member.name === name)!;
    const { pid, restarts } = find();
    if (pid === undefined) throw new Error(`${name} is down already`);
    const struckAtMs = performance.now();
    process.kill(pid, 'SIGKILL');
    await this.until(
      `${name} runs again`,
      () => find().restarts > restarts && find().pid !== undefined,
    );
    return performance.now() - struckAtMs;
  }

  async scrape({ port }: ClusterMember): Promise<MetricsScrape> {
    return new MetricsScrape(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
  }

  /** Every gateway has every model, and nothing is down. */
  async whole(): Promise<boolean> {
    if (this.members.some(({ pid }) => pid === undefined)) return false;
    const healths = await Promise.all(
      this.of('gateway').map(async ({ port }) => {
        const answer = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined);
        return ((await answer?.json()) as { status: string } | undefined)?.status;
      }),
    );
    return healths.every(status => status === 'ok');
  }

  /** A gate on state, not on time. */
  async until(
    what: string,
    holds: () => boolean | Promise<boolean>,
    limitMs = WAIT_LIMIT_MS,
  ): Promise<void> {
    for (const endMs = performance.now() + limitMs; performance.now() < endMs; await pause(25)) {
      if (await holds()) return;
      if (this.child.exitCode !== null)
        throw new Error(`the cluster ended before: ${what}\n${this.output}`);
    }
    throw new Error(`waited ${limitMs / 1000} s for: ${what}\n${this.output}\n${this.#logTails()}`);
  }

  /** kill -9 of the command itself, whose members must notice. */
  async killLauncher(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
  }

  /** Ctrl-C. @returns its exit code */
  async stop(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const exited = once(this.child, 'close');
      this.child.kill('SIGINT');
      await exited;
    }
    return this.child.exitCode;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#disposed ??= this.stop().then(() => undefined));
  }

  #logTails(): string {
    return this.members
      .map(
        ({ name }) =>
          `--- ${name}\n${readFileSync(join(this.folder, 'logs', `${name}.log`), 'utf8').slice(-1500)}`,
      )
      .join('\n');
  }
}
