import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { parseBoundedJson, STORED_BOUNDS } from '@switchyard/engine-api/bounded-json.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type StoredEnd, type StoredRequest } from '../../core/request/stored-request.js';
import { permits, type Principal } from '../../platform/auth/principal.js';
import { unixSeconds } from '../http/openapi/view.js';
import { StoredAnswers, storedText } from '../stored-work/stored-answers.js';
import { StoredWork } from '../stored-work/stored-work.js';

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

  /**
   * The part of a view that comes from the table. @param waits true if it is known
   * to be queued
   */
  async view(stored: StoredRequest, waits: boolean) {
    const { status, requestId, path, createdAtMs, endedAtMs, expiresAtMs, answer } = stored;
    const ended = endedAtMs !== undefined;
    const state: StoredEnd | 'queued' | 'running' = ended
      ? (status as StoredEnd)
      : waits
        ? 'queued'
        : 'running';
    const fields = {
      status: state,
      endpoint: path,
      created_at: unixSeconds(createdAtMs),
      completed_at: ended ? unixSeconds(endedAtMs) : undefined,
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

  /**
   * Undefined: there is none yet. @throws DomainError `request_not_found` when its
   * bytes are gone
   */
  async content(
    stored: StoredRequest,
  ): Promise<
    { status: number; headers: Readonly<Record<string, string>>; body: Readable } | undefined
  > {
    if (!stored.answer) return undefined;
    if ((await this.answers.size(stored)) === undefined)
      throw new DomainError('request_not_found', `The answer of \`${stored.requestId}\` is gone.`, {
        param: 'id',
      });
    return {
      ...stored.answer,
      body: Readable.from(this.answers.answer(stored), { objectMode: false }),
    };
  }

  async #json(stored: StoredRequest): Promise<unknown> {
    if (!stored.answer?.headers['content-type']?.startsWith('application/json')) return undefined;
    const size = await this.answers.size(stored);
    if (size === undefined || size > INLINE_BYTES) return undefined;
    try {
      const text = (await storedText(this.answers.answer(stored))).toString();
      return parseBoundedJson(text, STORED_BOUNDS);
    } catch {
      // Text that is no JSON cannot be part of a view; the content route
      // returns it unchanged.
      return undefined;
    }
  }
}
