import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiParam } from '@nestjs/swagger';
import { anyText, choiceOf } from '../../contracts/openai/field-types.js';
import { RequiredField } from '../../contracts/openai/field.decorators.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { Strict } from '../http/dto-validation.js';
import {
  choiceField,
  listField,
  listOf,
  numberField,
  optionalField,
  textField,
  answer,
} from '../http/openapi/answer.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { ADDITION_STATES, ModelAdditions, ownCommand } from './model-additions.js';

class CatalogueModelDto extends answer({
  name: textField({ example: 'whisper-small' }),
  summary: String,
  licence: optionalField(textField({ example: 'MIT' })),
  bytes: numberField('Of its files, as far as known.'),
  unavailable: optionalField(textField('Why it cannot run here; absent: it can.')),
}) {}

class CatalogueDto extends listOf(CatalogueModelDto) {}

class ModelAdditionDto extends answer({
  name: textField({ example: 'whisper-small' }),
  state: choiceField(ADDITION_STATES),
  started_at: numberField('Unix seconds.'),
  lines: listField(String, 'The last lines of `switchyard models add`.'),
}) {}

class ModelAdditionListDto extends listOf(ModelAdditionDto, 'The newest first; at most 8.') {}

@Strict()
class ReportAdditionDto {
  @RequiredField(choiceOf(ADDITION_STATES))
  state!: (typeof ADDITION_STATES)[number];

  @RequiredField(anyText('must be text'), {
    description: 'What happens now.',
    example: 'model.bin  40 % of 138.5 MiB',
  })
  line!: string;
}

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
@Controller('admin/v1/catalogue')
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
