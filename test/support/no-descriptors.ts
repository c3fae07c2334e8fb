import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';

/** As many as any process has at its start: whatever is opened next is EMFILE. */
const NONE = 4;

/**
 * A process gets no new file descriptors for a while, as one whose limit is reached. Those that
 * it has go on.
 */
export class NoDescriptors implements AsyncDisposable {
  private constructor(private readonly shell: ChildProcessWithoutNullStreams) {}

  static async take(pid = process.pid): Promise<NoDescriptors> {
    // A shell that is there already: no new one could be started.
    const limit = `prlimit --pid ${pid} --nofile=`;
    // It may have ended meanwhile, and have no limit to give back.
    const script = `${limit}${NONE}: && echo taken && read _; ${limit}$(ulimit -Hn): ; echo back`;
    const shell = spawn('sh', ['-c', `ulimit -n ${'$'}(ulimit -Hn); ${script}`]);
    await once(shell.stdout, 'data');
    return new NoDescriptors(shell);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.shell.stdin.write('\n');
    await once(this.shell.stdout, 'data');
  }
}
