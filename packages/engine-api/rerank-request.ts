import { parseBoundedJson } from './bounded-json.js';
import { invalidValue } from './coded-error.js';

/**
 * `query` and `documents` of `/v1/rerank`; a document is a text, or an object with
 * one. @throws EngineError
 */
export function rerankRequest(body: Buffer): {
  readonly query: string;
  readonly documents: readonly string[];
} {
  const { query, documents } = parseBoundedJson(body.toString('utf8')) as {
    query?: unknown;
    documents?: unknown;
  };
  if (typeof query !== 'string' || query === '')
    throw invalidValue('`query` must be a text.', 'query');
  if (!Array.isArray(documents) || documents.length === 0)
    throw invalidValue('`documents` must be a list of texts.', 'documents');
  return {
    query,
    documents: documents.map((document: unknown, index) => textOf(document, `documents[${index}]`)),
  };
}

function textOf(document: unknown, param: string): string {
  const text: unknown =
    typeof document === 'object' && document !== null
      ? (document as { text?: unknown }).text
      : document;
  if (typeof text === 'string' && text !== '') return text;
  throw invalidValue(
    `\`${param}\` must be a text, or an object with a \`text\`; none may be empty.`,
    param,
  );
}
