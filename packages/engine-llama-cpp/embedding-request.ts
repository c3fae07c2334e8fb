import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { EngineError, invalidValue } from '@switchyard/engine-api/coded-error.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type LlamaEmbeddingOptions } from './options.js';

/**
 * Texts of all requests of a group in as few native runs as fit, like lengths together: a
 * run computes every pair of its positions, so a short text beside a long one costs more
 * than among its like.
 */
export function embeddingRuns<Piece extends { readonly tokens: Int32Array }>(
  pieces: readonly Piece[],
  { batchTokens, batchTexts }: Pick<LlamaEmbeddingOptions, 'batchTokens' | 'batchTexts'>,
): Piece[][] {
  const runs: Piece[][] = [];
  let run: Piece[] = [];
  let tokens = 0;
  for (const piece of pieces.toSorted((a, b) => a.tokens.length - b.tokens.length)) {
    if (run.length === batchTexts || tokens + piece.tokens.length > batchTokens) {
      runs.push(run);
      run = [];
      tokens = 0;
    }
    run.push(piece);
    tokens += piece.tokens.length;
  }
  return run.length > 0 ? [...runs, run] : runs;
}

interface EmbeddingLimits {
  readonly dimensions: number;
  readonly vocabularySize: number;
  /** The model was trained so that the beginning of a vector is one. */
  readonly shortenable: boolean;
}

/**
 * `input` and `dimensions` of `/v1/embeddings`.
 * @returns each input as text or as tokens of the model, and its name in messages; without
 *   `dimensions`, vectors are as the model makes them
 * @throws EngineError
 */
export function readEmbeddingRequest(body: Buffer, limits: EmbeddingLimits) {
  const { input, dimensions } = parseBoundedJson(body.toString('utf8')) as {
    input?: unknown;
    dimensions?: unknown;
  };
  const isOne =
    typeof input === 'string' ||
    (Array.isArray(input) && input.every(part => typeof part === 'number'));
  const listed: unknown = isOne ? [input] : input;
  if (!Array.isArray(listed) || listed.length === 0)
    throw invalidValue('`input` is a text, a list of texts, or tokens.', 'input');
  return {
    inputs: listed.map((one: unknown, index) => {
      const param = isOne ? 'input' : `input[${index}]`;
      return { param, input: inputOf(one, param, limits) };
    }),
    dimensions: dimensionsOf(dimensions, limits),
  };
}

function inputOf(
  input: unknown,
  param: string,
  { vocabularySize }: EmbeddingLimits,
): string | readonly number[] {
  if (typeof input === 'string' && input !== '') return input;
  if (!Array.isArray(input) || input.length === 0)
    throw invalidValue(`\`${param}\` is neither a text nor a list of tokens, or is empty.`, param);
  const isToken = (token: unknown): token is number =>
    typeof token === 'number' && Number.isInteger(token) && token >= 0 && token < vocabularySize;
  if (input.every(isToken)) return input;
  throw invalidValue(
    `\`${param}\` has a token that is not one of the model's, 0 to ${vocabularySize - 1}.`,
    param,
  );
}

function dimensionsOf(
  wanted: unknown,
  { dimensions, shortenable }: EmbeddingLimits,
): number | undefined {
  if (wanted === undefined || wanted === null || wanted === dimensions) return undefined;
  if (!shortenable)
    throw new EngineError(
      'unsupported_parameter',
      `The model makes vectors of ${dimensions} numbers and no others.`,
      { param: 'dimensions' },
    );
  if (typeof wanted === 'number' && Number.isInteger(wanted) && wanted >= 1 && wanted < dimensions)
    return wanted;
  throw invalidValue(
    `\`dimensions\` is ${writeJson(wanted)}; allowed: 1 to ${dimensions}.`,
    'dimensions',
  );
}
