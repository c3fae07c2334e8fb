import { ArrayNotEmpty, IsArray, IsNotEmpty, IsOptional, IsString, Matches, Min } from 'class-validator';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { type StoredFile, type Upload, type UploadPart } from '../../core/jobs/job.ports.js';
import { LengthUpTo, OneOf, OptionalObject, WholeNumber } from './field.decorators.js';
import { ExpiresAfterDto, fileDto, FileDto, unixSeconds, UPLOAD_PURPOSES, type UploadPurpose } from './file.dto.js';

/** Largest part of an upload, as OpenAI's. */
export const PART_BYTES = 64 * 1_048_576;

export class UploadCreateDto {
  @WholeNumber()
  @Min(1, { message: 'must be at least 1' })
  @ApiProperty({ example: 400_000_000, description: 'Exact size of the whole file.' })
  bytes!: number;

  @IsString({ message: 'must be a text' })
  @IsNotEmpty({ message: 'must be a name' })
  @LengthUpTo(255)
  @ApiProperty({ example: 'requests.jsonl' })
  filename!: string;

  @IsString({ message: 'must be a text' })
  @IsNotEmpty({ message: 'must be a MIME type' })
  @LengthUpTo(255)
  @ApiProperty({ example: 'application/jsonl' })
  mime_type!: string;

  @OneOf(UPLOAD_PURPOSES)
  @ApiProperty({ enum: UPLOAD_PURPOSES })
  purpose!: UploadPurpose;

  @OptionalObject(() => ExpiresAfterDto, '{anchor, seconds}')
  @ApiPropertyOptional({ type: ExpiresAfterDto })
  expires_after?: ExpiresAfterDto;
}

export class UploadPartCreateDto {
  @ApiProperty({ type: 'string', format: 'binary', description: 'At most 64 MiB.' })
  data!: unknown;
}

export class UploadCompleteDto {
  @IsArray({ message: 'must be a list' })
  @ArrayNotEmpty({ message: 'must name at least one part' })
  @IsString({ each: true, message: 'must be a list of part ids' })
  @ApiProperty({
    type: [String],
    description: 'In the order in which the parts make the file.',
    example: ['part_0198a1b2', 'part_0198a1b3'],
  })
  part_ids!: readonly string[];

  @IsOptional()
  @Matches(/^[0-9a-fA-F]{32}$/, { message: 'must be 32 hex digits' })
  @ApiPropertyOptional({ description: 'Of the whole file; checked when given.' })
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
  @ApiProperty({ enum: ['pending', 'completed', 'cancelled', 'expired'] }) status!: Upload['status'];
  @ApiProperty({ type: FileDto, nullable: true, description: 'Once completed.' }) file!: FileDto | null;
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

export const uploadPartDto = ({ id, createdAtMs, uploadId }: UploadPart): UploadPartDto => ({
  id,
  object: 'upload.part',
  created_at: unixSeconds(createdAtMs),
  upload_id: uploadId,
});
