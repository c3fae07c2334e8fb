import { Body, Get, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiParam } from '@nestjs/swagger';
import { DomainError } from '../../core/errors/domain-error.js';
import { AdminController } from '../http/admin-controller.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { Answers } from '../http/openapi/route.decorator.js';
import {
  CatalogueDto,
  ModelAdditionDto,
  ModelAdditionListDto,
  ReportAdditionDto,
} from './catalogue.dto.js';
import { ModelAdditions, ownCommand } from './model-additions.js';

/** As `switchyard models search --json` prints it. */
interface Listed {
  readonly models: readonly {
    readonly name: string;
    readonly summary: string;
    readonly licence?: string;
    readonly unavailable?: string;
    readonly sources?: Readonly<
      Record<string, { readonly files: Readonly<Record<string, { bytes?: number }>> }>
    >;
  }[];
}

const NAME = { name: 'name', example: 'whisper-small' };

const NAME_FORM = /^[A-Za-z0-9][\w.-]{0,127}$/;

/** Models that can be downloaded, and their download. */
@AdminController('catalogue')
export class AdminCatalogueController {
  constructor(private readonly additions: ModelAdditions) {}

  @Get()
  @Answers(CatalogueDto)
  async list() {
    const { models } = await ownCommand<Listed>('models', 'search');
    const data = models.flatMap(({ sources = {}, ...model }) => {
      const { name, summary, licence, unavailable } = model;
      const files = Object.values(sources).flatMap(source => Object.values(source.files));
      const bytes = files.reduce((sum, file) => sum + (file.bytes ?? 0), 0);
      return files.length === 0 ? [] : [{ name, summary, licence, bytes, unavailable }];
    });
    return { object: 'list', data };
  }

  @Get('additions')
  @Answers(ModelAdditionListDto)
  listAdditions() {
    return { object: 'list', data: this.additions.list() };
  }

  @Post(':name/add')
  @ApiParam(NAME)
  @ApiOperation({
    description:
      'Runs `switchyard models add` and returns at once; then the models file is read again. One at a time. An ' +
      'interrupted download resumes.',
  })
  @Answers(ModelAdditionDto)
  @DescribesErrors('model_not_found', 'model_addition_running')
  add(@Param('name') name: string) {
    return this.additions.start(known(name));
  }

  @Post(':name/progress')
  @ApiParam(NAME)
  @ApiOperation({
    description:
      'For `switchyard models starter`, which fetches in a process of its own: every two seconds. The answer has the ' +
      'state `cancelled` once after somebody stopped it here.',
  })
  @Answers(ModelAdditionDto)
  @DescribesErrors('model_not_found')
  report(@Param('name') name: string, @Body() { state, line }: ReportAdditionDto) {
    return this.additions.reported(known(name), state, line);
  }

  @Post(':name/cancel')
  @ApiParam(NAME)
  @Answers(ModelAdditionDto)
  @DescribesErrors('model_not_found')
  cancel(@Param('name') name: string) {
    return this.additions.cancel(name);
  }
}

function known(name: string): string {
  if (NAME_FORM.test(name)) return name;
  throw new DomainError('model_not_found', 'The catalogue has no model of that name.');
}
