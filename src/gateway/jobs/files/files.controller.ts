import { Body, Controller, Delete, Get, Param, Post, Query, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiResponse,
} from '@nestjs/swagger';
import { type FastifyReply } from 'fastify';
import {
  FileCreateDto,
  FileListQueryDto,
  FILE_PURPOSES,
  UPLOAD_PURPOSES,
  UploadCompleteDto,
  UploadCreateDto,
  UploadPartCreateDto,
} from '../../../contracts/openai/file.dto.js';
import { type StoredFile, type Upload, type UploadPart } from '../../../core/jobs/job.ports.js';
import { type FormSource } from '../../http/multipart-form.js';
import {
  choiceField,
  deletionOf,
  fieldOf,
  nullableField,
  numberField,
  objectField,
  openAiPageOf,
  pageView,
  optionalField,
  textField,
  unixSeconds,
  answer,
} from '../../http/openapi/answer.js';
import { DescribesErrors } from '../../http/openapi/errors.js';
import { Answers } from '../../http/openapi/route.decorator.js';
import { CallerTenant, Form } from '../../http/params.js';
import { FilesService } from './files.service.js';
import { UploadsService } from './uploads.service.js';

class FileDto extends answer({
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

class FileListDto extends openAiPageOf(FileDto) {}
class FileDeletedDto extends deletionOf('file') {}

const fileDto = (file: StoredFile): FileDto => ({
  id: file.id,
  object: 'file',
  bytes: file.bytes,
  created_at: unixSeconds(file.createdAtMs),
  expires_at: file.expiresAtMs && unixSeconds(file.expiresAtMs),
  filename: file.filename,
  purpose: file.purpose,
  status: 'processed',
});

const BYTES = {
  'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
};

@Controller('v1/files')
export class FilesController {
  constructor(private readonly files: FilesService) {}

  @Post()
  @ApiOperation({
    description: '`curl -F purpose=batch -F file=@requests.jsonl http://localhost:8000/v1/files`',
  })
  @ApiConsumes('multipart/form-data')
  @ApiBody({ type: FileCreateDto })
  @Answers(FileDto)
  @DescribesErrors(
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
  )
  async create(@CallerTenant() tenant: string, @Form() form: FormSource) {
    return fileDto(await this.files.create(tenant, form));
  }

  @Get()
  @Answers(FileListDto)
  @DescribesErrors('storage_unavailable', 'invalid_value')
  async list(@CallerTenant() tenant: string, @Query() query: FileListQueryDto) {
    return pageView(await this.files.list(tenant, query), fileDto);
  }

  @Get(':id')
  @Answers(FileDto)
  @DescribesErrors('storage_unavailable', 'file_not_found')
  async retrieve(@CallerTenant() tenant: string, @Param('id') id: string) {
    return fileDto(await this.files.find(tenant, id));
  }

  @Get(':id/content')
  @ApiHeader({
    name: 'Range',
    required: false,
    description: '`bytes=0-99`, `bytes=100-`, `bytes=-100`; see `If-Range`.',
  })
  @ApiHeader({
    name: 'If-None-Match',
    required: false,
    description: 'The `ETag`, the SHA-256 of the bytes: 304.',
  })
  @ApiOkResponse({ content: BYTES })
  @ApiResponse({
    status: 206,
    description: 'The range; `Content-Range` names it.',
    content: BYTES,
  })
  @ApiResponse({
    status: 304,
    description: 'Nothing: the bytes are those of `If-None-Match`.',
  })
  @DescribesErrors('storage_unavailable', 'file_not_found', 'range_not_satisfiable')
  content(
    @CallerTenant() tenant: string,
    @Param('id') id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.files.sendContent(tenant, id, reply);
  }

  @Delete(':id')
  @Answers(FileDeletedDto)
  @DescribesErrors('storage_unavailable', 'file_not_found', 'file_in_use')
  async remove(@CallerTenant() tenant: string, @Param('id') id: string) {
    await this.files.remove(tenant, id);
    return { id, object: 'file', deleted: true };
  }
}

class UploadDto extends answer({
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

class UploadPartDto extends answer({
  id: textField({ example: 'part_0198a1b2c3d47e5f8091a2b3c4d5e6f7' }),
  object: objectField('upload.part'),
  created_at: Number,
  upload_id: String,
}) {}

const uploadDto = (upload: Upload, file?: StoredFile): UploadDto => ({
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

const uploadPartDto = ({ id, createdAtMs, uploadId }: UploadPart): UploadPartDto => ({
  id,
  object: 'upload.part',
  created_at: unixSeconds(createdAtMs),
  upload_id: uploadId,
});

@Controller('v1/uploads')
export class UploadsController {
  constructor(private readonly uploads: UploadsService) {}

  @Post()
  @Answers(UploadDto)
  @DescribesErrors(
    'storage_unavailable',
    'invalid_value',
    'missing_required_parameter',
    'invalid_json',
    'file_too_large',
  )
  async create(@CallerTenant() tenant: string, @Body() body: UploadCreateDto) {
    return uploadDto(await this.uploads.create(tenant, body));
  }

  @Post(':id/parts')
  @ApiConsumes('multipart/form-data')
  @ApiBody({ type: UploadPartCreateDto })
  @Answers(UploadPartDto)
  @DescribesErrors(
    'storage_unavailable',
    'upload_not_found',
    'upload_not_pending',
    'missing_required_parameter',
    'too_many_files',
    'file_too_large',
    'invalid_multipart',
    'storage_full',
  )
  async addPart(@CallerTenant() tenant: string, @Param('id') id: string, @Form() form: FormSource) {
    return uploadPartDto(await this.uploads.addPart(tenant, id, form));
  }

  @Post(':id/complete')
  @Answers(UploadDto)
  @DescribesErrors(
    'storage_unavailable',
    'upload_not_found',
    'upload_not_pending',
    'upload_incomplete',
    'invalid_value',
    'too_many_lines',
  )
  async complete(
    @CallerTenant() tenant: string,
    @Param('id') id: string,
    @Body() body: UploadCompleteDto,
  ) {
    const { upload, file } = await this.uploads.complete(tenant, id, body);
    return uploadDto(upload, file);
  }

  @Post(':id/cancel')
  @Answers(UploadDto)
  @DescribesErrors('storage_unavailable', 'upload_not_found', 'upload_not_pending')
  async cancel(@CallerTenant() tenant: string, @Param('id') id: string) {
    return uploadDto(await this.uploads.cancel(tenant, id));
  }
}
