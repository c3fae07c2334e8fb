import { FILE_PURPOSES } from '../../../../contracts/openai/file.dto.js';
import { type StoredFile } from '../../../../core/jobs/job.ports.js';
import {
  choiceField,
  numberField,
  objectField,
  openAiPageAnswer,
  optionalField,
  textField,
  unixSeconds,
  answer,
} from '../../../http/openapi/answer.js';

export class FileDto extends answer({
  id: textField({ example: 'file-0198a1b2c3d47e5f8091a2b3c4d5e6f7' }),
  object: objectField('file'),
  bytes: numberField({ example: 120_000 }),
  created_at: numberField({
    example: 1_763_683_200,
    description: 'Unix seconds, as all times here.',
  }),
  expires_at: optionalField(numberField({ example: 1_766_275_200 })),
  filename: textField({ example: 'requests.jsonl' }),
  purpose: choiceField(FILE_PURPOSES),
  status: objectField('processed'),
}) {}

export class FileListDto extends openAiPageAnswer(FileDto) {}

export const fileDto = (file: StoredFile): FileDto => ({
  id: file.id,
  object: 'file',
  bytes: file.bytes,
  created_at: unixSeconds(file.createdAtMs),
  expires_at: file.expiresAtMs && unixSeconds(file.expiresAtMs),
  filename: file.filename,
  purpose: file.purpose,
  status: 'processed',
});
