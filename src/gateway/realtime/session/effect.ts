import {
  type ServerEvent,
  type CloseCode,
} from '../../../contracts/realtime/realtime-event.js';
import { type DomainError } from '../../../core/errors/domain-error.js';
import { type JournalAudio } from '../journal/session-state.js';
import { type ActivityEvent } from './session-activity.js';

/** A text to be spoken as a response. */
export interface SpokenText {
  readonly id: string;
  readonly text: string;
  readonly voice: string;
  readonly speed: number;
  readonly metadata: Readonly<Record<string, unknown>> | null;
}

export type HushReason = 'client_cancelled' | 'turn_detected';

/**
 * What the session is to do. `open` and `speak` may fail with a DomainError, which is
 * thrown where the effect was yielded.
 */
export type Effect =
  | { readonly type: 'send'; readonly event: ServerEvent }
  /** The first stream of the session. */
  | { readonly type: 'open' }
  /** Another stream. @param report the client is told when there is one */
  | { readonly type: 'reconnect'; readonly afterMs: number; readonly report: boolean }
  /** Audio was accepted: it is stored, and sent to the recogniser. */
  | { readonly type: 'audio'; readonly audio: JournalAudio }
  /** Stops reading the client. */
  | { readonly type: 'slow_down'; readonly ms: number }
  | { readonly type: 'speak'; readonly request: SpokenText }
  | { readonly type: 'hush'; readonly reason: HushReason }
  | {
      readonly type: 'count';
      readonly fact: Exclude<ActivityEvent['type'], 'recognised'>;
      readonly ms: number;
    }
  /** Final text has arrived for that much audio. */
  | { readonly type: 'recognised'; readonly seconds: number }
  /** Sends the error and ends. */
  | { readonly type: 'fail'; readonly error: DomainError; readonly code: CloseCode }
  | { readonly type: 'end'; readonly code: CloseCode; readonly reason: string };

export type Effects = Generator<Effect, void>;

/** In order; a failure is thrown where the effect was yielded. */
export function carryOut(effects: Effects, act: (effect: Effect) => void): void {
  let step = effects.next();
  while (!step.done) {
    try {
      act(step.value);
    } catch (error) {
      step = effects.throw(error);
      continue;
    }
    step = effects.next();
  }
}

export const send = (event: ServerEvent): Effect => ({ type: 'send', event });

export const counted = (
  fact: Extract<Effect, { type: 'count' }>['fact'],
  ms = 0,
): Effect => ({
  type: 'count',
  fact,
  ms,
});
