import { type WhisperVocabulary } from './whisper-vocabulary.js';

/** A word and the tokens it is made of; indexes into the tokens it was split from. */
export interface SplitWord {
  readonly text: string;
  readonly first: number;
  readonly end: number;
}

/** Languages written without spaces: every whole character is a word (whisper/tokenizer.py). */
const UNSPACED = new Set(['zh', 'ja', 'th', 'lo', 'my', 'yue']);
const OPENING = '"\'“¿([{-';
const CLOSING = '"\'.。,，!！?？:：”)]}、';

/** Words of text tokens, punctuation joined to the word it belongs to. */
export function splitWords(tokens: readonly number[], language: string, vocabulary: WhisperVocabulary): SplitWord[] {
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
