import { type Token, type Tokens } from './token.js';

/** What a rule wrote for the tokens up to `end` (exclusive). */
export interface Written {
  readonly text: string;
  readonly end: number;
}

/**
 * Reads a phrase that starts at `at`. Looks one word back and a bounded way ahead, or consumes all that it looked at:
 * that is what keeps the whole linear.
 */
export type Rule = (tokens: Tokens, at: number) => Written | undefined;

/** The first rule that reads a phrase writes it; a token that starts none stays as it is. */
export function rewrite(tokens: Tokens, rules: readonly Rule[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (let first = tokens[at]; first; first = tokens[at]) {
    const { text, end } = firstMatch(tokens, at, rules) ?? { text: first.spoken, end: at + 1 };
    pieces.push(first.gap, first.before, text, afterOf(tokens[end - 1], text));
    at = end;
  }
  return pieces.join('');
}

function firstMatch(tokens: Tokens, at: number, rules: readonly Rule[]): Written | undefined {
  for (const rule of rules) {
    const written = rule(tokens, at);
    if (written) return written;
  }
  return undefined;
}

/** "3 p.m." at the end of a sentence has one full stop, not two. */
function afterOf(last: Token | undefined, text: string): string {
  const after = last?.after ?? '';
  return text.endsWith('.') && after.startsWith('.') ? after.slice(1) : after;
}
