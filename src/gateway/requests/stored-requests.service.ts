import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { type StoredRequest, type StoredRequestStore } from '../../core/request/stored-request.port.js';
import { permits, type Principal } from '../../platform/auth/principal.js';
import { KEPT_REQUEST_STORE } from '../../platform/database/database.tokens.js';
import { StoredAnswers, textOf } from './stored-answers.js';
import { type StoredFieldsDto } from './stored-request.dto.js';
import { keptFields } from './stored-view.js';

/** Answers up to this size are shown inside the view. */
const INLINE_BYTES = 65_536;

/** What callers may see and stop of kept requests, whichever gateway has them. */
@Injectable()
export class StoredRequestsService {
  constructor(
    @Inject(KEPT_REQUEST_STORE) private readonly store: StoredRequestStore,
    private readonly answers: StoredAnswers,
  ) {}

  /** Its own; for an admin without one, the latest of that id of any tenant. */
  async find(principal: Principal, requestId: string): Promise<StoredRequest | undefined> {
    const own = await this.store.findById(requestId, principal.tenant);
    const found = own || !permits(principal, 'admin') ? own : await this.store.findById(requestId, undefined);
    return found?.status === 'receiving' ? undefined : found;
  }

  /** @param waits it is known to stand in a queue */
  async view(kept: StoredRequest, waits: boolean): Promise<StoredFieldsDto> {
    const fields = keptFields(kept, waits);
    const json = await this.#json(kept);
    if (json === undefined) return fields;
    return kept.status === 'completed'
      ? { ...fields, result: json }
      : { ...fields, error: (json as { error?: unknown }).error };
  }

  /** Undefined: there is none yet. */
  content(
    kept: StoredRequest,
  ): { status: number; headers: Readonly<Record<string, string>>; body: Readable } | undefined {
    if (!kept.answer) return undefined;
    return { ...kept.answer, body: Readable.from(this.answers.answer(kept), { objectMode: false }) };
  }

  /** True when it runs on whichever gateway, which stops it with its next pulse. */
  cancel(principal: Principal, requestId: string): Promise<boolean> {
    return this.store.requestCancel(principal.tenant, requestId);
  }

  async #json(kept: StoredRequest): Promise<unknown> {
    if (!kept.answer?.headers['content-type']?.startsWith('application/json')) return undefined;
    const size = await this.answers.size(kept);
    if (size === undefined || size > INLINE_BYTES) return undefined;
    try {
      return JSON.parse((await textOf(this.answers.answer(kept))).toString()) as unknown;
    } catch {
      // Numbers or text nobody can show inside of a view: the content is there as it is.
      return undefined;
    }
  }
}
