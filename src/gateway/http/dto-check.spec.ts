import { describe, expect, it } from '@jest/globals';
import { getMetadataStorage, validateSync } from 'class-validator';
import fc from 'fast-check';
import { BatchCreateDto } from '../../contracts/openai/batch.dto.js';
import { EmbeddingDto } from '../../contracts/openai/embedding.dto.js';
import { shaped } from '../../contracts/openai/field.decorators.js';
import { FileCreateDto } from '../../contracts/openai/file.dto.js';
import { ChatCompletionDto, CompletionDto } from '../../contracts/openai/generation.dto.js';
import { SpeechDto } from '../../contracts/openai/speech.dto.js';
import { TranscriptionDto } from '../../contracts/openai/transcription.dto.js';
import { isAccepted } from './dto-validation.js';

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

describe('isAccepted', () => {
  it.each(TYPES.map(type => ({ name: type.name, type })))(
    'says what class-validator says of $name',
    ({ type }) => {
      const names = namesOf(type);
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
          expect(isAccepted(dto)).toBe(errors.length === 0);
        }),
        { numRuns: 500 },
      );
    },
  );
});

function namesOf(type: new () => object): string[] {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  return [...new Set(rules.map(({ propertyName }) => propertyName))];
}
