import { UPLOAD_PURPOSES } from '../../../../contracts/openai/file.dto.js';
import { type StoredFile, type Upload, type UploadPart } from '../../../../core/jobs/job.ports.js';
import {
  answer,
  choiceField,
  fieldOf,
  nullableField,
  numberField,
  objectField,
  textField,
  unixSeconds,
} from '../../../http/openapi/answer.js';
import { FileDto, fileDto } from './file.dto.js';

export class UploadDto extends answer({
  id: textField({ example: 'upload_0198a1b2c3d47e5f8091a2b3c4d5e6f7' }),
  object: objectField('upload'),
  bytes: Number,
  created_at: Number,
  expires_at: numberField('An hour after its creation.'),
  filename: String,
  purpose: choiceField<string>(UPLOAD_PURPOSES, { example: 'batch' }),
  status: choiceField(['pending', 'completed', 'cancelled', 'expired']),
  file: nullableField(fieldOf(FileDto, 'Once completed.')),
}) {}

export class UploadPartDto extends answer({
  id: textField({ example: 'part_0198a1b2c3d47e5f8091a2b3c4d5e6f7' }),
  object: objectField('upload.part'),
  created_at: Number,
  upload_id: String,
}) {}

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
