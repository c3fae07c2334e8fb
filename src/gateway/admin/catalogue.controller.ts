import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiProperty, ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import { DomainError } from '../../core/shared/domain-error.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { type ModelAddition, ModelAdditions } from './model-additions.js';
import { ownCommand } from './own-command.js';

class CatalogueModelDto {
  @ApiProperty({ example: 'whisper-small' }) name!: string;
  @ApiProperty() summary!: string;
  @ApiPropertyOptional({ example: 'MIT' }) licence?: string;
  @ApiProperty({ description: 'Of its files, as far as known.' }) bytes!: number;
}

export class CatalogueDto {
  @ApiProperty({ enum: ['list'] }) object!: 'list';
  @ApiProperty({ type: [CatalogueModelDto] }) data!: CatalogueModelDto[];
}

export class ModelAdditionDto {
  @ApiProperty({ example: 'whisper-small' }) name!: string;
  @ApiProperty({ enum: ['running', 'added', 'failed', 'cancelled'] }) state!: ModelAddition['state'];
  @ApiProperty({ description: 'Unix seconds.' }) started_at!: number;
  @ApiProperty({ type: [String], description: 'The last lines of `switchyard models add`.' }) lines!: readonly string[];
}

export class ModelAdditionListDto {
  @ApiProperty({ enum: ['list'] }) object!: 'list';
  @ApiProperty({ type: [ModelAdditionDto], description: 'The newest first; at most 8.' }) data!: ModelAdditionDto[];
}

/** As `switchyard models search --json` prints it. */
interface Listed {
  readonly models: readonly {
    readonly name: string;
    readonly summary: string;
    readonly licence?: string;
    readonly sources?: Readonly<Record<string, { readonly files: Readonly<Record<string, { bytes?: number }>> }>>;
  }[];
}

const NAME = { name: 'name', example: 'whisper-small' };
const NAME_FORM = /^[A-Za-z0-9][\w.-]{0,127}$/;

/** Models that can be downloaded, and their download. */
@ApiTags('admin')
@Controller('admin/v1/catalogue')
export class AdminCatalogueController {
  constructor(private readonly additions: ModelAdditions) {}

  @Get()
  @ApiOperation({ summary: 'Models of the catalogue that have files to download' })
  @ApiOkResponse({ type: CatalogueDto })
  async list(): Promise<CatalogueDto> {
    const { models } = (await ownCommand('models', 'search')) as Listed;
    const data = models.flatMap(({ name, summary, licence, sources = {} }) => {
      const files = Object.values(sources).flatMap(source => Object.values(source.files));
      const bytes = files.reduce((sum, file) => sum + (file.bytes ?? 0), 0);
      return files.length === 0 ? [] : [{ name, summary, ...(licence && { licence }), bytes }];
    });
    return { object: 'list', data };
  }

  @Get('additions')
  @ApiOperation({ summary: 'Models that are being added, and how the last ones ended' })
  @ApiOkResponse({ type: ModelAdditionListDto })
  listAdditions(): ModelAdditionListDto {
    return { object: 'list', data: this.additions.list().map(additionDto) };
  }

  @Post(':name/add')
  @HttpCode(200)
  @ApiParam(NAME)
  @ApiOperation({
    summary: 'Download a model of the catalogue and serve it',
    description:
      'Runs `switchyard models add` and returns at once; then the models file is read again. One at a time. An ' +
      'interrupted download resumes.',
  })
  @ApiOkResponse({ type: ModelAdditionDto })
  @DescribesErrors('model_not_found', 'model_addition_running')
  add(@Param('name') name: string): ModelAdditionDto {
    if (!NAME_FORM.test(name)) throw new DomainError('model_not_found', 'The catalogue has no model of that name.');
    return additionDto(this.additions.start(name));
  }

  @Post(':name/cancel')
  @HttpCode(200)
  @ApiParam(NAME)
  @ApiOperation({ summary: 'Stop the download of a model; what has arrived is kept' })
  @ApiOkResponse({ type: ModelAdditionDto })
  @DescribesErrors('model_not_found')
  cancel(@Param('name') name: string): ModelAdditionDto {
    return additionDto(this.additions.cancel(name));
  }
}

const additionDto = ({ startedMs, ...addition }: ModelAddition): ModelAdditionDto => ({
  ...addition,
  started_at: Math.floor(startedMs / 1000),
});
