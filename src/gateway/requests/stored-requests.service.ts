import { Injectable } from '@nestjs/common';
import { parseBoundedJson, STORED_BOUNDS } from '@switchyard/engine-api/bounded-json.js';
import { isLive } from '../../core/dispatch/request-view.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type StoredEnd, type StoredRequest } from '../../core/request/stored-request.js';
import { permits, type Principal } from '../../platform/auth/principal.js';
import { unixSeconds } from '../http/openapi/answer.js';
import { StoredAnswers, storedText } from '../stored-work/stored-answers.js';
import { StoredWork } from '../stored-work/stored-work.js';
import { type RequestDto } from './dto/request.dto.js';

/** Answers up to this size are shown inside the view. */
const INLINE_BYTES = 65_536;

/** Lookup of stored requests, whichever gateway runs them. */
@Injectable()
export class StoredRequestsService {
  constructor(
    private readonly works: StoredWork,
    private readonly answers: StoredAnswers,
  ) {}

  /** Its own; for an admin without one, the latest of that id of any tenant. */
  async find(principal: Principal, requestId: string): Promise<StoredRequest | undefined> {
    const own = await this.works.named(requestId, principal.tenant);
    const found =
      own || !permits(principal, 'admin') ? own : await this.works.named(requestId, undefined);
    return found?.status === 'receiving' ? undefined : found;
  }

  /** @param here what this gateway knows of it; undefined: another one has it, or had it */
  async view(stored: StoredRequest, here: RequestDto | undefined): Promise<RequestDto> {
    const { status, requestId, path, createdAtMs, endedAtMs, expiresAtMs, answer } = stored;
    const known =
      here && isLive(here) && !answer
        ? here
        : { ...(here ?? elsewhere(stored)), ...outcomeOf(stored, here) };
    const fields: RequestDto = {
      ...known,
      status: known.state,
      endpoint: path,
      created_at: unixSeconds(createdAtMs),
      completed_at: endedAtMs && unixSeconds(endedAtMs),
      expires_at: unixSeconds(expiresAtMs),
      status_code: answer?.status,
      content_url: answer && `/v1/requests/${requestId}/content`,
    };
    const json = await this.#json(stored);
    if (json === undefined) return fields;
    return status === 'completed'
      ? { ...fields, result: json }
      : { ...fields, error: (json as { error?: unknown }).error };
  }

  /** @throws DomainError when there is none, yet or any more */
  async content(principal: Principal, id: string) {
    const stored = await this.find(principal, id);
    if (stored && !stored.answer)
      throw new DomainError('request_not_finished', `\`${id}\` has no answer yet.`, {
        param: 'id',
        retryAfterMs: 1000,
      });
    const answer = stored && (await this.answers.openAnswer(stored));
    if (answer) return answer;
    const what = stored
      ? `The answer of \`${id}\` is gone.`
      : `There is no stored request \`${id}\`.`;
    throw new DomainError('request_not_found', what, { param: 'id' });
  }

  async #json(stored: StoredRequest): Promise<unknown> {
    if (!stored.answer?.headers['content-type']?.startsWith('application/json')) return undefined;
    const answer = await this.answers.openAnswer(stored);
    if (!answer || answer.bytes > INLINE_BYTES) return undefined;
    try {
      return parseBoundedJson((await storedText(answer.body)).toString(), STORED_BOUNDS);
    } catch {
      // Text that is no JSON cannot be part of a view; the content route
      // returns it unchanged.
      return undefined;
    }
  }
}

/** What is known of a request that another gateway has, or that ended there. */
function elsewhere({ requestId, tenant, headers, attempts, answer }: StoredRequest) {
  const reported = answer?.headers ?? {};
  return {
    request_id: requestId,
    tenant,
    aged: false,
    phases: {},
    model: reported['x-switchyard-model'],
    priority: headers['x-priority'] === 'realtime' ? ('realtime' as const) : ('batch' as const),
    waited_ms: Number(reported['x-switchyard-queue-ms'] ?? 0),
    attempts: Number(reported['x-switchyard-attempts'] ?? attempts),
  };
}

/** How it ended, as the store says: of that there is one record (D-53). */
function outcomeOf({ status, answer }: StoredRequest, here: RequestDto | undefined) {
  const elsewhere = here ? 'Its answer is being stored.' : 'Another gateway has it.';
  const live = { position: undefined, waits_for: undefined, forecast: undefined };
  if (!answer) return { ...live, state: 'running' as const, explanation: elsewhere };
  const code = status === 'completed' ? undefined : here?.code;
  return {
    ...live,
    state: status as StoredEnd,
    code: status === 'cancelled' ? 'request_cancelled' : code,
    explanation: `It is ${status}; its answer is stored.`,
  };
}
