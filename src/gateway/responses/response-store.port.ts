import { type ResponseItem } from '../../contracts/openai/response-items.js';
import {
  type ResponseObject,
  type ResponseRequest,
} from '../../contracts/openai/responses.js';
import { type InferenceCaller } from '../inference/inference.service.js';

/** A response and what it answered. */
export interface StoredResponse {
  readonly response: ResponseObject;
  /** Of this turn, without what came before it. */
  readonly input: readonly ResponseItem[];
}

/** A response whose client does not wait. */
export interface BackgroundResponse {
  /** Queued, without output. */
  readonly response: ResponseObject;
  readonly request: ResponseRequest;
  /**
   * All of the conversation, the input of this turn at its end: references are resolved.
   */
  readonly conversation: readonly ResponseItem[];
  /** Those items of it that are the input of this turn. */
  readonly input: readonly ResponseItem[];
  readonly caller: Omit<InferenceCaller, 'reply'>;
}

/**
 * Responses that outlive their request. With none bound `store` is false, and
 * `previous_response_id`, `background` and references to items are refused. What another
 * tenant stored is as unknown as what was never stored (D-31).
 */
export interface ResponseStore {
  /** @throws DomainError `storage_quota_exceeded` */
  demandRoom(tenant: string): Promise<void>;

  /**
   * Input and output of the response and of all before it, oldest first.
   * @throws DomainError `previous_response_not_found`
   */
  conversation(tenant: string, id: string): Promise<readonly ResponseItem[]>;

  /**
   * Those items that are known, in any order. @throws DomainError `invalid_value` when
   * they are of too many responses
   */
  items(tenant: string, ids: ReadonlySet<string>): Promise<readonly ResponseItem[]>;

  /** One that is over. */
  save(tenant: string, stored: StoredResponse): Promise<void>;

  /** Resolves when the work will be done, whatever dies. */
  startBackground(work: BackgroundResponse): Promise<void>;

  /**
   * Events of a background response after number `after` (-1: all) as they are streamed,
   * also those that are still to come, until the final one.
   */
  events(
    tenant: string,
    id: string,
    after: number,
    signal: AbortSignal,
  ): AsyncIterable<Buffer>;
}

/** Token of the `ResponseStore`; optional. */
export const RESPONSE_STORE = Symbol('ResponseStore');
