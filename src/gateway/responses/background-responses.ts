import { Injectable } from '@nestjs/common';
import { DomainError } from '../../core/errors/domain-error.js';
import { Settings } from '../../platform/config/settings.js';
import { AsyncRequests } from '../requests/async-requests.js';
import { StoredAnswers } from '../requests/stored-answers.js';
import { StoredLeases } from '../requests/stored-leases.js';
import { type BackgroundWork } from './background-run.js';
import { type ResponseTurn } from './conversations.js';
import { BACKGROUND_PATH } from './background-runner.js';
import { ResponseRecords } from './response-records.js';
import { ResponseWriter } from './response-writer.js';
import { StoredRequestStore } from '../../platform/database/stored-request-store.js';

/**
 * Background responses are stored requests (`Prefer: respond-async`) with a runner of
 * their own: the same lease, the same takeover by another gateway, the same bound on the
 * gateways that may die over one.  */
@Injectable()
export class BackgroundResponses {
  constructor(
    private readonly requests: StoredRequestStore,
    private readonly records: ResponseRecords,
    private readonly asyncs: AsyncRequests,
    private readonly answers: StoredAnswers,
    private readonly leases: StoredLeases,
    private readonly settings: Settings,
  ) {}

  /**
   * Resolves when it is queued and any gateway can run it. @throws DomainError when
   * it was rejected
   */
  async start({
    response,
    request,
    conversation: { all: conversation, input },
    caller: { tenant, terms },
  }: ResponseTurn): Promise<void> {
    const { id } = response;
    const writer = new ResponseWriter(response);
    const events = writer.queued().map(event => JSON.stringify(event));
    const work: BackgroundWork = {
      request: { ...request, stream: true },
      conversation,
      caller: { terms },
    };
    await this.records.create(tenant, {
      response: writer.response,
      input,
      request: JSON.stringify(work),
      events,
    });
    try {
      const early = await this.#queue(tenant, id);
      if (early)
        throw (
          early.error ??
          new DomainError('internal_error', 'The response could not be queued.')
        );
    } catch (error) {
      await this.records.remove({ tenant, id });
      throw error;
    }
  }

  async #queue(tenant: string, id: string) {
    const nowMs = Date.now();
    const stored = {
      tenant,
      requestId: id,
      name: `response:${id}`,
      mode: 'async',
      path: BACKGROUND_PATH,
      status: 'running',
      fingerprint: '',
      headers: {},
      blob: this.answers.newBlob(),
      createdAtMs: nowMs,
      expiresAtMs: nowMs + this.settings.requests.keepMs,
    } as const;
    const { request } = await this.requests.open(stored, this.leases.lease);
    return this.asyncs.begin(request, () => undefined);
  }
}
