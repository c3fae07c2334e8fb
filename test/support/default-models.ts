import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';

/** Those of docker/models.yaml: a recogniser and a voice that need no download. */
export const defaultModels = (): readonly ModelSpec[] =>
  (parse(readFileSync('docker/models.yaml', 'utf8')) as { models: ModelSpec[] }).models;

/** What their voice says and their recogniser hears. */
export const SENTENCE = 'The quick brown fox jumps over the lazy dog.';

/** How many of six of its words a text has: recognition is real, and a slip is forgiven. */
export const heard = (text: string): number =>
  ['quick', 'brown', 'fox', 'over', 'lazy', 'dog'].filter(word => text.includes(word)).length;
