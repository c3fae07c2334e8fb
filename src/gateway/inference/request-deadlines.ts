import { type IncomingHttpHeaders } from 'node:http';
import { invalidField } from '@switchyard/engine-api/field-problems.js';
import { type FastifyReply } from 'fastify';
import { type KeyTerms } from '../../core/access/key-terms.js';
import { LONGEST_WINDOW_MS } from '../../core/jobs/completion-window.js';
import { type WantedDeadline } from '../../core/queue/latest-start.js';

/**
 * Of a stored request, which runs later than it came: when it came, Unix milliseconds.
 */
export const ARRIVED_HEADER = 'x-switchyard-inner-arrived';

const WINDOW_HEADER = 'x-switchyard-window-ms';
const HEADERS = [
  { header: 'x-deadline-ms', name: 'X-Deadline-Ms', until: 'answer' },
  { header: 'x-slo-ttft-ms', name: 'x-slo-ttft-ms', until: 'first_output' },
  // Sent by the batch processor with a line.
  { header: WINDOW_HEADER, name: WINDOW_HEADER, until: 'window' },
] as const;

/**
 * What the headers of a request ask for, at most what its key allows (D-26). @throws
 * DomainError `invalid_value`
 */
export function requestDeadlines(
  headers: IncomingHttpHeaders,
  terms: KeyTerms | undefined,
): Omit<WantedDeadline, 'leftMs'>[] {
  const { maxDeadlineMs = Infinity } = terms ?? {};
  const deadlines: ReturnType<typeof requestDeadlines> = [];
  for (const { header, name, until } of HEADERS) {
    const value = headers[header];
    const withinMs = value === undefined ? 0 : milliseconds(name, String(value));
    const mostMs = until === 'window' ? Infinity : maxDeadlineMs;
    if (withinMs > 0) deadlines.push({ until, withinMs: Math.min(withinMs, mostMs) });
  }
  return deadlines;
}

function milliseconds(name: string, value: string): number {
  if (/^\d{1,9}$/.test(value) && Number(value) <= LONGEST_WINDOW_MS) return Number(value);
  const rule = `must be whole milliseconds from 1 to ${LONGEST_WINDOW_MS}, or 0 for none`;
  throw invalidField(name, `\`${name}\` ${rule}; got ${value.slice(0, 80)}.`);
}

/** @param streamed false: the first output is the whole answer */
export function wantedDeadlines(
  deadlines: readonly Omit<WantedDeadline, 'leftMs'>[],
  reply: FastifyReply,
  streamed: boolean,
): WantedDeadline[] {
  const arrived = Number(reply.request.headers[ARRIVED_HEADER]);
  // Whoever sets that header from outside can only make its deadline shorter.
  const elapsedMs = Math.max(
    reply.elapsedTime,
    Number.isFinite(arrived) ? Date.now() - arrived : 0,
  );
  return deadlines.map(({ until, withinMs }) => ({
    until: until === 'first_output' && !streamed ? 'answer' : until,
    withinMs,
    leftMs: withinMs - elapsedMs,
  }));
}
