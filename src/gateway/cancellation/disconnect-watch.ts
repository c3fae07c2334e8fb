import { type FastifyReply, type FastifyRequest } from 'fastify';

const callers = new WeakMap<FastifyRequest, AbortSignal>();

/**
 * The request is run inside for a caller whose connection is another one: it leaves when
 * the signal is aborted.
 */
export function followCaller(request: FastifyRequest, signal: AbortSignal): void {
  callers.set(request, signal);
}

/**
 * Calls `onGone` when the caller's connection ends before the answer was written in full.
 * @returns stops watching.
 */
export function watchDisconnect(reply: FastifyReply, onGone: () => void): () => void {
  const { raw, request } = reply;
  const caller = callers.get(request);
  const closed = () => {
    if (!raw.writableFinished) onGone();
  };
  if (raw.destroyed || raw.socket?.destroyed || caller?.aborted) onGone();
  else raw.once('close', closed);
  caller?.addEventListener('abort', closed, { once: true });
  return () => {
    raw.off('close', closed);
    caller?.removeEventListener('abort', closed);
  };
}
