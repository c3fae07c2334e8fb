import { type FilePurpose } from '../../core/jobs/job.ports.js';
import { ExpiresAfterDto } from './expires-after.dto.js';
import { anything, choiceOf, nested } from './field-types.js';
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
