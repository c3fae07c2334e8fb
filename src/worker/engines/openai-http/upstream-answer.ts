import { type IncomingMessage } from 'node:http';
import { DomainError } from '../../../core/shared/domain-error.js';
import { StaleConnection, UpstreamSilence } from './upstream-exchange.js';
import { UpstreamFailure, unusableAnswer } from './upstream-failure.js';

/** No connection came about, so the upstream has done nothing yet. */
const NOT_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']);

const CUT_OFF = new Set(['ECONNRESET', 'EPIPE']);

/** The body of an answer; the network's errors come as UpstreamFailure, those of the consumer stay what they are. */
export async function* bodyOf(answer: IncomingMessage, modelId: string): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of answer) yield chunk as Buffer;
  } catch (error) {
    if (error instanceof UpstreamSilence) throw silence(modelId, error);
    throw unusableAnswer(modelId, 'ended the connection before its answer was complete.');
  }
}

/** At most `limit` bytes as text; the rest is left unread. */
export async function textOf(body: AsyncIterable<Buffer>, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= limit) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, limit);
}

/** A request that got no answer. Only a failure to connect is worth another attempt: after that the upstream may have worked. */
export function failureOfNetwork(modelId: string, error: Error): UpstreamFailure {
  if (error instanceof UpstreamSilence) return silence(modelId, error);
  const code = codeOf(error);
  const message = `The upstream of model '${modelId}' ${reasonOf(code)}`;
  const failure = new DomainError('engine_failed', message, { cause: error });
  // Another connection may be had at once.
  if (error instanceof StaleConnection) return new UpstreamFailure(failure, { afterMs: 0 });
  return new UpstreamFailure(failure, NOT_CONNECTED.has(code) ? { afterMs: undefined } : undefined);
}

/** It may still be at work, so a silent upstream is not asked again. */
const silence = (modelId: string, { timeoutMs }: UpstreamSilence): UpstreamFailure =>
  unusableAnswer(modelId, `sent and took no byte for ${timeoutMs} ms (options.timeoutMs).`);

function reasonOf(code: string): string {
  if (isCertificateProblem(code)) return `is not trusted (${code}): options.caFile names who signs its certificate.`;
  return CUT_OFF.has(code) ? `closed the connection without an answer (${code}).` : `cannot be reached (${code}).`;
}

/** OpenSSL's verdicts, Node's own, and those of the handshake. */
const isCertificateProblem = (code: string): boolean => /CERT|ISSUER|LEAF_SIGNATURE|ERR_TLS|ERR_SSL/.test(code);

function codeOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return code ?? error.message;
}
