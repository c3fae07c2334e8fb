import { type TokenLogprob } from './transcript.js';

/** OpenAI's shape of a token: `bytes` as numbers, since a token may be part of a character only. */
export interface LogprobBody {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: readonly number[];
}

export const logprobBody = ({ token, logprob, bytes }: TokenLogprob): LogprobBody => ({
  token,
  logprob,
  bytes: [...bytes],
});

/**
 * Which tokens each of the pieces of a text is made of, by bytes; a token across a border belongs to the earlier piece.
 * Undefined when the tokens do not spell the text, as after inverse text normalisation.
 */
export function tokensOfPieces(
  pieces: readonly string[],
  tokens: readonly TokenLogprob[],
): readonly (readonly TokenLogprob[])[] | undefined {
  const spelt = Buffer.concat(tokens.map(({ bytes }) => bytes)).toString();
  const text = pieces.join('');
  if (spelt.trim() !== text.trim()) return undefined;
  let pieceEnd = Buffer.byteLength(spelt) - Buffer.byteLength(spelt.trimStart());
  let tokenStart = 0;
  let next = 0;
  return pieces.map((piece, index) => {
    pieceEnd += Buffer.byteLength(piece);
    const first = next;
    const last = index === pieces.length - 1;
    while (next < tokens.length && (last || tokenStart < pieceEnd)) tokenStart += tokens[next++]!.bytes.length;
    return tokens.slice(first, next);
  });
}
