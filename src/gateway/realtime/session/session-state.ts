import { createHash } from 'node:crypto';
import { type SessionConfig } from '../../../contracts/realtime/session-config.js';
import { type Dialect } from '../../../contracts/realtime/session-view.js';
import { type TranscriberState } from './transcriber-state.js';
import { type ItemsState } from './transcript-items.js';

/** The input of a session; `transcriber` is absent before the first audio. */
export interface InputState {
  readonly uncommittedBytes: number;
  readonly transcriber?: TranscriberState;
}

/**
 * Everything of a session that another gateway needs besides its events and its audio.
 * JSON, written as a whole.
 */
export interface SessionState {
  readonly v: 1;
  readonly tenant: string;
  readonly keyId?: string;
  /** A digest: reading Redis is not enough to resume. */
  readonly secretSha256: string;
  readonly config: SessionConfig;
  readonly dialect: Dialect;
  /** Unix milliseconds. */
  readonly expiresAtMs: number;
  /** Events numbered so far. */
  readonly sent: number;
  readonly items: ItemsState;
  readonly input: InputState;
}

/** Audio at its position in the session, in bytes of PCM. */
export interface JournalAudio {
  readonly start: number;
  readonly pcm: Buffer;
}

/** What one gateway left and another one continues. */
export interface AdoptedSession {
  readonly state: SessionState;
  /** JSON, oldest first. */
  readonly events: readonly string[];
  readonly audio: readonly JournalAudio[];
}

export const secretDigest = (secret: string): string =>
  createHash('sha256').update(secret).digest('hex');
