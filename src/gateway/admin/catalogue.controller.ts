import { Body, Get, Param, Post } from '@nestjs/common';
import { DomainError } from '../../core/errors/domain-error.js';
import { AdminController } from '../http/admin-controller.js';
import { Answers } from '../http/openapi/route.decorator.js';
import {
  DescribesAddition,
  DescribesAdditionCancel,
  DescribesAdditionReport,
} from './catalogue.openapi.js';
import { CatalogueDto } from './dto/catalogue.dto.js';
import { ModelAdditionDto, ModelAdditionListDto } from './dto/model-addition.dto.js';
import { ReportAdditionDto } from './dto/report-addition.dto.js';
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
  @Answers(ModelAdditionDto)
  @DescribesAddition()
  add(@Param('name') name: string) {
    return this.additions.start(known(name));
  }

  @Post(':name/progress')
  @Answers(ModelAdditionDto)
  @DescribesAdditionReport()
  report(@Param('name') name: string, @Body() { state, line }: ReportAdditionDto) {
    return this.additions.reported(known(name), state, line);
  }

  @Post(':name/cancel')
  @Answers(ModelAdditionDto)
  @DescribesAdditionCancel()
  cancel(@Param('name') name: string) {
    return this.additions.cancel(name);
  }
}

function known(name: string): string {
  if (NAME_FORM.test(name)) return name;
  throw new DomainError('model_not_found', 'The catalogue has no model of that name.');
}
