import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import { ownCommand } from './own-command.js';

class DiagnosisDto {
  @ApiProperty({ example: 'ffmpeg' }) what!: string;
  @ApiProperty({ enum: ['ok', 'warn', 'fail'], description: 'warn: works without; fail: will not work as configured.' })
  state!: 'ok' | 'warn' | 'fail';
  @ApiProperty() detail!: string;
  @ApiPropertyOptional({ description: 'The command or the change that puts it right.' }) fix?: string;
}

export class DoctorDto {
  @ApiProperty({ description: 'Nothing failed.' }) ok!: boolean;
  @ApiProperty({ type: [DiagnosisDto] }) checks!: DiagnosisDto[];
}

/** Whether the machine of this gateway fits its configuration. */
@ApiTags('admin')
@Controller('admin/v1/doctor')
export class AdminDoctorController {
  #running: Promise<DoctorDto> | undefined;

  @Get()
  @ApiOperation({
    summary: 'What `switchyard doctor` finds on the machine of this gateway',
    description: 'It takes seconds: models, programs, libraries, folders and servers are looked at. One run at a time.',
  })
  @ApiOkResponse({ type: DoctorDto })
  check(): Promise<DoctorDto> {
    this.#running ??= ownCommand('doctor').finally(() => (this.#running = undefined)) as Promise<DoctorDto>;
    return this.#running;
  }
}
