import { type IncomingMessage } from 'node:http';
import { DomainError } from '../../../core/shared/domain-error.js';
import { StaleConnection, UpstreamSilence } from './upstream-exchange.js';
import { UpstreamFailure, unusableAnswer } from './upstream-failure.js';

/** No connection came about, so the upstream has done nothing yet. */
const NOT_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']);

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
  const reason = isCertificateProblem(code)
    ? `cannot be trusted (${code}): set options.caFile to the authority that signed its certificate.`
    : `cannot be reached (${code}).`;
  const failure = new DomainError('engine_failed', `The upstream of model '${modelId}' ${reason}`, { cause: error });
  const unused = NOT_CONNECTED.has(code) || error instanceof StaleConnection;
  return new UpstreamFailure(failure, unused ? { afterMs: undefined } : undefined);
}

/** It may still be at work, so a silent upstream is not asked again. */
const silence = (modelId: string, { timeoutMs }: UpstreamSilence): UpstreamFailure =>
  unusableAnswer(modelId, `sent and took no byte for ${timeoutMs} ms (options.timeoutMs).`);

/** OpenSSL's verdicts, Node's own, and those of the handshake. */
const isCertificateProblem = (code: string): boolean => /CERT|ISSUER|LEAF_SIGNATURE|ERR_TLS|ERR_SSL/.test(code);

function codeOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return code ?? error.message;
}
