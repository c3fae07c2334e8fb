import { Controller, Get } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Answers } from '../http/openapi/route.decorator.js';
import {
  choiceField,
  flagField,
  listField,
  optionalField,
  textField,
  view,
  type ViewOf,
} from '../http/openapi/view.js';
import { ownCommand } from './model-additions.js';

const DoctorDto = view('DoctorDto', {
  ok: flagField('Nothing failed.'),
  checks: listField(
    view('DiagnosisDto', {
      what: textField({ example: 'ffmpeg' }),
      state: choiceField(
        ['ok', 'warn', 'fail'],
        'warn: works without; fail: will not work as configured.',
      ),
      detail: String,
      fix: optionalField(textField('The command or the change that puts it right.')),
    }),
  ),
});

/** Whether the machine of this gateway fits its configuration. */
@Controller('admin/v1/doctor')
export class AdminDoctorController {
  #running: Promise<ViewOf<typeof DoctorDto>> | undefined;

  @Get()
  @ApiOperation({
    description:
      'It takes seconds: models, programs, libraries, folders and servers are looked at. One run at a time.',
  })
  @Answers(DoctorDto)
  check() {
    this.#running ??= ownCommand<ViewOf<typeof DoctorDto>>('doctor').finally(
      () => (this.#running = undefined),
    );
    return this.#running;
  }
}
