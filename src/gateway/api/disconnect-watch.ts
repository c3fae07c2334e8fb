import { type FastifyReply } from 'fastify';

/**
 * Calls `onGone` when the caller's connection ends before the answer was written in full.
 * @returns stops watching.
 */
export function watchDisconnect(reply: FastifyReply, onGone: () => void): () => void {
  const { raw } = reply;
  const closed = () => {
    if (!raw.writableFinished) onGone();
  };
  if (raw.destroyed || raw.socket?.destroyed) onGone();
  else raw.once('close', closed);
  return () => raw.off('close', closed);
}
