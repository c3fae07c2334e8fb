import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { type Fields, isObject } from '@switchyard/engine-api/is-object.js';
import { parseAllDocuments } from 'yaml';

/** As the newest official SDK names them (`npm run conformance` compares). */
const VOICES = 'alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse'.split(
  ' ',
);

/** The voices of every speech model with OpenAI's names, wherever in the file it is. */
function speechIn(value: unknown): string[][] {
  if (typeof value === 'string')
    return value.includes('aliases:') ? parsed(value).flatMap(speechIn) : [];
  if (Array.isArray(value)) return value.flatMap(speechIn);
  if (!isObject(value)) return [];
  const { aliases } = value;
  const isSpeech = Array.isArray(aliases) && aliases.includes('tts-1');
  return isSpeech ? [voicesIn(value)] : Object.values(value).flatMap(speechIn);
}

/** An entry of the catalogue has them further inside. */
function voicesIn(value: Fields): string[] {
  if (isObject(value.voices)) return Object.keys(value.voices);
  return Object.values(value).filter(isObject).flatMap(voicesIn);
}

const parsed = (text: string): unknown[] =>
  parseAllDocuments(text).map(document => document.toJS() as unknown);

describe('each speech model that OpenAI clients find under its names', () => {
  it.each([
    ['config/catalogue.yaml', 4],
    ['docker/compose.cluster.yaml', 1],
    ['docker/helm/switchyard/values.yaml', 1],
    ['test/conformance/models.yaml', 1],
  ])('knows all their voices: %s', (file, least) => {
    const entries = speechIn(parsed(readFileSync(file, 'utf8')));
    expect(entries.length).toBeGreaterThanOrEqual(least);
    for (const voices of entries) expect(voices).toEqual(expect.arrayContaining(VOICES));
  });
});
