export type StoredResponseStatus = OpenResponseStatus | EndedResponseStatus;
export type OpenResponseStatus = 'queued' | 'in_progress';
export type EndedResponseStatus = 'completed' | 'incomplete' | 'failed' | 'cancelled';

/**
 * A response that can be retrieved. Instants are Unix milliseconds; `request`, `input`
 * and `response` are JSON.
 */
export interface ResponseRecord {
  readonly tenant: string;
  readonly id: string;
  readonly status: StoredResponseStatus;
  /** The response before it in the conversation; absent: it begins one. */
  readonly previousId?: string;
  /** Responses of the conversation up to this one, 1 or more. */
  readonly chainLength: number;
  /** Bytes of all their inputs and outputs. */
  readonly chainBytes: number;
  /** The validated request; only of background responses that have not ended. */
  readonly request?: string;
  /** Items of its own input, without those of earlier responses. */
  readonly input: string;
  /** The response object as it was last written. */
  readonly response: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /**
   * Number of times that a gateway began to run it: writes of an earlier
   * run change nothing.
   */
  readonly epoch: number;
  /** Number of the next event. */
  readonly nextSequence: number;
}

export type ResponseRef = Pick<ResponseRecord, 'tenant' | 'id'>;
/** One run of a background response. */
export type ResponseRun = Pick<ResponseRecord, 'tenant' | 'id' | 'epoch'>;

/** What a follower needs of a response: none of its texts. */
export interface ResponseProgress extends Pick<
  ResponseRecord,
  'status' | 'chainLength' | 'chainBytes' | 'nextSequence'
> {
  /** Its events are stored. */
  readonly hasEvents: boolean;
}

/** How a response ended. */
export interface ResponseEnding {
  readonly status: EndedResponseStatus;
  readonly response: string;
  /** Added to the bytes of its conversation. */
  readonly outputBytes: number;
  /** From then on its events are no longer stored. */
  readonly eventsUntilMs: number;
}

/** Events of one response that become durable together. */
export interface ResponseAppend {
  readonly run: ResponseRun;
  /** Number of the first event. */
  readonly first: number;
  /** JSON objects, numbered without gaps. */
  readonly events: readonly string[];
  /** It ends with these events. */
  readonly ending?: ResponseEnding;
}

/** Consecutive events as they were appended together. */
export interface ResponseEventGroup {
  readonly first: number;
  readonly events: readonly string[];
}

/** The tables of responses, shared by the gateways of one database. */
export interface ResponseRecordStore {
  /** @param events the first ones of a background response */
  create(record: ResponseRecord, events: readonly string[]): Promise<void>;
  /** Undefined: unknown, deleted, expired, or of another tenant. */
  find(ref: ResponseRef, nowMs: number): Promise<ResponseRecord | undefined>;
  /** The same without its texts, which may have megabytes. */
  head(ref: ResponseRef, nowMs: number): Promise<ResponseProgress | undefined>;
  /**
   * The conversation that ends with this response, newest first; incomplete when a part
   * of it is gone.
   */
  chain(ref: ResponseRef, nowMs: number): Promise<readonly ResponseRecord[]>;
  /**
   * Begins a run and ends all earlier ones. Undefined: the response has ended or is gone.
   */
  begin(ref: ResponseRef): Promise<ResponseRecord | undefined>;
  /**
   * In one transaction. @returns the runs that may go on; the others were replaced, or
   * their response ended
   */
  append(appends: readonly ResponseAppend[]): Promise<ReadonlySet<ResponseRun>>;
  /** Events with numbers above `after`, in order. @param limit groups */
  events(
    ref: ResponseRef,
    after: number,
    limit: number,
  ): Promise<readonly ResponseEventGroup[]>;
  /** With its events. False: there was none. */
  remove(ref: ResponseRef): Promise<boolean>;
  /** Inputs and outputs of all that the tenant has stored. */
  bytesOf(tenant: string): Promise<number>;
  /** Number of responses that have not ended, which are background responses. */
  countOpen(): Promise<Readonly<Record<OpenResponseStatus, number>>>;
  /**
   * Background responses that no stored request runs any more: their gateways died too
   * often, or before they began.
   */
  abandoned(createdBeforeMs: number, limit: number): Promise<readonly ResponseRef[]>;
  /**
   * Removes expired responses, and events that are no longer stored. @returns the
   * number of responses
   */
  expire(nowMs: number, limit: number): Promise<number>;
}
