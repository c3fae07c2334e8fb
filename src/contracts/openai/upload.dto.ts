import { ExpiresAfterDto } from './expires-after.dto.js';
import { anything, anyWhole, choiceOf, type FieldType, nested, textWithin } from './field-types.js';
import { Field, RequiredField } from './field.decorators.js';
import { UPLOAD_PURPOSES } from './file.dto.js';

/** Largest part of an upload, as OpenAI's. */
export const PART_BYTES = 64 * 1_048_576;

const SIZE: FieldType = {
  schema: { type: Number },
  checks: [
    [value => typeof value === 'number' && value >= 1, 'must be at least 1'],
    ...anyWhole().checks,
  ],
};

const name = (message: string): FieldType => textWithin(255, [value => value !== '', message]);

export class UploadCreateDto {
  @RequiredField(SIZE, {
    example: 100_000_000,
    description: 'Exact size of the whole file.',
  })
  bytes!: number;

  @RequiredField(name('must be a name'), { example: 'requests.jsonl' })
  filename!: string;

  @RequiredField(name('must be a MIME type'), { example: 'application/jsonl' })
  mime_type!: string;

  @RequiredField(choiceOf(UPLOAD_PURPOSES))
  purpose!: (typeof UPLOAD_PURPOSES)[number];

  @Field(nested(ExpiresAfterDto, '{anchor, seconds}'))
  expires_after?: ExpiresAfterDto;
}

export class UploadPartCreateDto {
  @RequiredField(anything({ type: 'string', format: 'binary' }), {
    description: 'At most 64 MiB.',
  })
  data!: unknown;
}
