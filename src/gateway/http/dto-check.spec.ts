import { describe, expect, it } from '@jest/globals';
import { ValidateBy, ValidateNested, validateSync } from 'class-validator';
import fc from 'fast-check';
import { BatchCreateDto } from '../../contracts/openai/batch.dto.js';
import { EmbeddingDto } from '../../contracts/openai/embedding.dto.js';
import { checkedFields } from '../../contracts/openai/field.decorators.js';
import { FileCreateDto } from '../../contracts/openai/file.dto.js';
import {
  ChatCompletionDto,
  CompletionDto,
} from '../../contracts/openai/generation.dto.js';
import { SpeechDto } from '../../contracts/openai/speech.dto.js';
import { TranscriptionDto } from '../../contracts/openai/transcription.dto.js';
import { dtoProblem, shaped } from './dto-validation.js';

const isAccepted = (dto: object): boolean => dtoProblem(dto) === undefined;

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
  fc.constantFrom(
    undefined,
    null,
    true,
    false,
    0,
    1,
    -1,
    0.5,
    3,
    129,
    NaN,
    2_147_483_648,
  ),
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

/** Tells class-validator what is declared. */
function namesOf(type: new () => object): string[] {
  const fields = checkedFields(type);
  for (const [name, { type: field, required }] of fields) {
    const validate = (value: unknown): boolean =>
      (!required && (value === undefined || value === null)) ||
      field.checks.every(([accepts]) => accepts(value));
    ValidateBy({ name: 'field', validator: { validate } })(
      type.prototype as object,
      name,
    );
    if (!field.nested) continue;
    ValidateNested()(type.prototype as object, name);
    namesOf(field.nested);
  }
  return [...fields.keys()];
}
