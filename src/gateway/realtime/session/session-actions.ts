import { type Fields } from '@switchyard/engine-api/is-object.js';
import { type ServerEvent, type CloseCode } from '../../../contracts/realtime/realtime-event.js';
import { type DomainError } from '../../../core/errors/domain-error.js';
import { type Principal } from '../../../platform/auth/principal.js';
import { type JournalAudio } from '../journal/session-state.js';
import { type SessionFact } from './session-activity.js';

/** A text to be spoken as a response. */
export interface SpokenText {
  readonly id: string;
  readonly text: string;
  readonly voice: string;
  readonly speed: number;
  readonly metadata: Fields | null;
}

/** What a session does about its client's messages and its recogniser's results. */
export interface SessionActions {
  readonly owner: Principal;
  /** The response that is being spoken; undefined: none is. */
  readonly response:
    | {
        readonly id: string;
        cancel(reason: 'client_cancelled' | 'turn_detected'): void;
      }
    | undefined;
  send(event: ServerEvent): void;
  /** The first stream of the session. @throws DomainError when there is none */
  open(): void;
  /** Another stream. @param report the client is told when there is one */
  reconnect(afterMs: number, report: boolean): void;
  /** Audio was accepted: it is stored for another gateway. */
  audio(audio: JournalAudio): void;
  /** Stops reading the client. */
  slowDown(ms: number): void;
  /** @throws DomainError about the text, the voice or the model */
  speak(request: SpokenText): void;
  count(fact: SessionFact, ms?: number): void;
  /** Counts audio for which the final text has arrived. */
  recognised(audioSeconds: number): void;
  /** Sends the error and ends. */
  fail(error: DomainError, code: CloseCode): void;
  end(code: CloseCode, reason: string): Promise<void>;
}
