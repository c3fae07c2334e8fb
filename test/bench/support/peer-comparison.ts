import { basename } from 'node:path';
import { type GatewayProcess } from '../../support/gateway-process.js';
import { mappedFile, processTree } from '../../support/process-tree.js';
import { atLeast, type BenchGoal } from './bench-result.js';
import { Contender } from './contender.js';
import { LlamaServer, type ServerShape } from './llama-server.js';
import { quartiles } from './percentiles.js';
import { answerOf, type Answered, newPrompt, type TextCaller } from './text-load.js';

export interface Kernels {
  readonly file: string;
  /**
   * `local`: compiled on this machine, by `switchyard engines install
   * llama-cpp --native`.
   */
  readonly build: 'prebuilt' | 'local';
}

const KERNELS = /\/libggml-cpu[^/]*\.so/;
const COMPARED = 8;

/** The library of kernels that the engine's process runs on. */
export function kernelsOf({ process: { child } }: GatewayProcess): Kernels | undefined {
  const engine = processTree(child.pid).find(({ command }) =>
    command.startsWith('switchyard llama-cpp '),
  );
  const file = engine && mappedFile(engine.pid, KERNELS);
  return file === undefined
    ? undefined
    : { file, build: file.includes('/localBuilds/') ? 'local' : 'prebuilt' };
}

export const told = ({ file, build }: Kernels): object => ({
  file: basename(file),
  build,
});

/**
 * llama.cpp's own server: once with the CPU kernels that this engine runs on, so that
 * only the servers differ, and once as it was built for this machine. Where the engine's
 * kernels were built here too, these would be the same twice.
 */
export async function startPeers(
  binary: string,
  shape: ServerShape,
  {
    own,
    kernels,
    stack,
  }: { own: Contender; kernels: Kernels | undefined; stack: AsyncDisposableStack },
): Promise<readonly Contender[]> {
  const start = async (name: string, file?: string): Promise<Contender> => {
    const server = stack.use(await LlamaServer.start(binary, shape, file));
    return new Contender(name, { ...own.server, url: server.url }, server.pid);
  };
  return [
    ...(kernels ? [await start('sameKernels', kernels.file)] : []),
    ...(kernels?.build === 'local' ? [] : [await start('asBuilt')]),
  ];
}

/**
 * The same prompts to both, of the kind that the load is of, after others have
 * filled both memories.
 * @throws Error when they do not do the same work; texts may differ where two tokens are
 *   nearly as likely
 */
export async function compareAnswers(
  us: Contender,
  peer: Contender,
  caller: TextCaller,
): Promise<object> {
  const sum = { sameTexts: 0, promptTokens: 0, cachedTokens: 0, peerCachedTokens: 0 };
  for (let at = 0; at < COMPARED; at++) {
    const prompt = newPrompt(caller.promptLength);
    const ask = ({ server }: Contender): Promise<Answered> =>
      answerOf(server, prompt, caller.maxTokens);
    const [mine, theirs] = [await ask(us), await ask(peer)];
    if (mine.tokens !== theirs.tokens || mine.promptTokens !== theirs.promptTokens)
      throw new Error(`The servers count differently: ${JSON.stringify({ mine, theirs })}`);
    if (mine.text === theirs.text) sum.sameTexts += 1;
    sum.promptTokens += mine.promptTokens;
    sum.cachedTokens += mine.cachedTokens;
    sum.peerCachedTokens += theirs.cachedTokens;
  }
  return { compared: COMPARED, ...sum };
}

/** Round by round, because a slow second hits both. */
export function ratioTo(
  peer: Contender,
  us: Contender,
  callers: number,
): ReturnType<typeof quartiles> {
  const theirs = peer.rates(callers);
  return quartiles(us.rates(callers).map((own, round) => own / theirs[round]!));
}

export function peerGoals(
  us: Contender,
  peers: readonly Contender[],
  callers: readonly number[],
): BenchGoal[] {
  return peers.flatMap(peer => {
    const kind = peer.name === 'asBuilt' ? 'as built for this machine' : 'with the same kernels';
    return callers.map(count =>
      atLeast(
        `tokens/s / llama.cpp server ${kind}, ${count} callers`,
        ratioTo(peer, us, count).p50,
        1,
      ),
    );
  });
}
