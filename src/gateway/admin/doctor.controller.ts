import { Get } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { AdminController } from '../http/admin-controller.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { DoctorDto } from './dto/doctor.dto.js';
import { ownCommand } from './model-additions.js';

/** Whether the machine of this gateway fits its configuration. */
@AdminController('doctor')
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
