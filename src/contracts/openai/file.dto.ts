import { type FilePurpose } from '../../core/jobs/job.ports.js';
import {
  anything,
  choiceOf,
  custom,
  fromForm,
  nested,
  whole,
  anyWhole,
  every,
  type FieldType,
  textLike,
  textWithin,
  honoured,
} from './field-types.js';
import { Field, PageAfter, PageLimit, PageOrder, RequiredField } from './field.decorators.js';

/** What a client may upload a file for; `batch_output` files are made here. */
export const UPLOAD_PURPOSES = [
  'assistants',
  'batch',
  'fine-tune',
  'vision',
  'user_data',
  'evals',
] as const;

type UploadPurpose = (typeof UPLOAD_PURPOSES)[number];

export const FILE_PURPOSES: readonly FilePurpose[] = [...UPLOAD_PURPOSES, 'batch_output'];

/** An hour to 30 days. */
const EXPIRY_S = { least: 3600, most: 2_592_000 } as const;

/** `expires_after` of files and uploads, `output_expires_after` of batches. */
export class ExpiresAfterDto {
  @RequiredField(
    custom(
      { enum: ['created_at'] },
      value => value === 'created_at',
      'must have the anchor created_at',
    ),
  )
  anchor!: 'created_at';

  @RequiredField(fromForm(whole(EXPIRY_S.least, EXPIRY_S.most)), { example: 86_400 })
  seconds!: number;
}

/** Form of `POST /v1/files`; fields may come before or after the file. */
export class FileCreateDto {
  @RequiredField(anything({ type: 'string', format: 'binary' }), {
    description: 'The bytes, up to `files.max_bytes`.',
  })
  file!: unknown;

  @RequiredField(choiceOf(UPLOAD_PURPOSES), {
    example: 'batch',
    description: '`batch`: at most 200 MiB and 50,000 lines, kept for 30 days.',
  })
  purpose!: UploadPurpose;

  @Field(nested(ExpiresAfterDto, 'expires_after[anchor] and expires_after[seconds]'), {
    description: 'As `expires_after[anchor]`, `expires_after[seconds]`.',
  })
  expires_after?: ExpiresAfterDto;
}

export class FileListQueryDto {
  @PageLimit(10_000, 10_000)
  limit = 10_000;

  @PageAfter('file')
  after?: string;

  @PageOrder()
  order: 'asc' | 'desc' = 'desc';

  @Field(choiceOf(FILE_PURPOSES))
  purpose?: FilePurpose;
}

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

const PART_IDS: FieldType = {
  schema: { type: [String] },
  checks: [
    [every(value => typeof value === 'string'), 'must be a list of part ids'],
    [value => Array.isArray(value) && value.length > 0, 'must name at least one part'],
  ],
};

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
  purpose!: UploadPurpose;

  @Field(nested(ExpiresAfterDto, '{anchor, seconds}'))
  expires_after?: ExpiresAfterDto;
}

export class UploadPartCreateDto {
  @RequiredField(anything({ type: 'string', format: 'binary' }), {
    description: 'At most 64 MiB.',
  })
  data!: unknown;
}

export class UploadCompleteDto {
  @RequiredField(PART_IDS, {
    description: 'In the order in which the parts make the file.',
    example: ['part_0198a1b2', 'part_0198a1b3'],
  })
  part_ids!: readonly string[];

  @Field(textLike(/^[0-9a-fA-F]{32}$/, 'must be 32 hex digits'), {
    description: 'Of the whole file; checked when given.',
    rule: honoured('Checked where it was sent.'),
  })
  md5?: string;
}
