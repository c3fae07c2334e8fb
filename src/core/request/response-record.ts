export type StoredResponseStatus = 'queued' | 'in_progress' | ResponseEnding['status'];

/** JSON, which may have megabytes. */
export interface ResponseTexts {
  /** The validated request; only of background responses that have not ended. */
  readonly request?: string;
  /** Items of its own input, without those of earlier responses. */
  readonly input: string;
  /** The response object as it was last written. */
  readonly response: string;
}

/** A response that can be retrieved. Instants are Unix milliseconds. */
export interface ResponseRecord extends ResponseTexts {
  readonly tenant: string;
  readonly id: string;
  readonly status: StoredResponseStatus;
  /** The response before it in the conversation; absent: it begins one. */
  readonly previousId?: string;
  /** Responses of the conversation up to this one, 1 or more. */
  readonly chainLength: number;
  /** Bytes of all their inputs and outputs. */
  readonly chainBytes: number;
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
  /** Whether events of it are stored. */
  readonly hasEvents: boolean;
}

/** How a response ended. */
export interface ResponseEnding {
  readonly status: 'completed' | 'incomplete' | 'failed' | 'cancelled';
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
  /** How the response ended, where these are its last events. */
  readonly ending?: ResponseEnding;
}

/** Consecutive events as they were appended together. */
export interface ResponseEventGroup {
  readonly first: number;
  readonly events: readonly string[];
}
