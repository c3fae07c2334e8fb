import { firstColumns, medianFilter } from './dynamic-time-warping.js';
import { logSumExp } from './logit-rules.js';
import { type RowTensor } from './row-tensor.js';
import { type DecoderAnswer } from './whisper-model.js';
import { type WhisperVocabulary } from './whisper-vocabulary.js';
import { splitWords } from './word-split.js';

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
export interface AlignmentText {
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
  const cost = alignmentCost(answer.crossAttentions, row, text, vocabulary.alignmentHeads);
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
