import { type RowTensor } from './kv-batches.js';
import { logSumExp } from './token-sampling.js';
import { type DecoderAnswer } from './model.js';
import { type WhisperVocabulary } from './vocabulary.js';

/** A word and the tokens it is made of; indexes into the tokens it was split from. */
interface SplitWord {
  readonly text: string;
  readonly first: number;
  readonly end: number;
}

/** Languages written without spaces: every whole character is a word (whisper/tokenizer.py). */
const UNSPACED = new Set(['zh', 'ja', 'th', 'lo', 'my', 'yue']);
const OPENING = '"\'“¿([{-';
const CLOSING = '"\'.。,，!！?？:：”)]}、';

/** Words of text tokens, punctuation joined to the word it belongs to. */
function splitWords(tokens: readonly number[], language: string, vocabulary: WhisperVocabulary): SplitWord[] {
  const characters = wholeCharacters(tokens, vocabulary);
  const words = UNSPACED.has(language) ? characters : joinAtSpaces(characters);
  return joinPunctuation(words).map(word => ({ ...word, text: word.text.trim() }));
}

/** A token may be part of a character only; pieces end where the text is valid. */
function wholeCharacters(tokens: readonly number[], vocabulary: WhisperVocabulary): SplitWord[] {
  const words: SplitWord[] = [];
  let first = 0;
  for (let end = 1; end <= tokens.length; end++) {
    const text = vocabulary.decode(tokens.slice(first, end));
    if (text.includes('\uFFFD') && end < tokens.length) continue;
    words.push({ text, first, end });
    first = end;
  }
  return words;
}

function joinAtSpaces(pieces: readonly SplitWord[]): SplitWord[] {
  const words: SplitWord[] = [];
  for (const piece of pieces) {
    const last = words.at(-1);
    const punctuation = /^[\p{P}\p{S}]$/u.test(piece.text.trim());
    if (last === undefined || piece.text.startsWith(' ') || punctuation) words.push(piece);
    else words[words.length - 1] = joined(last, piece);
  }
  return words;
}

function joinPunctuation(words: readonly SplitWord[]): SplitWord[] {
  const kept: SplitWord[] = [];
  for (const word of words) {
    const last = kept.at(-1);
    const opens = last !== undefined && OPENING.includes(last.text.trim()) && last.text.startsWith(' ');
    const closes = last !== undefined && !word.text.startsWith(' ') && CLOSING.includes(word.text);
    if (last !== undefined && (opens || closes)) kept[kept.length - 1] = joined(last, word);
    else kept.push(word);
  }
  return kept;
}

const joined = (a: SplitWord, b: SplitWord): SplitWord => ({ text: a.text + b.text, first: a.first, end: b.end });

/**
 * For each row the first column of the cheapest monotonic path through `cost` [rows × columns], as in OpenAI's
 * reference (whisper/timing.py): from corner to corner by steps right, down or both.
 */
export function firstColumns(cost: Float64Array, rows: number, columns: number): number[] {
  const width = columns + 1;
  const total = new Float64Array((rows + 1) * width).fill(Infinity);
  const from = new Uint8Array((rows + 1) * width);
  total[0] = 0;
  for (let column = 1; column <= columns; column++) {
    for (let row = 1; row <= rows; row++) {
      const at = row * width + column;
      const [both, down, right] = [total[at - width - 1]!, total[at - width]!, total[at - 1]!];
      const step = both < down && both < right ? 0 : down < both && down < right ? 1 : 2;
      from[at] = step;
      total[at] = cost[(row - 1) * columns + column - 1]! + Math.min(both, down, right);
    }
  }
  return backtrace(from, rows, columns);
}

function backtrace(from: Uint8Array, rows: number, columns: number): number[] {
  const first = Array<number>(rows).fill(0);
  let [row, column] = [rows, columns];
  while (row > 0 && column > 0) {
    first[row - 1] = column - 1;
    const step = from[row * (columns + 1) + column];
    if (step !== 2) row -= 1;
    if (step !== 1) column -= 1;
  }
  return first;
}

/** Median of `width` neighbours (odd) along a row, reflected at both ends. */
export function medianFilter(row: Float64Array, width: number): Float64Array {
  const half = (width - 1) / 2;
  if (row.length <= half) return row;
  const last = row.length - 1;
  return Float64Array.from(row, (_, i) => {
    const near = Array.from({ length: width }, (_unused, k) => {
      const at = Math.abs(i + k - half);
      return row[at > last ? 2 * last - at : at]!;
    });
    return near.sort((a, b) => a - b)[half]!;
  });
}

export interface AlignedWord {
  readonly text: string;
  /** Encoder positions from the start of the window. */
  readonly from: number;
  readonly to: number;
  /** Mean probability of its tokens. */
  readonly probability: number;
  /** Index of its first token in the window's tokens. */
  readonly token: number;
}

/** What is aligned: the text tokens of a finished window, each with its index in the window's tokens. */
interface AlignmentText {
  readonly tokens: readonly number[];
  readonly indexes: readonly number[];
  readonly language: string;
  /** Tokens before the text in the alignment run, `<|notimestamps|>` included. */
  readonly prefix: number;
  /** Encoder positions that are audio. */
  readonly positions: number;
}

const MEDIAN_WIDTH = 7;

/** The tokens of an alignment run: start sequence, no times, the text, the end. */
export function alignmentTokens(
  start: readonly number[],
  text: readonly number[],
  vocabulary: WhisperVocabulary,
): number[] {
  return [...start, vocabulary.noTimestamps, ...text, vocabulary.endToken];
}

/** Where each word is spoken, from the heads whose attention follows the audio (whisper/timing.py `find_alignment`). */
export function alignWords(
  answer: DecoderAnswer,
  row: number,
  text: AlignmentText,
  vocabulary: WhisperVocabulary,
): AlignedWord[] {
  // Row i is the step that predicts token i; the row after the last text token predicts the end.
  const rows = text.tokens.length + 1;
  const cost = alignmentCost(answer.crossAttentions(), row, text, vocabulary.alignmentHeads);
  const columns = firstColumns(cost, rows, text.positions);
  const probabilities = text.tokens.map((token, i) => {
    const scores = answer.scores(row, text.prefix - 1 + i).subarray(0, vocabulary.endToken);
    return Math.exp(scores[token]! - logSumExp(scores));
  });
  return splitWords(text.tokens, text.language, vocabulary).map(({ text: word, first, end }) => {
    const own = probabilities.slice(first, end);
    const probability = own.reduce((sum, value) => sum + value, 0) / own.length;
    return { text: word, from: columns[first]!, to: columns[end]!, probability, token: text.indexes[first]! };
  });
}

/** −(mean over heads of the attention, normalised over tokens and smoothed over time). */
function alignmentCost(
  layers: readonly RowTensor[],
  row: number,
  { tokens, prefix, positions }: AlignmentText,
  heads: WhisperVocabulary['alignmentHeads'],
): Float64Array {
  const rows = tokens.length + 1;
  const cost = new Float64Array(rows * positions);
  // The statistics run over all tokens of the run but the end, as in the reference.
  const steps = prefix + tokens.length + 1;
  for (const [layer, head] of heads) {
    const weights = normalisedOverTokens(attentionRows(layers[layer]!, { row, head, steps, positions }));
    for (let i = 0; i < rows; i++) {
      const smooth = medianFilter(weights[prefix - 1 + i]!, MEDIAN_WIDTH);
      for (let k = 0; k < positions; k++) cost[i * positions + k]! -= smooth[k]! / heads.length;
    }
  }
  return cost;
}

/** Attention of each step over the audio's positions, summing to 1 there: what lies on the padding is left out. */
function attentionRows(
  tensor: RowTensor,
  at: { readonly row: number; readonly head: number; readonly steps: number; readonly positions: number },
): Float64Array[] {
  const [, heads = 1, places = 1, width = 1] = tensor.dims;
  const base = (at.row * heads + at.head) * places;
  return Array.from({ length: at.steps }, (_, step) => {
    const from = (base + step) * width;
    const weights = Float64Array.from(tensor.data.subarray(from, from + at.positions) as unknown as Iterable<number>);
    const sum = weights.reduce((total, value) => total + value, 0) || 1;
    return weights.map(value => value / sum);
  });
}

function normalisedOverTokens(rows: Float64Array[]): Float64Array[] {
  const width = rows[0]!.length;
  for (let k = 0; k < width; k++) {
    const mean = rows.reduce((sum, row) => sum + row[k]!, 0) / rows.length;
    const variance = rows.reduce((sum, row) => sum + (row[k]! - mean) ** 2, 0) / rows.length;
    const deviation = Math.sqrt(variance) || 1;
    for (const row of rows) row[k] = (row[k]! - mean) / deviation;
  }
  return rows;
}
