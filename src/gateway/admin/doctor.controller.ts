import { Controller, Get } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import {
  choiceField,
  flagField,
  listField,
  optionalField,
  textField,
  answer,
} from '../http/openapi/answer.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { ownCommand } from './model-additions.js';

class DiagnosisDto extends answer({
  what: textField({ example: 'ffmpeg' }),
  state: choiceField(
    ['ok', 'warn', 'fail'],
    'warn: works without; fail: will not work as configured.',
  ),
  detail: String,
  fix: optionalField(textField('The command or the change that puts it right.')),
}) {}

class DoctorDto extends answer({
  ok: flagField('Nothing failed.'),
  checks: listField(DiagnosisDto),
}) {}

/** Whether the machine of this gateway fits its configuration. */
@Controller('admin/v1/doctor')
export class AdminDoctorController {
  #running: Promise<DoctorDto> | undefined;

  @Get()
  @ApiOperation({
    description:
      'It takes seconds: models, programs, libraries, folders and servers are looked at. One run at a time.',
  })
  @Answers(DoctorDto)
  check() {
    this.#running ??= ownCommand<DoctorDto>('doctor').finally(() => (this.#running = undefined));
    return this.#running;
  }
}
