import { Body, Controller, Delete, Get, Param, Post, Query, Res } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { FileListQueryDto } from '../../../contracts/openai/file.dto.js';
import { UploadCompleteDto } from '../../../contracts/openai/upload-complete.dto.js';
import { UploadCreateDto } from '../../../contracts/openai/upload.dto.js';
import { type FormSource } from '../../http/multipart-form.js';
import { DeletionDto, pageView } from '../../http/openapi/answer.js';
import { DescribesErrors } from '../../http/openapi/errors.js';
import { Answers } from '../../http/openapi/route.decorator.js';
import { CallerTenant, Form } from '../../http/params.js';
import { FileDto, FileListDto, fileDto } from './dto/file.dto.js';
import { UploadDto, UploadPartDto, uploadDto, uploadPartDto } from './dto/upload.dto.js';
import {
  DescribesFileContent,
  DescribesFileUpload,
  DescribesUploadCompletion,
  DescribesUploadCreation,
  DescribesUploadPart,
} from './files.openapi.js';
import { FilesService } from './files.service.js';
import { UploadsService } from './uploads.service.js';

@Controller('v1/files')
export class FilesController {
  constructor(private readonly files: FilesService) {}

  @Post()
  @Answers(FileDto)
  @DescribesFileUpload()
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
  @DescribesFileContent()
  content(
    @CallerTenant() tenant: string,
    @Param('id') id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.files.sendContent(tenant, id, reply);
  }

  @Delete(':id')
  @Answers(DeletionDto)
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
  @DescribesUploadCreation()
  async create(@CallerTenant() tenant: string, @Body() body: UploadCreateDto) {
    return uploadDto(await this.uploads.create(tenant, body));
  }

  @Post(':id/parts')
  @Answers(UploadPartDto)
  @DescribesUploadPart()
  async addPart(@CallerTenant() tenant: string, @Param('id') id: string, @Form() form: FormSource) {
    return uploadPartDto(await this.uploads.addPart(tenant, id, form));
  }

  @Post(':id/complete')
  @Answers(UploadDto)
  @DescribesUploadCompletion()
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
