import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { isTerminal } from '../../src/core/jobs/batch-status.js';
import { type BatchHarness } from './batch-harness.js';
import { thaw, untilFrozen } from './frozen-process.js';
import { type SettingOverrides } from './gateway-process.js';
import { type NodeProcess } from './node-process.js';
import { pause } from './waiting.js';

/**
 * Processors of which one works on a batch while another waits for its lease to run out:
 * struck at any point, replaced at once.
 */
export class BatchCrew {
  #members: NodeProcess[];
  strikes = 0;

  constructor(
    private readonly harness: BatchHarness,
    private readonly settings: SettingOverrides,
  ) {
    this.#members = [harness.start(settings), harness.start(settings)];
  }

  /** Resolves with the one that works on the batch; undefined: the batch has ended. */
  async worker(id: string): Promise<NodeProcess | undefined> {
    for (; ; await pause(5)) {
      const { pid } = await this.harness.lease(id);
      const member = this.#members.find(({ child }) => child.pid === pid);
      if (member) return member;
      const ended = this.#members.find(({ child }) => child.exitCode !== null);
      if (ended) throw new Error(`a processor ended by itself:\n${await ended.logTail()}`);
      if (isTerminal((await this.harness.job(id)).status)) return undefined;
    }
  }

  /** kill -9; the next process is on its way when this resolves. */
  async kill(member: NodeProcess): Promise<void> {
    this.strikes += 1;
    this.#replace(member);
    const gone = once(member.child, 'exit');
    member.child.kill('SIGKILL');
    await gone;
  }

  /**
   * Asleep until another has its batch, then awake again beside it, sure that the batch
   * is its own. Not in a transaction: that would hold SQLite's one write lock, without
   * which nobody can take the batch.
   */
  async sleepThroughLease(member: NodeProcess, id: string): Promise<void> {
    this.strikes += 1;
    const { epoch } = await this.harness.lease(id);
    member.child.kill('SIGSTOP');
    await untilFrozen(member);
    while (await holdsWriteLock(member.child.pid!)) {
      thaw(member);
      await pause(1);
      member.child.kill('SIGSTOP');
      await untilFrozen(member);
    }
    await this.harness.untilLease(id, lease => lease.epoch > epoch);
    thaw(member);
  }

  #replace(member: NodeProcess): void {
    this.#members = [
      ...this.#members.filter(other => other !== member),
      this.harness.start(this.settings),
    ];
  }
}

/** Of any file: a line of `/proc/locks` such as `1: POSIX  ADVISORY  WRITE 4711 …`. */
const holdsWriteLock = async (pid: number): Promise<boolean> =>
  new RegExp(` WRITE +${pid} `).test(await readFile('/proc/locks', 'utf8'));
