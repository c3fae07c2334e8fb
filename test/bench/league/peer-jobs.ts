import { type ChildProcess } from 'node:child_process';
import { resolve } from 'node:path';
import { Queue } from 'bullmq';
import { RedisServer } from '../../support/redis-server.js';
import { pause } from '../../support/waiting.js';
import { siblingModule } from '../support/sibling-module.js';
import {
  baseUrl,
  ended,
  IN_FLIGHT,
  isAlive,
  type JobContestant,
  type JobPlace,
  type JobRunner,
  killed,
  POLL_MS,
  run,
} from './job-runner.js';
import { python, versionOf } from './peer-packages.js';

/** A script starts over: it has nothing to go on from. */
class ScriptJob implements JobRunner {
  #child: ChildProcess | undefined;

  constructor(private readonly start: () => ChildProcess) {}

  get pids() {
    return [this.#child?.pid];
  }

  begin(): Promise<void> {
    this.#child = this.start();
    return Promise.resolve();
  }

  finish(): Promise<void> {
    return ended(this.#child!);
  }

  async kill(): Promise<void> {
    await killed(this.#child!);
  }

  restart(): Promise<void> {
    return this.begin();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child) await killed(this.#child);
  }
}

/** A producer, which ends, and a worker. Redis keeps the jobs. */
class BullmqJob implements JobRunner {
  #worker: ChildProcess | undefined;
  #producer: ChildProcess | undefined;

  constructor(
    private readonly place: JobPlace,
    private readonly redis: RedisServer,
  ) {}

  get pids() {
    return [this.redis.pid, this.#worker?.pid, this.#producer?.pid];
  }

  async begin(): Promise<void> {
    await this.restart();
    this.#producer = this.#run('produce', this.place.input);
  }

  async finish(): Promise<void> {
    await ended(this.#producer!);
    const queue = new Queue('lines', {
      connection: { host: '127.0.0.1', port: this.redis.port },
    });
    while ((await queue.getJobCountByTypes('wait', 'active', 'delayed')) > 0) {
      if (!isAlive(this.#worker!)) throw new Error('the worker ended');
      await pause(POLL_MS);
    }
    await queue.close();
    this.#worker!.kill('SIGTERM');
    await ended(this.#worker!);
  }

  kill(): Promise<void> {
    return killed(this.#worker!);
  }

  restart(): Promise<void> {
    this.#worker = this.#run('work', this.place.output);
    return Promise.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of [this.#producer, this.#worker]) if (child) await killed(child);
    await this.redis[Symbol.asyncDispose]();
  }

  #run(role: 'produce' | 'work', file: string): ChildProcess {
    const script = siblingModule(import.meta.url, './peers/bullmq');
    const args = [role, String(this.redis.port), file, baseUrl(this.place), String(IN_FLIGHT)];
    return run(process.execPath, [script, ...args]);
  }
}

/** By the README of the package. */
async function openaiScript(): Promise<JobContestant> {
  const { program, version } = await python('openai', 'openai[aiohttp]');
  const script = resolve('test/bench/league/peers/openai_sdk.py');
  const start = (place: JobPlace) => {
    const args = [script, baseUrl(place), place.input, place.output, String(IN_FLIGHT)];
    return Promise.resolve(new ScriptJob(() => run(program, args)));
  };
  return { name: 'openai script', version, start };
}

/** The product's own dependency. */
async function bullmq(): Promise<JobContestant> {
  return {
    name: 'bullmq',
    version: await versionOf('node_modules/bullmq'),
    start: async place => new BullmqJob(place, await RedisServer.start()),
  };
}

export const JOB_PEERS = { openai: openaiScript, bullmq } as const;
