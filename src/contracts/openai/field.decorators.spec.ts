import { describe, expect, it } from '@jest/globals';
import { validateSync } from 'class-validator';
import fc from 'fast-check';
import { BatchCreateDto } from './batch.dto.js';
import { ChatCompletionDto } from './chat-completion.dto.js';
import { CompletionDto } from './completion.dto.js';
import { EmbeddingDto } from './embedding.dto.js';
import { fieldNames, hasValidFields, shaped } from './field.decorators.js';
import { FileCreateDto } from './file.dto.js';
import { SpeechDto } from './speech.dto.js';
import { TranscriptionDto } from './transcription.dto.js';

const TYPES: readonly (new () => object)[] = [
  ...[BatchCreateDto, ChatCompletionDto, CompletionDto],
  ...[EmbeddingDto, FileCreateDto, SpeechDto, TranscriptionDto],
];

const VALUES = fc.oneof(
  fc.constantFrom(
    'm',
    '',
    'json',
    'text',
    'mp3',
    'auto',
    'batch',
    '24h',
    '/v1/embeddings',
    'user',
    '0.5',
    '2',
  ),
  fc.constantFrom(undefined, null, true, false, 0, 1, -1, 0.5, 3, 129, NaN, 2_147_483_648),
  fc.constantFrom(
    [],
    ['a'],
    ['x'.repeat(100)],
    [1],
    [[1, 2]],
    {},
    { anchor: 'created_at', seconds: 3600 },
  ),
);

describe('hasValidFields', () => {
  it.each(TYPES.map(type => ({ name: type.name, type })))(
    'says what class-validator says of $name',
    ({ type }) => {
      const names = [...fieldNames(type)];
      const bodies = fc.dictionary(fc.constantFrom(...names), VALUES, {
        maxKeys: names.length,
      });
      fc.assert(
        fc.property(bodies, fields => {
          const dto = shaped(type, fields);
          const errors = validateSync(dto, {
            stopAtFirstError: true,
            forbidUnknownValues: false,
          });
          expect(hasValidFields(dto)).toBe(errors.length === 0);
        }),
        { numRuns: 500 },
      );
    },
  );
});
