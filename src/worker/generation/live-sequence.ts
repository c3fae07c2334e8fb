import { type GenerationEnd } from '../../core/iteration/generation-request.js';
import { type Drawn, type TextSequence } from './text-backend.port.js';

/** A sequence that hears what becomes of it. None of these may throw; all come from inside the step loop. */
export interface LiveSequence extends TextSequence {
  /** It runs for the first time. @param cachedTokens of its prompt that need no computing */
  begun(cachedTokens: number): void;
  /** A token of the answer, before it counts. @returns true when the answer is complete with it */
  read(drawn: Drawn): boolean;
  /** The token just read counts. */
  emitted(): void;
  /** Once, and nothing afterwards. */
  ended(end: GenerationEnd): void;
}
