import { ApiProperty } from '@nestjs/swagger';

/** Answer of every cancel route (seeds/scheduling "REST API"). */
export class CancellationDto {
  @ApiProperty({ example: 'req_0198a1b2c3d4' })
  request_id!: string;

  @ApiProperty({
    description: 'true when this call cancelled it; false when it was unknown, finished or cancelled before.',
  })
  cancelled!: boolean;
}
