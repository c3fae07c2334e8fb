import { createHash } from 'node:crypto';
import { type SessionConfig } from '../../../contracts/realtime/session-config.js';
import { type Dialect } from '../../../contracts/realtime/session-view.js';

/**
 * Everything of a session that another gateway needs besides its events and its audio.
 * JSON, written as a whole.
 */
export interface SessionState {
  readonly v: 1;
  readonly tenant: string;
  readonly keyId?: string;
  /** SHA-256 of the secret, so that whoever reads Redis cannot resume the session. */
  readonly secretSha256: string;
  readonly config: SessionConfig;
  readonly dialect: Dialect;
  /** Unix milliseconds. */
  readonly expiresAtMs: number;
  /** Events numbered so far. */
  readonly sent: number;
  /** Open utterances, and the numbers that continue. */
  readonly items: {
    readonly next: number;
    readonly finals: number;
    readonly segments: number;
    readonly lastItemId: string | null;
    readonly open: readonly {
      readonly utterance: number;
      readonly id: string;
      /** Words that were sent. */
      readonly said: readonly string[];
      readonly started: boolean;
      readonly stopped: boolean;
      readonly committed: boolean;
      readonly discarded: boolean;
    }[];
  };
  readonly input: {
    readonly uncommittedBytes: number;
    /** Absent before the first audio. Positions are bytes of PCM from its start. */
    readonly transcriber?: {
      /** Audio accepted so far. */
      readonly position: number;
      /** The first byte that a new worker needs. */
      readonly keepFrom: number;
      /** Commits that are not answered yet, in order. */
      readonly commits: readonly number[];
      /** Utterances completed so far. */
      readonly finals: number;
    };
  };
}

/** Audio at its position in the session, in bytes of PCM. */
export interface JournalAudio {
  readonly start: number;
  readonly pcm: Buffer;
}

/** One event as it was written to the socket. */
export interface SentEvent {
  readonly id: string;
  readonly json: string;
}

/** What one gateway left and another one continues. */
export interface AdoptedSession {
  readonly state: SessionState;
  /** Oldest first. */
  readonly events: readonly SentEvent[];
  /** Audio since the last completed segment. */
  readonly audio: readonly JournalAudio[];
}

export const secretDigest = (secret: string): string =>
  createHash('sha256').update(secret).digest('hex');
