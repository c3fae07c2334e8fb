import { HttpConnection, replyHeader, type HttpReply } from '../../support/http-connection.js';
import { pause } from '../../support/waiting.js';
import { type LoadJob, type LoadReport } from './load-job.js';
import { distribution } from './percentiles.js';
import { exponential, seededRandom } from './seeded-random.js';

/**
 * Main of the generator process: one job at a time from the parent, one report back.
 * Started by LoadProcess.
 */
process.on('message', (job: LoadJob) => {
  void new LoadRun({ ...job, request: Buffer.from(job.request) })
    .run()
    .then(report => process.send?.(report));
});
process.on('disconnect', () => process.exit(0));

class LoadRun {
  readonly #job: LoadJob;
  readonly #startMs = performance.now();
  readonly #measureFromMs: number;
  #measureToMs: number;
  readonly #latencies: number[] = [];
  readonly #firsts: number[] = [];
  readonly #lateness: number[] = [];
  readonly #headers = new Map<string, number[]>();
  readonly #statuses: Record<string, number> = {};
  readonly #idle: HttpConnection[] = [];
  readonly #all: HttpConnection[] = [];
  #completed = 0;
  #answers = 0;

  constructor(job: LoadJob) {
    this.#job = job;
    this.#measureFromMs = this.#startMs + job.warmupMs;
    this.#measureToMs = this.#measureFromMs + job.durationMs;
    for (const name of job.numericHeaders ?? []) this.#headers.set(name, []);
  }

  async run(): Promise<LoadReport> {
    const cpu = this.#measureCpu();
    await (this.#job.arrivals.kind === 'closed'
      ? this.#closedLoop(this.#job.arrivals.callers)
      : this.#openLoop(this.#job.arrivals.ratePerS));
    for (const connection of this.#all) connection.destroy();
    return {
      requestsPerS: (this.#completed / (this.#measureToMs - this.#measureFromMs)) * 1000,
      answers: this.#answers,
      latencyMs: distribution(this.#latencies),
      firstMs: distribution(this.#firsts),
      latenessMs: distribution(this.#lateness),
      statuses: this.#statuses,
      headers: Object.fromEntries(
        [...this.#headers].map(([name, series]) => [name, distribution(series)]),
      ),
      generatorCpu: await cpu,
    };
  }

  async #closedLoop(callers: number): Promise<void> {
    await Promise.all(Array.from({ length: callers }, () => this.#caller()));
  }

  async #caller(): Promise<void> {
    const connection = this.#connection();
    let sentMs = performance.now();
    let exchange = connection.exchange(this.#job.request);
    for (;;) {
      const reply = await exchange;
      const answeredMs = performance.now();
      if (reply.status === 0) await pause(10); // a server that is gone must not be hammered
      const goesOn = this.#goesOn(answeredMs);
      this.#answers++;
      const nextMs = performance.now();
      // The next request leaves before this one is recorded: callers do not
      // stop to count.
      if (goesOn) exchange = connection.exchange(this.#job.request);
      if (this.#measured(answeredMs)) this.#record(reply, sentMs, answeredMs);
      if (!goesOn) return;
      sentMs = nextMs;
    }
  }

  /** A turn with too few answers lasts until this one at least. */
  #goesOn(answeredMs: number): boolean {
    if (answeredMs < this.#measureToMs) return true;
    if (this.#answers >= (this.#job.minAnswers ?? 0)) return false;
    this.#measureToMs = answeredMs;
    return true;
  }

  async #openLoop(ratePerS: number): Promise<void> {
    const random = seededRandom(this.#job.seed ?? 1);
    const pending: Promise<void>[] = [];
    let dueMs = this.#startMs;
    while (dueMs < this.#measureToMs) {
      await sleepUntil(dueMs);
      for (
        const nowMs = performance.now();
        dueMs <= nowMs;
        dueMs += exponential(random, 1000 / ratePerS)
      ) {
        pending.push(this.#sendDue(dueMs));
      }
    }
    await Promise.all(pending);
  }

  async #sendDue(dueMs: number): Promise<void> {
    const connection = this.#idle.pop() ?? this.#connection();
    const sentMs = performance.now();
    const { patienceMs } = this.#job;
    const leave = patienceMs && setTimeout(() => connection.destroy(), dueMs + patienceMs - sentMs);
    const reply = await connection.exchange(this.#job.request);
    clearTimeout(leave);
    const answeredMs = performance.now();
    this.#idle.push(connection);
    this.#answers++;
    if (!this.#measured(dueMs)) return;
    this.#lateness.push(sentMs - dueMs);
    this.#record(reply, dueMs, answeredMs);
  }

  #record(reply: HttpReply, fromMs: number, answeredMs: number): void {
    this.#statuses[reply.status] = (this.#statuses[reply.status] ?? 0) + 1;
    if (reply.status < 200 || reply.status > 299) return;
    this.#completed++;
    this.#latencies.push(answeredMs - fromMs);
    this.#firsts.push(reply.firstMs - fromMs);
    for (const [name, series] of this.#headers) {
      const value = replyHeader(reply, name);
      if (value !== undefined) series.push(Number(value));
    }
  }

  #measured(atMs: number): boolean {
    return atMs >= this.#measureFromMs && atMs <= this.#measureToMs;
  }

  #connection(): HttpConnection {
    const connection = new HttpConnection(this.#job.port);
    this.#all.push(connection);
    return connection;
  }

  async #measureCpu(): Promise<number> {
    await sleepUntil(this.#measureFromMs);
    const before = process.cpuUsage();
    await sleepUntil(this.#measureToMs);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000 / this.#job.durationMs;
  }
}

async function sleepUntil(atMs: number): Promise<void> {
  const remainingMs = atMs - performance.now();
  if (remainingMs > 0) await pause(remainingMs);
}
