import { ApiProperty } from '@nestjs/swagger';
import {
  type StoredFile,
  type Upload,
  type UploadPart,
} from '../../core/jobs/job.ports.js';
import { honoured } from './field-rules.js';
import {
  anything,
  anyWhole,
  choiceOf,
  every,
  type FieldType,
  nested,
  textLike,
  textWithin,
} from './field-types.js';
import { Field, RequiredField } from './field.decorators.js';
import {
  ExpiresAfterDto,
  fileDto,
  FileDto,
  unixSeconds,
  UPLOAD_PURPOSES,
  type UploadPurpose,
} from './file.dto.js';

/** Largest part of an upload, as OpenAI's. */
export const PART_BYTES = 64 * 1_048_576;

const SIZE: FieldType = {
  schema: { type: Number },
  checks: [
    [value => typeof value === 'number' && value >= 1, 'must be at least 1'],
    ...anyWhole().checks,
  ],
};

const name = (message: string): FieldType =>
  textWithin(255, [value => value !== '', message]);

const PART_IDS: FieldType = {
  schema: { type: [String] },
  checks: [
    [every(value => typeof value === 'string'), 'must be a list of part ids'],
    [value => Array.isArray(value) && value.length > 0, 'must name at least one part'],
  ],
};

export class UploadCreateDto {
  @RequiredField(SIZE, {
    example: 400_000_000,
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

export class UploadDto {
  @ApiProperty({ example: 'upload_0198a1b2c3d47e5f8091a2b3c4d5e6f7' }) id!: string;
  @ApiProperty({ example: 'upload' }) object!: 'upload';
  @ApiProperty() bytes!: number;
  @ApiProperty() created_at!: number;
  @ApiProperty({ description: 'An hour after its creation.' }) expires_at!: number;
  @ApiProperty() filename!: string;
  @ApiProperty({ enum: UPLOAD_PURPOSES, example: 'batch' }) purpose!: string;
  @ApiProperty({ enum: ['pending', 'completed', 'cancelled', 'expired'] })
  status!: Upload['status'];
  @ApiProperty({ type: FileDto, nullable: true, description: 'Once completed.' })
  file!: FileDto | null;
}

export class UploadPartDto {
  @ApiProperty({ example: 'part_0198a1b2c3d47e5f8091a2b3c4d5e6f7' }) id!: string;
  @ApiProperty({ example: 'upload.part' }) object!: 'upload.part';
  @ApiProperty() created_at!: number;
  @ApiProperty() upload_id!: string;
}

export const uploadDto = (upload: Upload, file?: StoredFile): UploadDto => ({
  id: upload.id,
  object: 'upload',
  bytes: upload.bytes,
  created_at: unixSeconds(upload.createdAtMs),
  expires_at: unixSeconds(upload.expiresAtMs),
  filename: upload.filename,
  purpose: upload.purpose,
  status: upload.status,
  file: file ? fileDto(file) : null,
});

export const uploadPartDto = ({
  id,
  createdAtMs,
  uploadId,
}: UploadPart): UploadPartDto => ({
  id,
  object: 'upload.part',
  created_at: unixSeconds(createdAtMs),
  upload_id: uploadId,
});
