import { type Socket } from 'node:net';

const LOOK_MS = 1000;
/** Looks in a row without a byte, after which something is said. */
const ASK_AFTER = 2;

/** One connection, whatever is spoken on it. */
interface Link {
  /** The socket to watch; undefined: none is open, or silence is normal now. */
  readonly socket: () => Socket | undefined;
  /** Says something that is answered; absent: an answer is awaited all the time. */
  readonly ask?: () => Promise<unknown> | undefined;
  /** Called when the link is given up and closed. */
  readonly lost?: () => void;
  /** Seconds without a byte that are normal, more than 2. */
  readonly silentS: number;
}

/**
 * Ends a connection that stays open and says nothing: a link that is frozen, or of which the
 * other end is gone, is found by what comes, long before TCP finds it. While nothing is to be
 * said, something is asked. Counted in looks of this process, so that a pause of its own is not
 * taken for one of the link.
 * @returns ends the watch
 */
export function watchLink({ socket, ask, lost, silentS }: Link): () => void {
  let heard = 0;
  let silent = 0;
  const look = (): void => {
    const open = socket();
    silent = open?.bytesRead === heard ? silent + 1 : 0;
    heard = open?.bytesRead ?? 0;
    if (silent === ASK_AFTER) ask?.()?.catch(() => undefined);
    if (silent < silentS) return;
    silent = 0;
    open?.destroy();
    lost?.();
  };
  const looking = setInterval(look, LOOK_MS).unref();
  return () => clearInterval(looking);
}
