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
  UploadCompleteDto,
  UploadCreateDto,
  UploadPartCreateDto,
} from '../../../contracts/openai/file.dto.js';
import { type FormSource } from '../../http/multipart-form.js';
import { pageView } from '../../http/openapi/answer.js';
import { DescribesErrors } from '../../http/openapi/errors.js';
import { Answers } from '../../http/openapi/route.decorator.js';
import { CallerTenant, Form } from '../../http/params.js';
import {
  FileDto,
  FileListDto,
  FileDeletedDto,
  fileDto,
  UploadDto,
  UploadPartDto,
  uploadDto,
  uploadPartDto,
} from './files.dto.js';
import { FilesService } from './files.service.js';
import { UploadsService } from './uploads.service.js';

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
