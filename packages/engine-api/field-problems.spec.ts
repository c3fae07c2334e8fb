import { describe, expect, it } from '@jest/globals';
import { pathText, readFields } from './field-problems.js';
import {
  FLAG,
  listOf,
  mapOf,
  matching,
  objectOf,
  oneOf,
  optional,
  TEXT,
  wholeNumberFrom,
} from './rules.js';

const SCHEMA = objectOf(
  {
    name: TEXT,
    kind: oneOf(['stt', 'tts'], { asr: 'was renamed: stt' }),
    tags: optional(listOf(oneOf(['fast', 'small']), 'tags', 1)),
    inner: optional(
      objectOf({ threads: wholeNumberFrom(1, 8), on: optional(FLAG) }, '{ threads, on }'),
    ),
    pairs: optional(mapOf(matching(/^\d$/, 'a digit'), 'pairs of names and digits')),
  },
  'an example',
);
const GOOD = { name: 'a', kind: 'stt' };
const said = (fields: object) =>
  readFields(SCHEMA, { ...GOOD, ...fields }).problems.map(
    ({ path, message }) => `${pathText(path)}: ${message}`,
  );

describe('an untrusted object', () => {
  it('is read with the same for null and for absent fields', () => {
    expect(readFields(SCHEMA, { ...GOOD, tags: null, inner: { threads: 2, on: null } })).toEqual({
      data: { ...GOOD, inner: { threads: 2 } },
      problems: [],
    });
  });

  it.each([
    [{ name: '' }, ['name: must be text, not empty']],
    [{ name: null }, ['name: is missing; must be text, not empty']],
    [{ kind: 'sst' }, ['kind: must be one of stt, tts, did you mean stt?']],
    [{ kind: 'asr' }, ['kind: was renamed: stt']],
    [{ tags: 'fst' }, ['tags: must be a list of 1 or more tags, did you mean fast?']],
    [{ tags: ['fast', 'smal'] }, ['tags[1]: must be one of fast, small, did you mean small?']],
    [{ inner: 5 }, ['inner: must be { threads, on }']],
    [{ inner: { threads: 9 } }, ['inner.threads: must be a whole number from 1 to 8']],
    [{ pairs: { a: 'x' } }, ['pairs: must be pairs of names and digits']],
    [{ tag: 1 }, ['tag: no such field, did you mean tags?']],
    [{ zzzzzzzz: 1 }, ['zzzzzzzz: no such field; known: name, kind, tags, inner, pairs']],
    [
      { name: 1, inner: { thread: 9 }, colour: 1 },
      [
        'colour: no such field; known: name, kind, tags, inner, pairs',
        'name: must be text, not empty',
        'inner.thread: no such field, did you mean threads?',
        'inner.threads: is missing; must be a whole number from 1 to 8',
      ],
    ],
  ])('%j is told: %j', (fields, problems) => {
    expect(said(fields)).toEqual(problems);
  });
});
