import { applyDecorators } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiResponse,
} from '@nestjs/swagger';
import { FileCreateDto } from '../../../contracts/openai/file.dto.js';
import { UploadPartCreateDto } from '../../../contracts/openai/upload.dto.js';
import { DescribesErrors } from '../../http/openapi/errors.js';

const BYTES = {
  'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
};

/** OpenAPI of the upload of a file. */
export const DescribesFileUpload = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      description: '`curl -F purpose=batch -F file=@requests.jsonl http://localhost:8000/v1/files`',
    }),
    ApiConsumes('multipart/form-data'),
    ApiBody({ type: FileCreateDto }),
    DescribesErrors(
      'storage_unavailable',
      'invalid_value',
      'missing_required_parameter',
      'too_many_files',
      'empty_file',
      'too_many_lines',
      'invalid_multipart',
      'file_too_large',
      'unsupported_media_type',
      'storage_full',
    ),
  );

/** OpenAPI of the download of a file. */
export const DescribesFileContent = (): MethodDecorator =>
  applyDecorators(
    ApiHeader({
      name: 'If-None-Match',
      required: false,
      description: 'The `ETag`, the SHA-256 of the bytes: 304.',
    }),
    ApiHeader({
      name: 'Range',
      required: false,
      description: '`bytes=0-99`, `bytes=100-`, `bytes=-100`; see `If-Range`.',
    }),
    ApiOkResponse({ content: BYTES }),
    ApiResponse({
      status: 206,
      description: 'The range; `Content-Range` names it.',
      content: BYTES,
    }),
    ApiResponse({
      status: 304,
      description: 'Nothing: the bytes are those of `If-None-Match`.',
    }),
    DescribesErrors('storage_unavailable', 'file_not_found', 'range_not_satisfiable'),
  );

/** OpenAPI of the route that begins an upload in parts. */
export const DescribesUploadCreation = (): MethodDecorator =>
  DescribesErrors(
    'storage_unavailable',
    'invalid_value',
    'missing_required_parameter',
    'invalid_json',
    'file_too_large',
  );

/** OpenAPI of the route that takes a part. */
export const DescribesUploadPart = (): MethodDecorator =>
  applyDecorators(
    ApiConsumes('multipart/form-data'),
    ApiBody({ type: UploadPartCreateDto }),
    DescribesErrors(
      'storage_unavailable',
      'upload_not_found',
      'upload_not_pending',
      'missing_required_parameter',
      'too_many_files',
      'file_too_large',
      'invalid_multipart',
      'storage_full',
    ),
  );

/** OpenAPI of the route that makes a file of the parts. */
export const DescribesUploadCompletion = (): MethodDecorator =>
  DescribesErrors(
    'storage_unavailable',
    'upload_not_found',
    'upload_not_pending',
    'upload_incomplete',
    'invalid_value',
    'too_many_lines',
  );
