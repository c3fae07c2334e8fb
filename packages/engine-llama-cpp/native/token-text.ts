import { type ToolForm } from '@switchyard/engine-api/text-backend.port.js';
import { type LlamaOperations } from '../protocol.js';
import { type NativeModel } from './native-model.js';

/** Control tokens that stand in a call: their text is part of the answer. */
const CALL_MARKS: Readonly<Record<ToolForm, readonly string[]>> = {
  hermes: [],
  'qwen-xml': [],
  llama3: ['<|python_tag|>'],
  mistral: ['[TOOL_CALLS]'],
  'mistral-args': ['[TOOL_CALLS]', '[CALL_ID]', '[ARGS]'],
  'gpt-oss': ['<|start|>', '<|channel|>', '<|constrain|>', '<|message|>', '<|end|>', '<|call|>'],
};

/** `enum llama_token_attr` of llama.h. */
export const TOKEN = {
  unknown: 1,
  unused: 2,
  normal: 4,
  control: 8,
  userDefined: 16,
  byte: 32,
} as const;

const SENTENCE_PIECE = 1;
const BYTE_LEVEL = 2;
const WORD_PIECE = 3;
const UNIGRAM = 4;

/**
 * Token by token what the model says: the library itself has text only, which loses the
 * halves of characters.
 */
export function vocabularyOf(
  { library, vocabulary, vocabularySize }: NativeModel,
  form: ToolForm,
): ReturnType<LlamaOperations['vocabulary']> {
  const type = library.vocabularyType(vocabulary);
  const pieces: Buffer[] = [];
  const ends = new Uint32Array(vocabularySize);
  const endTokens: number[] = [];
  for (let token = 0, end = 0; token < vocabularySize; token++) {
    const text = library.tokenText(vocabulary, token) ?? '';
    const piece = CALL_MARKS[form].includes(text)
      ? Buffer.from(text)
      : pieceOf(text, library.tokenAttributes(vocabulary, token), type);
    pieces.push(piece);
    ends[token] = end += piece.length;
    if (library.isEnd(vocabulary, token)) endTokens.push(token);
  }
  return { bytes: Buffer.concat(pieces), ends, endTokens: Uint32Array.from(endTokens) };
}

/** Bytes of a token, as `llama_token_to_piece` gives them without special tokens. */
export function pieceOf(text: string, attributes: number, vocabularyType: number): Buffer {
  if ((attributes & (TOKEN.control | TOKEN.unknown | TOKEN.unused)) !== 0) return Buffer.alloc(0);
  if ((attributes & TOKEN.userDefined) !== 0) return Buffer.from(text);
  if ((attributes & TOKEN.byte) !== 0) return Buffer.from([Number.parseInt(text.slice(3, 5), 16)]);
  switch (vocabularyType) {
    case BYTE_LEVEL:
      return Buffer.from([...text].flatMap(character => byteLevel(character)));
    case SENTENCE_PIECE:
    case UNIGRAM:
    case WORD_PIECE:
      return Buffer.from(text.replaceAll('\u2581', ' '));
    default:
      return Buffer.from(text);
  }
}

/**
 * GPT-2 writes each byte as a printable character: itself where it is one, else one from
 * U+0100 on. A character that is none of those stands for itself.
 */
function byteLevel(character: string): number[] {
  const byte = BYTES.get(character);
  return byte === undefined ? [...Buffer.from(character)] : [byte];
}

const isPrintable = (byte: number): boolean =>
  (byte >= 0x21 && byte <= 0x7e) ||
  (byte >= 0xa1 && byte <= 0xac) ||
  (byte >= 0xae && byte <= 0xff);

const BYTES: ReadonlyMap<string, number> = (() => {
  const bytes = new Map<string, number>();
  for (let byte = 0, shifted = 0x100; byte < 0x100; byte++)
    bytes.set(String.fromCharCode(isPrintable(byte) ? byte : shifted++), byte);
  return bytes;
})();
